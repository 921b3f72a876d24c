"""Write the additive score: a hidden layer between query and key."""

import math

import torch

from attnlab.scores import additive
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact
from bookkit.checking.mistakes import in_answer, in_parts
from bookkit.checking.mistakes.weighing import SCORES
from chapters.two_ways_to_score.exercises.additive_in_parts import _scores, _sized

check_additive_scores = Exercise(
    "additive_scores",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "query_weight", "key_weight", "vector"),
    returns=("scores",),
    reference=additive,
    # In each case all the sizes differ, so that no axis can pass for another.
    cases=(
        Case(
            "right for one query",
            exact([0.5, 0.25]),
            exact([0.5, 1, 0], [-1, 0.5, 0.25]),
            exact([1, 0], [0, 1], [1, -1], [0.5, 0.5]),
            exact([0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, -1]),
            torch.tensor([1.0, -1.0, 0.5, 2.0]),
        ),
        Case("right for more keys than queries", *_sized(1, (3, 5), (7, 2), (4, 5), (4, 2), (4,))),
        Case("right for more queries than keys", *_sized(6, (7, 2), (3, 4), (6, 2), (6, 4), (6,))),
        Case(
            "right with two more axes in front", *_sized(11, (2, 3, 5, 7), (2, 3, 6, 4), (9, 7), (9, 4), (9,))
        ),
        Case(
            "right in float64", *_sized(16, (4, 3, 8), (4, 6, 5), (7, 8), (7, 5), (7,), dtype=torch.float64)
        ),
    ),
    mistakes=in_parts(
        _scores,
        join={
            "no tanh": (
                "The tanh is missing. Without it the query adds the same number to the score of every key.",
                torch.add,
            ),
            "tanh of each side": (
                "tanh is taken of each side. Add them first: else the query adds the same for every key.",
                lambda asked, offered: asked.tanh() + offered.tanh(),
            ),
            "multiplied": (
                "The two sides are multiplied, where the additive score adds them.",
                lambda asked, offered: (asked * offered).tanh(),
            ),
            "subtracted": (
                "The key's side is taken away from the query's, where the additive score adds the two.",
                lambda asked, offered: (asked - offered).tanh(),
            ),
            "sigmoid": (
                "This squashes with the sigmoid, which lies between 0 and 1. tanh lies between -1 and 1.",
                lambda asked, offered: (asked + offered).sigmoid(),
            ),
            "relu": (
                "relu has no upper end. tanh keeps every hidden number between -1 and 1.",
                lambda asked, offered: (asked + offered).relu(),
            ),
            "new axes forgotten": (
                "The two sides are added as they are, (…, n, h) and (…, m, h). To meet every key, the query "
                "needs a new axis: unsqueeze(-2) makes it (…, n, 1, h), and the key needs one at -3.",
                lambda asked, offered: (asked.squeeze(-2) + offered.squeeze(-3)).tanh(),
            ),
        },
        finish={
            "vector forgotten": (
                "The hidden numbers are summed as they are. The vector gives each of them its own weight.",
                lambda hidden, vector: hidden.sum(-1),
            ),
            "averaged": (
                "The hidden numbers, weighted by the vector, are averaged. They should be summed.",
                lambda hidden, vector: (hidden * vector).mean(-1),
            ),
            "not summed": (
                "The sum over the hidden numbers is missing: `hidden @ vector` multiplies and sums.",
                torch.mul,
            ),
            "softmax of the vector": (
                "The vector went through a softmax. It holds free numbers, of either sign.",
                lambda hidden, vector: hidden @ vector.softmax(-1),
            ),
            "scaled": (
                "The scores are divided by the root of the hidden units. The additive score has no divisor.",
                lambda hidden, vector: hidden @ vector / math.sqrt(len(vector)),
            ),
        },
        project={
            "reshaped": (
                "A weight is reshaped where it should be turned: reshape keeps the numbers in their order.",
                lambda vectors, weight: vectors @ weight.reshape(weight.shape[::-1]),
            ),
        },
    )
    | in_answer(additive, SCORES)
    | {
        "tanh after the sum": (
            "The tanh comes after the sum over the hidden numbers. It belongs before, one for each of them.",
            lambda *inputs: _scores(*inputs, join=torch.add).tanh(),
        ),
    },
)
