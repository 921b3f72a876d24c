"""Count the bytes of a checkpoint."""

from collections.abc import Callable

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts
from bookkit.checking.mistakes.holding import BYTES


def _numbers(
    v: int, d: int, m: int, persistent: bool, error: Callable[..., int] = lambda v, d, m, persistent: 0
) -> int:
    """Of the vocabulary, d_model and max_length; an error is what is counted too much."""
    return v * d + d * d + d + m * d * persistent + error(v, d, m, persistent)


def _checkpoint_bytes(
    vocabulary: int, d_model: int, max_length: int, bytes_each: int, persistent: bool, **error: Part
) -> int:
    return bytes_each * _numbers(vocabulary, d_model, max_length, persistent, **error)


_MISCOUNTED: Mistakes = {
    "tied counted twice": (
        "The output layer is counted beside the embedding. It is the same tensor, and is written once.",
        lambda v, d, m, persistent: v * d,
    ),
    "table always": (
        "The table is counted whether it is persistent or not.",
        lambda v, d, m, persistent: m * d * (not persistent),
    ),
    "table never": (
        "The table is never counted. A persistent buffer is in the state_dict.",
        lambda v, d, m, persistent: -m * d * persistent,
    ),
    "persistent reversed": (
        "The table is counted just when it should not be: persistent means that it is saved.",
        lambda v, d, m, persistent: -m * d if persistent else m * d,
    ),
    "nothing without the table": (
        "Without the table nothing is left: `a + b if c else 0` is `(a + b) if c else 0`.",
        lambda v, d, m, persistent: 0 if persistent else -_numbers(v, d, m, persistent),
    ),
    "no bias": (
        "The linear layer's bias is missing: one number for each output.",
        lambda v, d, m, persistent: -d,
    ),
    "a bias too many": (
        "You count a bias of the output layer, one number for each word. It has none.",
        lambda v, d, m, persistent: v,
    ),
    "no linear layer": ("The linear layer is missing.", lambda v, d, m, persistent: -d * d - d),
    "no embedding": (
        "The embedding is missing. It is tied to the output layer, so it is counted once, not never.",
        lambda v, d, m, persistent: -v * d,
    ),
    "a table of one column": (
        "The table has d_model numbers at each position, not one.",
        lambda v, d, m, persistent: (m - m * d) * persistent,
    ),
}


check_checkpoint_bytes = Exercise(
    "checkpoint_bytes",
    difficulty=2,
    minutes=5,
    takes=("vocabulary", "d_model", "max_length", "bytes_each", "persistent"),
    returns=("bytes",),
    reference=_checkpoint_bytes,
    cases=(
        Case("right without the table", 5, 3, 7, 4, False),
        Case("right with the table", 5, 3, 7, 4, True),
        Case("right in float16", 100, 16, 50, 2, True),
        Case("right in float64, without the table", 100, 16, 50, 8, False),
        Case("right for a large model", 30000, 512, 5000, 4, True),
    ),
    mistakes=in_parts(_checkpoint_bytes, error=_MISCOUNTED)
    | {
        "numbers": (
            "These are the numbers, not their bytes.",
            lambda v, d, m, bytes_each, persistent: _numbers(v, d, m, persistent),
        ),
        "always four bytes": (
            "Four bytes each, whatever bytes_each says.",
            lambda v, d, m, bytes_each, persistent: 4 * _numbers(v, d, m, persistent),
        ),
        "four bytes for the table": (
            "The numbers of the table take four bytes each with you, whatever bytes_each says.",
            lambda v, d, m, bytes_each, persistent: (
                bytes_each * _numbers(v, d, m, False) + 4 * m * d * persistent
            ),
        ),
    }
    | in_answer(_checkpoint_bytes, BYTES),
)
