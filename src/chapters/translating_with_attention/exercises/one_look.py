"""Write one look of a decoder at a sentence with padding."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Part, but, in_parts, swapped
from bookkit.checking.mistakes.weighing import HIDING, softmax
from chapters.translating_with_attention.exercises.padding import _hidden


def _look(
    scores: Tensor,
    states: Tensor,
    words: int,
    *,
    weigh: Part = _hidden,
    count: Callable[[int], int] = int,
    mix: Part = lambda weights, states: weights @ states,
) -> tuple[Tensor, Tensor]:
    weights = weigh(scores, torch.arange(len(scores), device=scores.device) < count(words))
    return weights, mix(weights, states)


check_one_look = Exercise(
    "one_look",
    difficulty=1,
    minutes=10,
    takes=("scores", "states", "words"),
    returns=("weights", "context"),
    reference=_look,
    cases=(
        Case("right for two words", exact([0, 1])[0], exact([4, 0], [0, 4]), 2),
        Case("right with padding", exact([1, 3, 0, 0])[0], *draw(2, (4, 3)), 2),
        Case("right where padding scores high", exact([0, -1, 2, 5, 5])[0], *draw(3, (5, 2)), 3),
        Case("right where all scores are low", exact([-20, -21, -18, 0, 0])[0], *draw(5, (5, 2)), 3),
        Case("right for large scores", exact([900, 901, 899, 0])[0], *draw(6, (4, 2)), 3),
        Case("right in float64", *draw(4, (6,), (6, 4), dtype=torch.float64), 5),
    ),
    mistakes=in_parts(
        _look,
        weigh=but(HIDING, "softmax over the queries")
        | {
            "scores divided by their sum": (
                "You divide the scores by their sum. Take e to each of them first: that is the softmax.",
                lambda scores, shown: scores * shown / (scores * shown).sum(),
            ),
            "overflow": (
                "Right, but for large scores: there exp is infinite, and inf / inf is NaN. torch.softmax "
                "takes the largest score away first.",
                lambda scores, shown: scores.exp() * shown / (scores.exp() * shown).sum(),
            ),
            "even weights": (
                "Every word gets the same weight. The scores say how much each gets.",
                lambda scores, shown: shown.to(scores) / shown.sum(),
            ),
        },
        count={
            "one word too few": (
                "The last word is hidden. `words` is how many there are, counted from place 0.",
                lambda words: words - 1,
            ),
            "one word too many": (
                "One place too many is seen: of `words` words, the last stands at words - 1.",
                lambda words: words + 1,
            ),
        },
        mix={
            "strongest only": (
                "The weights are right. The context is one state, that of the largest weight; it should be a "
                "mix of all.",
                lambda weights, states: states[weights.argmax()],
            ),
            "last state": (
                "The weights are right. The context is the last state: that was the bottleneck. Mix all.",
                lambda weights, states: states[-1],
            ),
            "plain mean": (
                "The weights are right, and then not used: the context is the plain mean of the states.",
                lambda weights, states: states.mean(0),
            ),
        },
    )
    | {
        "mixed by other weights": (
            "The weights are right; but the context is mixed by those from before the padding was hidden.",
            lambda scores, states, words: (_look(scores, states, words)[0], softmax(scores) @ states),
        ),
        "scaled": (
            "You divide the scores by the root of the width. They come ready: take them as they are.",
            lambda scores, states, words: _look(scores / math.sqrt(states.shape[-1]), states, words),
        ),
    }
    | swapped(_look, "weights", "context"),
)
