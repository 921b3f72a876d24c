"""Carry a state from word to word, in the place of a table of all pairs."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from chapters.fewer_keys_or_none.exercises.linear_recurrence_mistakes import MISTAKES
from chapters.fewer_keys_or_none.exercises.linear_recurrence_parts import _linear_recurrence, without_a_table


def _words(label: str, seed: int, words: int, d: int, d_v: int, decay: float) -> Case:
    """Features are above 0, and words are more than numbers in a vector: a state is no table of words."""
    query, key, value = draw(seed, (words, d), (words, d), (words, d_v))
    return Case(label, query.abs() + 0.125, key.abs() + 0.125, value, decay)


check_linear_recurrence = Exercise(
    "linear_recurrence",
    difficulty=3,
    minutes=25,
    takes=("query", "key", "value", "decay"),
    returns=("outputs",),
    reference=_linear_recurrence,
    ask=without_a_table,
    cases=(
        _words("right where nothing is forgotten", 41, 4, 2, 2, 1.0),
        _words("right with a decay", 44, 5, 2, 2, 0.5),
        _words("right with a decay", 47, 6, 3, 3, 0.75),
        _words("right where values have another width", 50, 7, 3, 2, 0.5),
        _words("right for many words", 53, 40, 4, 3, 0.9),
    ),
    mistakes=MISTAKES,
    trainable=False,  # gradients would bring a remark on loops, and a loop is what is asked for
)
