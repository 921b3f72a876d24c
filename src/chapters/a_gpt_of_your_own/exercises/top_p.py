"""Say from which chances the next piece is drawn, at a temperature and with top-p."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnlab import decoding
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _not_enough_before(ordered: Tensor, p: float) -> Tensor:
    """What stays of chances in falling order: each before which there is not yet enough."""
    return ordered.cumsum(-1) - ordered < p


def _in_place(ordered: Tensor, places: Tensor) -> Tensor:
    return ordered.gather(-1, places.argsort(-1))


def _nucleus(
    logits: Tensor,
    temperature: float,
    p: float,
    *,
    shares: Part = lambda logits, temperature: (logits / temperature).softmax(-1),
    stays: Part = _not_enough_before,
    falling: bool = True,
    left: Part = lambda ordered, kept: ordered * kept,
    back: Part = _in_place,
    scaled: Part = lambda left: left / left.sum(-1, keepdim=True),
) -> Tensor:
    ordered, places = shares(logits, temperature).sort(dim=-1, descending=falling, stable=True)
    chances: Tensor = back(scaled(left(ordered, stays(ordered, p))), places)
    return chances


def _at_most(ordered: Tensor, p: float) -> Tensor:
    """Only what fits under p, and always the first."""
    kept = ordered.cumsum(-1) <= p
    kept[..., 0] = True
    return kept


def _first_row(ordered: Tensor, p: float) -> Tensor:
    return (ordered[:1].cumsum(-1) - ordered[:1] < p).expand_as(ordered)


def _first_not_spared(ordered: Tensor, p: float) -> Tensor:
    """The shares before each piece, but the first is asked for its own."""
    kept = ordered.cumsum(-1) - ordered < p
    kept[..., 0] = ordered[..., 0] <= p
    return kept


def _late_temperature(logits: Tensor, temperature: float, p: float) -> Tensor:
    """The nucleus of the chances at temperature 1, and the temperature after it."""
    kept = _nucleus(logits, 1.0, p) > 0
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(-1)


def _filled_with_zero(logits: Tensor, temperature: float, p: float) -> Tensor:
    kept = _nucleus(logits, temperature, p) > 0
    return (logits / temperature).masked_fill(~kept, 0.0).softmax(-1)


def _as_they_stand(logits: Tensor, temperature: float, p: float) -> Tensor:
    chances = (logits / temperature).softmax(-1)
    left = chances * (chances.cumsum(-1) - chances < p)
    return left / left.sum(-1, keepdim=True)


def _mask_in_order(logits: Tensor, temperature: float, p: float) -> Tensor:
    """What stays is found in falling order, and laid over the pieces in theirs."""
    chances = (logits / temperature).softmax(-1)
    ordered = chances.sort(dim=-1, descending=True).values
    left = chances * (ordered.cumsum(-1) - ordered < p)
    return left / left.sum(-1, keepdim=True)


def _asked(work: Part, logits: Tensor, temperature: float, p: float) -> Any:
    """Of pieces that are all alike, any may stay: asked is how many do."""
    chances = work(logits, temperature, p)
    alike = isinstance(chances, Tensor) and (logits == logits[..., :1]).all()
    return chances.sort(-1).values if alike else chances


def _k_likeliest(k: int) -> Callable[[Tensor, float], Tensor]:
    return lambda ordered, p: (torch.arange(ordered.shape[-1], device="cpu") < k).expand_as(ordered)


MISTAKES: Mistakes = in_parts(
    _nucleus,
    stays={
        "the piece that makes it enough left out": (
            "You leave out the piece with which p is reached. It belongs to the set: without it what "
            "stays comes to less than p.",
            _at_most,
        ),
        "what stays is less than p": (
            "You keep a piece where the sum, with its own share, is still below p. The one with which p is "
            "reached belongs to the set: ask what stands before it.",
            lambda ordered, p: ordered.cumsum(-1) < p,
        ),
        "one more where p is reached exactly": (
            "Where the chances before a piece come to exactly p, there is enough, and you keep it: `<`, not "
            "`<=`.",
            lambda ordered, p: ordered.cumsum(-1) - ordered <= p,
        ),
        "none where the first is enough": (
            "Where the likeliest piece alone has more than p, nothing stays. It always does: ask how much "
            "stands *before* a piece, without its own share.",
            lambda ordered, p: ordered.cumsum(-1) <= p,
        ),
        "the first not spared": (
            "Where the likeliest piece alone has more than p, nothing stays. You ask the others what stands "
            "before them; the first has nothing before it, and always stays.",
            _first_not_spared,
        ),
        "one too many": (
            "One piece too many stays: where p has been reached, nothing more comes in.",
            lambda ordered, p: (
                (ordered.cumsum(-1) - ordered).roll(1, -1).index_fill(-1, torch.tensor([0], device="cpu"), 0)
                < p
            ),
        ),
        "all above p": (
            "You keep each piece whose own chance is at least p. It is their *sum*, from the likeliest "
            "down, that must come to p.",
            lambda ordered, p: ordered >= p,
        ),
        "min-p": (
            "You keep what has at least p of the likeliest one's chance. That is min-p; top-p adds up, "
            "from the likeliest down, until there is enough.",
            lambda ordered, p: ordered >= p * ordered[..., :1],
        ),
        "the likeliest alone": (
            "Only the likeliest piece is left, whatever p is. Add up, from it down, until there is enough.",
            _k_likeliest(1),
        ),
        "top-k, the two likeliest": (
            "You keep the two likeliest pieces, whatever p is. That is top-k; here p says how many stay.",
            _k_likeliest(2),
        ),
        "top-k, the three likeliest": (
            "You keep the three likeliest pieces, whatever p is. That is top-k; here p says how many stay.",
            _k_likeliest(3),
        ),
        "the first row's cut for all": (
            "All rows keep as many pieces as the first. Each has chances of its own: add up along the "
            "last axis, row by row.",
            _first_row,
        ),
        "the share of the vocabulary": (
            "You keep a share p of the *pieces*. It is their chances that must come to p.",
            lambda ordered, p: torch.arange(ordered.shape[-1], device="cpu") < p * ordered.shape[-1],
        ),
        "the share of the vocabulary, rounded down": (
            "You keep p · V pieces, rounded down. p is a share of the chances, not of the vocabulary.",
            lambda ordered, p: _k_likeliest(int(p * ordered.shape[-1]))(ordered, p),
        ),
    },
    shares={
        "temperature multiplied": (
            "The logits are multiplied by the temperature. Divide: a high temperature makes chances more "
            "alike.",
            lambda logits, temperature: (logits * temperature).softmax(-1),
        ),
        "no temperature": (
            "The temperature plays no part. Divide the logits by it before the softmax.",
            lambda logits, temperature: logits.softmax(-1),
        ),
        "chances divided by the temperature": (
            "You divide the chances by the temperature, and scaling takes that out again. Divide the "
            "logits, before the softmax.",
            lambda logits, temperature: logits.softmax(-1) / temperature,
        ),
        "softmax twice": (
            "The softmax is taken twice. Once turns logits into chances; a second makes them nearly equal.",
            lambda logits, temperature: (logits / temperature).softmax(-1).softmax(-1),
        ),
        "softmax over the rows": (
            "The softmax goes over the rows. It goes over the pieces, the last axis.",
            lambda logits, temperature: (logits / temperature).softmax(0),
        ),
    },
    left={
        "what goes is kept": (
            "You keep what should go, and take away what should stay.",
            lambda ordered, kept: ordered * ~kept,
        ),
        "all alike": (
            "All that stays has the same chance. Each keeps its own, made larger by one factor for all.",
            lambda ordered, kept: kept.to(ordered.dtype),
        ),
    },
    back={
        "left in order": (
            "The chances come back in falling order, and not in the places of their pieces. Put each back "
            "where it came from: `scatter`, or `gather` with the order's `argsort`.",
            lambda ordered, places: ordered,
        ),
        "put back by the order itself": (
            "You put the chances back with `gather` and the order itself. That is the way there; the way "
            "back takes the order's `argsort`, or `scatter`.",
            lambda ordered, places: ordered.gather(-1, places),
        ),
    },
    scaled={
        "not scaled": (
            "The chances that stay do not come to 1. Divide them by their sum.",
            lambda left: left,
        ),
        "divided by the sum of all rows": (
            "You divide by the sum over all rows. Each row must come to 1 by itself: "
            "`sum(-1, keepdim=True)`.",
            lambda left: left / left.sum(),
        ),
    },
) | {
    "temperature after the cut": (
        "The cut is made at temperature 1, and the temperature comes after it. It comes first: the higher "
        "it is, the more pieces it takes to come to p.",
        _late_temperature,
    ),
    "logits filled with zero": (
        "What goes gets a logit of 0 before another softmax, and that is a chance like any other. Give "
        "it minus infinity, or set its *chance* to 0.",
        _filled_with_zero,
    ),
    "added up as they stand": (
        "You add up in the order of the pieces. Sort the chances first, in falling order.",
        _as_they_stand,
    ),
    "the mask left in order": (
        "You find what stays in the sorted chances, and lay it over the unsorted ones. Put the mask back in "
        "the places of the pieces first: `scatter`, or `gather` with the order's `argsort`.",
        _mask_in_order,
    ),
    "softmax of what stays": (
        "You take a softmax of the *chances* that stay, and it gives every 0 a chance again. Divide them by "
        "their sum.",
        lambda *inputs: _nucleus(*inputs).softmax(-1),
    ),
    "softmax of what stays, without the rest": (
        "You take a softmax of the *chances* that stay, and it makes them nearly equal. Divide by their sum.",
        partial(
            _nucleus,
            left=lambda ordered, kept: ordered.masked_fill(~kept, -torch.inf),
            scaled=lambda left: left.softmax(-1),
        ),
    ),
    "logits come back": (
        "These are logits, minus infinity where a piece goes. Asked for are the chances: take their softmax.",
        lambda logits, temperature, p: (logits / temperature).masked_fill(
            _nucleus(logits, temperature, p) == 0, -torch.inf
        ),
    ),
    "from the least likely up": (
        "You add up from the *least* likely piece. Sort in falling order.",
        partial(_nucleus, falling=False),
    ),
    "divided by p": (
        "You divide by p. What stays comes to p or a little more: divide by its own sum.",
        lambda logits, temperature, p: _nucleus(logits, temperature, p, scaled=lambda left: left / p),
    ),
}


def _logits(*shares: list[int]) -> Tensor:
    """Logits whose softmax, at temperature 1, are these per cents."""
    return torch.tensor(shares, dtype=torch.float64, device="cpu").log()


_ONE = _logits([45, 25, 15, 10, 5])
_TWO = _logits([5, 10, 20, 38, 27], [60, 3, 25, 4, 8])


check_top_p = Exercise(
    "top_p",
    difficulty=2,
    minutes=20,
    takes=("logits", "temperature", "p"),
    returns=("chances",),
    reference=_nucleus,
    ask=_asked,
    cases=(
        Case("right for one row", _ONE, 1.0, 0.6),
        Case("right where the likeliest alone is enough", _ONE, 1.0, 0.3),
        Case("right in any order, and for each row", _TWO, 1.0, 0.8),
        Case("right at other temperatures", _TWO, 2.0, 0.8),
        Case("right at other temperatures", _TWO, 0.5, 0.9),
        Case("right where all stay", _TWO, 1.0, 1.0),
        # Quarters are exact, in whatever way they are added up.
        Case(
            "right where p is reached exactly", torch.zeros(2, 4, dtype=torch.float64, device="cpu"), 1.0, 0.5
        ),
        Case("right in float32", _TWO.float(), 1.5, 0.7),
    ),
    mistakes=MISTAKES,
    without=(decoding,),
    trainable=False,
)
