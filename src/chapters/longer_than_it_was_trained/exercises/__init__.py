"""The exercises of “Longer than it was trained”, from slower hands to a longer text."""

from chapters.longer_than_it_was_trained.exercises.longest_text import check_longest_text
from chapters.longer_than_it_was_trained.exercises.repaired_writer import check_repaired_writer
from chapters.longer_than_it_was_trained.exercises.stretched_turns import check_stretched_turns

__all__ = [
    "EXERCISES",
    "check_longest_text",
    "check_repaired_writer",
    "check_stretched_turns",
]

# In the order of the chapter.
EXERCISES = (
    check_stretched_turns,
    check_repaired_writer,
    check_longest_text,
)
