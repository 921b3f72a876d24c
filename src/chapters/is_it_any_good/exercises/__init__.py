"""The exercises of “Is it any good?”, from how one judges to what is beaten."""

from chapters.is_it_any_good.exercises.beat_the_book import check_beat_the_book
from chapters.is_it_any_good.exercises.memory import check_memory
from chapters.is_it_any_good.exercises.power_law import check_power_law
from chapters.is_it_any_good.exercises.repaired_validation import check_repaired_validation

__all__ = [
    "EXERCISES",
    "check_beat_the_book",
    "check_memory",
    "check_power_law",
    "check_repaired_validation",
]

# In the order of the chapter.
EXERCISES = (check_repaired_validation, check_memory, check_power_law, check_beat_the_book)
