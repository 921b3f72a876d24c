"""The exercises of “Is it any good?”, from what is drawn to what is beaten."""

from chapters.is_it_any_good.exercises.beat_the_book import check_beat_the_book
from chapters.is_it_any_good.exercises.memory import check_memory
from chapters.is_it_any_good.exercises.power_law import check_power_law
from chapters.is_it_any_good.exercises.top_p import check_top_p

__all__ = ["EXERCISES", "check_beat_the_book", "check_memory", "check_power_law", "check_top_p"]

# In the order of the chapter.
EXERCISES = (check_top_p, check_memory, check_power_law, check_beat_the_book)
