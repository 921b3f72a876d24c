"""The exercises of “Writing faster”, from a cache that is repaired to how many guesses pay."""

from chapters.writing_faster.exercises.accepted import check_accepted
from chapters.writing_faster.exercises.behind_a_cache import check_behind_a_cache
from chapters.writing_faster.exercises.best_guesses import check_best_guesses
from chapters.writing_faster.exercises.left_padded import check_left_padded

__all__ = [
    "EXERCISES",
    "check_accepted",
    "check_behind_a_cache",
    "check_best_guesses",
    "check_left_padded",
]

# In the order of the chapter.
EXERCISES = (check_behind_a_cache, check_left_padded, check_accepted, check_best_guesses)
