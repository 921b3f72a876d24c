"""Fetch values by how alike a query and the keys are, more sharply at a low temperature."""

import math
from functools import partial

import torch

from attnlab.scores import dot
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import PRODUCTS, WEIGHING
from chapters.what_is_attention.exercises.attention_in_parts import _attention, _squared_distance

_lookup = partial(_attention, compare=dot, score=lambda scores, temperature: scores / temperature)


check_soft_lookup = Exercise(
    "soft_lookup",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value", "temperature"),
    returns=("output", "weights"),
    reference=_lookup,
    # In each case all the sizes differ, so that a wrong axis shows.
    cases=(
        Case(
            "right for one query",
            exact([2, 0]),
            exact([2, 0], [0, 2], [1, 0]),
            exact([1, 0, 0, 2], [0, 1, 0, 2], [0, 0, 1, 2]),
            2.0,
        ),
        Case("right for several queries", *draw(1, (3, 5), (7, 5), (7, 4)), 4.0),
        # A power of two, so that dividing by it rounds nothing; the scores reach far beyond exp's range.
        Case("right at a low temperature", *draw(4, (4, 6), (5, 6), (5, 3)), 1 / 32),
        Case("right for a batch", *draw(7, (2, 3, 8), (2, 5, 8), (2, 5, 7)), 0.5),
        Case("right in float64", *draw(10, (6, 3, 9), (6, 4, 9), (6, 4, 5), dtype=torch.float64), 3.0),
    ),
    mistakes=in_parts(
        _lookup,
        score={
            "no temperature": (
                "This is the look-up at temperature 1, whatever the temperature. Where do the scores meet "
                "it?",
                lambda scores, temperature: scores,
            ),
            "multiplied": (
                "The scores are multiplied by the temperature. A high temperature must bring them together: "
                "divide.",
                lambda scores, temperature: scores * temperature,
            ),
            "root of the temperature": (
                "The scores are divided by the root of the temperature. It is the temperature itself here.",
                lambda scores, temperature: scores / math.sqrt(temperature),
            ),
            "temperature twice": (
                "The scores are divided by the temperature twice.",
                lambda scores, temperature: scores / temperature**2,
            ),
        },
        compare={
            "root of d_k as well": (
                "The scores are also divided by the root of the vectors' length. Attention often does that, "
                "but here the temperature alone divides.",
                lambda query, key: dot(query, key) / math.sqrt(query.shape[-1]),
            ),
            "distances": (
                "You score by minus the squared distance, as kernel regression does. Here the score is q·k.",
                lambda query, key: -_squared_distance(query, key),
            ),
        }
        | PRODUCTS,
        weigh=WEIGHING,
    )
    | {
        "divided after the softmax": (
            "The weights are divided by the temperature, so they no longer sum to 1. Divide the scores, "
            "before the softmax.",
            lambda query, key, value, temperature: mixed(dot(query, key).softmax(-1) / temperature, value),
        ),
        "keys mixed": (
            "The weights are right, but they mix the keys. What is fetched is the values.",
            lambda query, key, value, temperature: _lookup(query, key, key, temperature),
        ),
    }
    | swapped(_lookup, "output", "weights"),
)
