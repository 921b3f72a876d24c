"""The exercises of “The block of today”, from turned halves to a block that is repaired."""

from chapters.the_block_of_today.exercises.turned_halves import check_turned_halves
from chapters.the_block_of_today.exercises.weights_of import check_weights_of

__all__ = ["EXERCISES", "check_turned_halves", "check_weights_of"]

# In the order of the chapter.
EXERCISES = (check_turned_halves, check_weights_of)
