"""The exercises of “Writing faster”, from rows that end together to what is kept of a guess."""

from chapters.writing_faster.exercises.accepted import check_accepted
from chapters.writing_faster.exercises.left_padded import check_left_padded

__all__ = ["EXERCISES", "check_accepted", "check_left_padded"]

# In the order of the chapter.
EXERCISES = (check_left_padded, check_accepted)
