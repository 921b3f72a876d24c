"""The exercises of “Long and fast”, from what a cache holds to tiles that are right only alone."""

from chapters.long_and_fast.exercises.cache_bytes import check_cache_bytes
from chapters.long_and_fast.exercises.repaired_tiles import check_repaired_tiles
from chapters.long_and_fast.exercises.running_softmax import check_running_softmax

__all__ = ["EXERCISES", "check_cache_bytes", "check_repaired_tiles", "check_running_softmax"]

# In the order of the chapter.
EXERCISES = (check_cache_bytes, check_running_softmax, check_repaired_tiles)
