"""Write self-attention with a matrix each for queries, keys and values."""

from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import in_parts, swapped
from bookkit.checking.mistakes.weighing import PRODUCTS, WEIGHING
from chapters.queries_keys_and_values_that_learn.exercises.projected_attention import (
    _ATTENTION_CASES,
    _PROJECTING,
    _SCALED,
    _self_attention,
)

check_self_attention = Exercise(
    "self_attention",
    difficulty=2,
    minutes=10,
    takes=("words", "to_query", "to_key", "to_value"),
    returns=("output", "weights"),
    reference=_self_attention,
    cases=_ATTENTION_CASES,
    mistakes=in_parts(
        _self_attention,
        project=_PROJECTING
        | {
            "one matrix for both": (
                "Queries and keys are made by one matrix: to_key plays no part. A line that was copied and "
                "not changed?",
                lambda words, to_query, to_key, to_value: (
                    words @ to_query,
                    words @ to_query,
                    words @ to_value,
                ),
            ),
        },
        score={"scaled": _SCALED} | PRODUCTS,
        weigh=WEIGHING,
    )
    | swapped(_self_attention, "output", "weights"),
)
