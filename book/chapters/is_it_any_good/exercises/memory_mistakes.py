"""The mistakes that `check_memory` knows by name."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.is_it_any_good.exercises.memory_parts import _followers, _memory


def _alike_where_seen(ids: Tensor, vocabulary: int) -> Tensor:
    seen = ids.bincount(minlength=vocabulary) > 0
    return seen / seen.sum(dtype=torch.float64)


def _without_minlength(ids: Tensor, vocabulary: int, share: float) -> Tensor:
    """As long as bincount makes it, which ends at the largest id that it has counted."""
    chances, followers = _memory(ids, vocabulary, share), _followers(ids)
    return chances[: followers.max() + 1] if len(followers) else chances


def _scaled_afterwards(ids: Tensor, vocabulary: int, share: float) -> Tensor:
    chances = _memory(ids, vocabulary, share, scaled=lambda counts: counts)
    return chances / chances.sum()


MISTAKES: Mistakes = in_parts(
    _memory,
    found={
        "what stood before": (
            "You count what stood *before* the last id. It is what came next that may come again.",
            lambda ids: ids[:-1][ids[1:] == ids[-1]],
        ),
        "all ids": (
            "You count all ids that were read. Count only those that came next after an earlier place of "
            "the last id.",
            lambda ids: ids,
        ),
        "only the first time": (
            "Only the first time that the last id stood earlier is counted. Each time counts.",
            lambda ids: _followers(ids)[:1],
        ),
        "only the latest time": (
            "Only the latest time that the last id stood earlier is counted. Each time counts.",
            lambda ids: _followers(ids)[-1:],
        ),
        "each once": (
            "Each id that followed is counted once. One that followed twice counts twice.",
            lambda ids: torch.unique(_followers(ids)),
        ),
        "around the end": (
            "The first id is counted as what follows the last: `roll` goes around the end. Nothing has "
            "followed the last place yet.",
            lambda ids: ids.roll(-1)[ids == ids[-1]],
        ),
        "beyond the end": (
            "You look for the last id in all places, find it in the last one, too, and ask for the place "
            "after that, which is not there. Look in the places before it: `ids[:-1]`.",
            lambda ids: ids[(ids == ids[-1]).nonzero().flatten() + 1],
        ),
        "one place short": (
            "You stop one place short. Where the last id stood just before itself, it is itself what "
            "followed.",
            lambda ids: ids[1:-1][ids[:-2] == ids[-1]],
        ),
        "two places later": (
            "You count what stood two places later. What followed stands one place later.",
            lambda ids: ids[2:][ids[:-2] == ids[-1]],
        ),
        "the last but one": (
            "You ask what followed the last id but one. The last is `ids[-1]`.",
            lambda ids: ids[1:][ids[:-1] == ids[-2]],
        ),
    },
    scaled={
        "not scaled": (
            "The counts go in as they are. Divide them by their sum, so that `share` is what they come to.",
            lambda counts: counts,
        ),
        "softmax of the counts": (
            "You take a softmax of the counts, and it gives a chance to what never followed. Divide the "
            "counts by their sum.",
            lambda counts: counts.softmax(-1),
        ),
    },
    alike={
        "alike where seen": (
            "The rest goes only to ids that were read. It goes to all ids of the vocabulary: a new one may "
            "come, too.",
            _alike_where_seen,
        ),
    },
    mixed={
        "shares swapped": (
            "`share` and `1 - share` have changed places: `share` belongs to what is remembered.",
            lambda remembered, rest, share: (1 - share) * remembered + share * rest,
        ),
        "not weighted": (
            "What is remembered and what is alike are added without their weights, and come to 2. Multiply "
            "one by `share` and the other by `1 - share`.",
            lambda remembered, rest, share: remembered + rest,
        ),
    },
    nothing={
        "share lost": (
            "Right but where there is nothing to remember: there the chances come to `1 - share`. Then all "
            "of it goes to all ids alike.",
            lambda rest, share: (1 - share) * rest,
        ),
        "0 / 0": (
            "Right but where there is nothing to remember: there the counts are divided by their sum, 0, "
            "and that is NaN. Return `1 / vocabulary` for each id instead.",
            lambda rest, share: rest * torch.nan,
        ),
    },
) | {
    "as long as bincount": (
        "The answer ends at the largest id that is counted. `torch.bincount` needs `minlength=vocabulary`.",
        _without_minlength,
    ),
    "scaled afterwards": (
        "You add first and divide by the sum at the end: then the weight of what is remembered grows with "
        "how often it was counted. Divide the counts by *their* sum before they get their share.",
        _scaled_afterwards,
    ),
}
