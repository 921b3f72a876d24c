"""Say how surely each head looks at the word before, and at the one after the same word."""

import math
from typing import Any

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from chapters.looking_inside.exercises.head_scores_mistakes import MISTAKES
from chapters.looking_inside.exercises.head_scores_parts import _scores


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
