"""The exercises of “Long and fast”, from what a cache holds to a longer text."""

from chapters.long_and_fast.exercises.cache_bytes import check_cache_bytes
from chapters.long_and_fast.exercises.longest_text import check_longest_text
from chapters.long_and_fast.exercises.repaired_tiles import check_repaired_tiles
from chapters.long_and_fast.exercises.running_softmax import check_running_softmax
from chapters.long_and_fast.exercises.stretched_turns import check_stretched_turns

__all__ = [
    "EXERCISES",
    "check_cache_bytes",
    "check_longest_text",
    "check_repaired_tiles",
    "check_running_softmax",
    "check_stretched_turns",
]

# In the order of the chapter.
EXERCISES = (
    check_cache_bytes,
    check_running_softmax,
    check_stretched_turns,
    check_repaired_tiles,
    check_longest_text,
)
