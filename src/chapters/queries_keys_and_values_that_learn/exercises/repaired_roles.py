"""Repair a self-attention that makes queries and keys by one matrix."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact
from bookkit.checking.mistakes import in_parts, swapped
from bookkit.checking.mistakes.weighing import PRODUCTS, WEIGHING
from chapters.queries_keys_and_values_that_learn.exercises.projected_attention import (
    _ATTENTION_CASES,
    _PROJECTING,
    _SCALED,
    _self_attention,
)

check_repaired_roles = Exercise(
    "repaired_roles",
    difficulty=2,
    minutes=10,
    takes=("words", "to_query", "to_key", "to_value"),
    returns=("output", "weights"),
    reference=_self_attention,
    cases=(
        # The broken code passes the first of these, which is the clue: its to_query and to_key are equal.
        Case(
            "right for three words that look for their like",
            exact([2, 0], [0, 2], [1, 0]),
            exact([1, 0], [0, 1]),
            exact([1, 0], [0, 1]),
            exact([5, 0], [0, 5]),
        ),
        *_ATTENTION_CASES,
    ),
    mistakes=in_parts(
        _self_attention,
        project={
            "still broken": (
                "The fault that it came with is still there. In the first case to_query and to_key are "
                "equal, and it passes; in no other are they. Which of the four inputs plays no part?",
                lambda words, to_query, to_key, to_value: (
                    words @ to_query,
                    words @ to_query,
                    words @ to_value,
                ),
            ),
            "the other matrix for both": (
                "Now to_key makes both, and to_query plays no part.",
                lambda words, to_query, to_key, to_value: (words @ to_key, words @ to_key, words @ to_value),
            ),
            "the mean of both": (
                "One matrix still makes both, the mean of the two. Each role has its own.",
                lambda words, to_query, to_key, to_value: (
                    words @ (to_query + to_key) / 2,
                    words @ (to_query + to_key) / 2,
                    words @ to_value,
                ),
            ),
            "projected twice": (
                "The keys are projected twice, by to_query and then by to_key.",
                lambda words, to_query, to_key, to_value: (
                    words @ to_query,
                    words @ to_query @ to_key,
                    words @ to_value,
                ),
            ),
        }
        | _PROJECTING,
        score={"scaled": _SCALED} | PRODUCTS,
        weigh=WEIGHING,
    )
    | swapped(_self_attention, "output", "weights"),
)
