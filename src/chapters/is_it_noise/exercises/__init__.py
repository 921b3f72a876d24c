"""The exercises of “Is it noise?”, from an interval for pairs to one that the reader must earn."""

from chapters.is_it_noise.exercises.honest_comparison import check_honest_comparison
from chapters.is_it_noise.exercises.pair_interval import check_pair_interval
from chapters.is_it_noise.exercises.text_interval import check_text_interval
from chapters.is_it_noise.exercises.worth_it import check_worth_it

__all__ = [
    "EXERCISES",
    "check_honest_comparison",
    "check_pair_interval",
    "check_text_interval",
    "check_worth_it",
]

# In the order of the chapter.
EXERCISES = (
    check_pair_interval,
    check_text_interval,
    check_honest_comparison,
    check_worth_it,
)
