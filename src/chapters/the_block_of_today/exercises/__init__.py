"""The exercises of “The block of today”, from turned halves to what is kept of a guess."""

from chapters.the_block_of_today.exercises.accepted import check_accepted
from chapters.the_block_of_today.exercises.left_padded import check_left_padded
from chapters.the_block_of_today.exercises.turned_halves import check_turned_halves
from chapters.the_block_of_today.exercises.weights_of import check_weights_of

__all__ = [
    "EXERCISES",
    "check_accepted",
    "check_left_padded",
    "check_turned_halves",
    "check_weights_of",
]

# In the order of the chapter.
EXERCISES = (
    check_turned_halves,
    check_weights_of,
    check_left_padded,
    check_accepted,
)
