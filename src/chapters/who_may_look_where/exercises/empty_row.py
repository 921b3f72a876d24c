"""Write a softmax that survives a row of which everything is hidden."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from attnlab.attention import masked_softmax
from attnlab.shapes import Mask, Scores, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import but
from bookkit.checking.mistakes.weighing import HIDING


def _with_gradient(work: Callable[..., object], scores: Scores, mask: Mask) -> tuple[object, Tensor]:
    """The weights, and the gradient that comes back to the scores."""
    with torch.enable_grad():
        leaf = scores.clone().requires_grad_()
        given = leaf * 1
        weights = work(given, mask)
        if not torch.equal(given, scores):
            raise WrongTypeError(
                "It writes into the scores that it was given, and the caller still needs them. What "
                "ends in _, `+=` and scores[…] = … do that: make new scores, as masked_fill does."
            )
        if not isinstance(weights, Tensor) or weights.shape != scores.shape:
            return weights, torch.zeros_like(scores)
        if not weights.requires_grad:
            raise WrongTypeError("No gradient reaches the scores: are they detached, or turned into numbers?")
        factors = torch.arange(1, weights.numel() + 1, device="cpu").cos().view_as(weights)
        (gradient,) = torch.autograd.grad((weights * factors).sum(), leaf)
    return weights.detach(), gradient


def _filled(scores: Scores, mask: Mask, value: float) -> Weights:
    return scores.masked_fill(~mask, value).softmax(-1)


def _shares_of_powers(scores: Scores, mask: Mask) -> Weights:
    powers = scores.exp() * mask
    return powers / powers.sum(-1, keepdim=True).clamp_min(1e-12)


_EMPTY = torch.tensor([[True, True, False, True], [False, False, False, False]], device="cpu")


_SOME = torch.tensor([[True, False, False, True], [False, True, True, False]], device="cpu")


check_empty_row = Exercise(
    "empty_row",
    difficulty=3,
    minutes=15,
    takes=("scores", "mask"),
    returns=("weights", "gradient"),
    reference=masked_softmax,
    cases=(
        Case("right where every row sees something", *draw(3, (2, 4)), _SOME),
        Case("right where a row sees nothing", *draw(5, (2, 4)), _EMPTY),
        Case("right for large scores", exact([0, 800, 0, 1], [3, 1, 2, 900]), _SOME),
        Case("right for a batch", *draw(7, (3, 2, 4)), _EMPTY[None]),
        Case("right in float64", *draw(9, (2, 3, 2, 4), dtype=torch.float64), _EMPTY[None, None]),
    ),
    mistakes={
        "-1e9": (
            "A row that sees nothing comes out even: each hidden key gets the same share. It should be all "
            "zeros.",
            partial(_filled, value=-1e9),
        ),
        "-1e9 added": (
            "With -1e9 added to all of it, a row that sees nothing gives its weight to hidden keys. It "
            "should be all zeros.",
            lambda scores, mask: (scores + torch.where(mask, 0.0, -1e9)).softmax(-1),
        ),
        "score 0, weight 0": (
            "The hidden keys get the score 0, and e^0 = 1 is counted before their weights are set to 0: the "
            "rows no longer sum to 1.",
            lambda scores, mask: scores.masked_fill(~mask, 0.0).softmax(-1) * mask,
        ),
        "NaN": (
            "A row that sees nothing is NaN: every score in it is -∞, and the softmax is 0/0.",
            partial(_filled, value=-math.inf),
        ),
        "NaN on the way back": (
            "The weights are right, and the gradient is NaN: the softmax of the empty row is 0/0, and what "
            "puts zeros in its place comes too late for the way back. Keep -∞ out of such a row.",
            lambda scores, mask: (scores + torch.where(mask, 0.0, -math.inf)).softmax(-1).nan_to_num(),
        ),
        "overflow": (
            "Right, but for large scores: there exp is infinite. Hide first, and let softmax do the rest.",
            _shares_of_powers,
        ),
        "divided by the new sum": (
            "Right, until a hidden score is far ahead: the softmax has then rounded all the others to 0. "
            "Hide before the softmax.",
            lambda scores, mask: (
                scores.softmax(-1) * mask / (scores.softmax(-1) * mask).sum(-1, keepdim=True).clamp_min(1e-12)
            ),
        ),
        "empty row shown": (
            "A row that sees nothing comes out as if it saw everything: its scores must not be hidden from "
            "the softmax, but its weights must be 0 in the end.",
            lambda scores, mask: scores.masked_fill(~mask & mask.any(-1, keepdim=True), -math.inf).softmax(
                -1
            ),
        ),
        "all rows lost": (
            "One row that sees nothing empties all the others of its table, too: ask for each row by itself, "
            "mask.any(-1, keepdim=True).",
            lambda scores, mask: masked_softmax(scores, mask) * mask.any(-1).all(),
        ),
    }
    | {
        name: (
            sentence.replace("The padding gets", "A hidden key gets")
            .replace("The padding is", "The hidden keys are")
            .replace("padding", "hidden keys"),
            code,
        )
        for name, (sentence, code) in but(HIDING, "softmax over the queries", "reversed", "no mask").items()
    }
    | {
        "no mask": ("The mask plays no part.", lambda scores, mask: scores.softmax(-1)),
        "reversed": (
            "The mask is read the wrong way round. True means that a key may be looked at.",
            lambda scores, mask: masked_softmax(scores, ~mask),
        ),
        "softmax over the queries": (
            "The softmax runs over the queries, dim=-2. Each row is to sum to 1: dim=-1.",
            lambda scores, mask: scores.masked_fill(~mask, -math.inf).softmax(-2).nan_to_num(),
        ),
    },
    trainable=False,
    ask=_with_gradient,
)
