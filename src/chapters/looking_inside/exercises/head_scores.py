"""Say how surely each head looks at the word before, and at the one after the same word."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.shapes import Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped


def _came_next(weights: Weights, period: int) -> Tensor:
    """From the second time on, what each place gives to the word after its own earlier self."""
    return weights.diagonal(1 - period, -2, -1)[..., 1:]


def _scores(
    weights: Weights,
    period: int,
    *,
    before: Part = lambda weights: weights.diagonal(-1, -2, -1),
    after: Part = _came_next,
    average: Part = lambda found, length: found.mean(-1),
) -> tuple[Tensor, Tensor]:
    length = weights.shape[-1]
    return average(before(weights), length), average(after(weights, period), length)


MISTAKES: Mistakes = (
    in_parts(
        _scores,
        before={
            "own place": (
                "The first score is of what each place gives to itself: the main diagonal. The place before "
                "stands one column further left.",
                lambda weights: weights.diagonal(0, -2, -1),
            ),
            "the wrong triangle": (
                "The first score is read off above the diagonal, at the place after. Row i, column j is what "
                "i gives to j: the place before is one column further left.",
                lambda weights: weights.diagonal(1, -2, -1),
            ),
            "two places before": (
                "The first score is one place too far back.",
                lambda weights: weights.diagonal(-2, -2, -1),
            ),
            "first place counted": (
                "The first score counts place 0, which has nobody before it, as a place that looks "
                "elsewhere. Leave it out of the mean.",
                lambda weights: F.pad(weights.diagonal(-1, -2, -1), (1, 0)),
            ),
        },
        after={
            "the same word": (
                "The second score is of the earlier place that holds the same word. What comes next is told "
                "by the place after that one.",
                lambda weights, period: weights.diagonal(-period, -2, -1),
            ),
            "one place too late": (
                "The second score is of two places after the earlier word. It should be the next one.",
                lambda weights, period: weights.diagonal(2 - period, -2, -1)[..., 2:],
            ),
            "one place too early": (
                "The second score is of the place *before* the earlier word. What came next stands one place "
                "after it.",
                lambda weights, period: weights.diagonal(-1 - period, -2, -1),
            ),
            "induction above the diagonal": (
                "The second score is read off above the diagonal, from the places to come. Row i, column j "
                "is what i gives to j.",
                lambda weights, period: weights.diagonal(period - 1, -2, -1)[..., 1:],
            ),
            "one row too many": (
                "The second score begins one row too early, at the last word of the first round, which has "
                "not come before. Leave that row out.",
                lambda weights, period: weights.diagonal(1 - period, -2, -1),
            ),
            "one row too few": (
                "The second score begins one row too late. The first word of the second round has come "
                "before, too.",
                lambda weights, period: _came_next(weights, period)[..., 1:],
            ),
            "last row left out": (
                "The second score leaves out the last row. Nobody asks what comes behind it, but it looks "
                "back like the others.",
                lambda weights, period: _came_next(weights, period)[..., :-1],
            ),
            "second time alone": (
                "The second score is of the second round alone. It goes on to the end of the sentence.",
                lambda weights, period: _came_next(weights, period)[..., :period],
            ),
            "in every earlier round": (
                "The second score adds up what came next in every earlier round. Here it is the one a period "
                "ago that counts.",
                lambda weights, period: sum(
                    F.pad(_came_next(weights, back), (back - period, 0))
                    for back in range(period, weights.shape[-1], period)
                ),
            ),
            "first time counted": (
                "The second score is divided by the number of all places. Those of the first time have "
                "nothing to repeat: leave them out of the mean.",
                lambda weights, period: F.pad(_came_next(weights, period), (period, 0)),
            ),
            "all that lies there": (
                "The second score adds up what each place gives to *all* that lies before the earlier word's "
                "successor. It is the weight on that one place.",
                lambda weights, period: weights.cumsum(-1).diagonal(1 - period, -2, -1)[..., 1:],
            ),
        },
        average={
            "summed": (
                "These are sums. A mean can be compared between sentences of other lengths.",
                lambda found, length: found.sum(-1),
            ),
            "over all places": (
                "You divide by the number of all places. Divide by the number of those that you add up.",
                lambda found, length: found.sum(-1) / length,
            ),
            "largest": (
                "You take the largest weight on each diagonal. One place that looks there does not make a "
                "habit: take the mean.",
                lambda found, length: found.amax(-1),
            ),
            "heads averaged": (
                "All heads are averaged into one number. Each has scores of its own, and that is what one "
                "wants to know.",
                lambda found, length: found.mean(),
            ),
        },
    )
    | {
        "both above the diagonal": (
            "Both scores are read off above the diagonal, from the places to come. Row i, column j is what i "
            "gives to j.",
            lambda weights, period: _scores(weights.mT, period),
        ),
        "first round alone": (
            "The first score is of the first round alone, as in the lesson. Here it is over the whole "
            "sentence.",
            lambda weights, period: (_scores(weights[:, :period], period)[0], _scores(weights, period)[1]),
        ),
        "over the first two axes": (
            "Unless it is told others, diagonal takes the first two axes: here heads and rows. For rows and "
            "columns write diagonal(…, -2, -1).",
            partial(
                _scores,
                before=lambda weights: weights.diagonal(-1),
                after=lambda weights, period: weights.diagonal(1 - period)[..., 1:],
            ),
        ),
    }
    | swapped(_scores, "previous", "induction")
)


def _causal(label: str, seed: int, heads: int, length: int, period: int, **more: Any) -> Case:
    (scores,) = draw(seed, (heads, length, length), **more)
    so_far = torch.ones(length, length, device="cpu").tril().bool()
    return Case(label, scores.masked_fill(~so_far, -math.inf).softmax(-1), period)


# “the cat sat the cat sat”: the numbers of the exercise's drawing.
SIX_PLACES = (
    (1.0, 0, 0, 0, 0, 0),
    (0.75, 0.25, 0, 0, 0, 0),
    (0.25, 0.5, 0.25, 0, 0, 0),
    (0, 0.75, 0.25, 0, 0, 0),
    (0, 0.25, 0.5, 0.25, 0, 0),
    (0.25, 0, 0, 0.25, 0.5, 0),
)


check_head_scores = Exercise(
    "head_scores",
    difficulty=1,
    minutes=10,
    takes=("weights", "period"),
    returns=("previous", "induction"),
    reference=_scores,
    cases=(
        Case("right for one head", exact(*(list(row) for row in SIX_PLACES))[None], 3),
        _causal("right for two heads", 3, 2, 8, 3),
        _causal("right where little is repeated", 5, 3, 9, 7),
        _causal("right in float64", 7, 2, 12, 5, dtype=torch.float64),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
