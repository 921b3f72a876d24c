"""The exercises of “The block of today”, from the width of a gate to an attention that is repaired."""

from chapters.the_block_of_today.exercises.gated_width import check_gated_width
from chapters.the_block_of_today.exercises.repaired_groups import check_repaired_groups
from chapters.the_block_of_today.exercises.turned_halves import check_turned_halves
from chapters.the_block_of_today.exercises.weights_of import check_weights_of

__all__ = [
    "EXERCISES",
    "check_gated_width",
    "check_repaired_groups",
    "check_turned_halves",
    "check_weights_of",
]

# In the order of the chapter.
EXERCISES = (
    check_gated_width,
    check_turned_halves,
    check_weights_of,
    check_repaired_groups,
)
