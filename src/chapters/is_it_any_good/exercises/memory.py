"""Say from memory what comes next: what followed the last id each time that it stood earlier."""

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _followers(ids: Tensor) -> Tensor:
    return ids[1:][ids[:-1] == ids[-1]]


def _all_alike(ids: Tensor, vocabulary: int) -> Tensor:
    return torch.full((vocabulary,), 1 / vocabulary, dtype=torch.float64, device="cpu")


def _memory(
    ids: Tensor,
    vocabulary: int,
    share: float,
    *,
    found: Part = _followers,
    scaled: Part = lambda counts: counts / counts.sum(),
    alike: Part = _all_alike,
    mixed: Part = lambda remembered, rest, share: share * remembered + (1 - share) * rest,
    nothing: Part = lambda rest, share: rest,
) -> Tensor:
    """The chances of the next id: a share for what followed the last one before, the rest for all."""
    followers, rest = found(ids), alike(ids, vocabulary)
    if len(followers) == 0:
        chances: Tensor = nothing(rest, share)
    else:
        chances = mixed(scaled(followers.bincount(minlength=vocabulary).double()), rest, share)
    return chances  # (vocabulary,)


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
        "the id itself": (
            "You count the last id itself, where it stood before. Count what came *next* there.",
            lambda ids: ids[:-1][ids[:-1] == ids[-1]],
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
    },
    scaled={
        "not scaled": (
            "The counts go in as they are. Divide them by their sum, so that `share` is what they come to.",
            lambda counts: counts,
        ),
        "1 added": (
            "You add 1 to each count. What never followed gets its chance from `1 - share` already.",
            lambda counts: (counts + 1) / (counts + 1).sum(),
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
        )
    },
    mixed={
        "shares swapped": (
            "`share` and `1 - share` have changed places: `share` belongs to what is remembered.",
            lambda remembered, rest, share: (1 - share) * remembered + share * rest,
        ),
        "no rest": (
            "The rest, `1 - share`, goes to nobody. It is shared out evenly among all ids.",
            lambda remembered, rest, share: share * remembered,
        ),
        "the rest for others alone": (
            "The rest goes only to ids that never followed. It goes to all ids of the vocabulary alike.",
            lambda remembered, rest, share: (
                share * remembered + (1 - share) * (remembered == 0) / (remembered == 0).sum()
            ),
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
        "zeros": (
            "Right but where there is nothing to remember: there all chances are 0. Give each id "
            "1/`vocabulary`.",
            lambda rest, share: 0 * rest,
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


check_memory = Exercise(
    "memory",
    difficulty=3,
    minutes=25,
    takes=("ids", "vocabulary", "share"),
    returns=("chances",),
    reference=_memory,
    cases=(
        Case("right where it stood once before", whole(2, 0, 4, 1, 0), 5, 0.75),
        Case("right where it stood there more often", whole(3, 1, 0, 3, 1, 4, 3, 2, 0, 3), 5, 0.6),
        Case("right where it followed itself", whole(0, 2, 4, 2, 2), 8, 0.8),
        Case("right where it followed itself", whole(3, 3), 4, 0.6),
        Case("right where it never stood before", whole(4, 1, 3), 6, 0.7),
        Case("right where it never stood before", whole(0, 1), 4, 0.2),
        Case("right for many ids", torch.randint(9, (80,), generator=generator(2), device="cpu"), 12, 0.35),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
