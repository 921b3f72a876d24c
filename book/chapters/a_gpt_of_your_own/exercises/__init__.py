"""The exercises of “A GPT of your own”, from bytes to pieces to a model, and how it is judged."""

from chapters.a_gpt_of_your_own.exercises.beat_the_book import check_beat_the_book
from chapters.a_gpt_of_your_own.exercises.byte_pieces import check_byte_pieces
from chapters.a_gpt_of_your_own.exercises.gpt_start import check_gpt_start
from chapters.a_gpt_of_your_own.exercises.honest_crops import check_honest_crops
from chapters.a_gpt_of_your_own.exercises.repaired_validation import check_repaired_validation
from chapters.a_gpt_of_your_own.exercises.top_p import check_top_p

__all__ = [
    "EXERCISES",
    "check_beat_the_book",
    "check_byte_pieces",
    "check_gpt_start",
    "check_honest_crops",
    "check_repaired_validation",
    "check_top_p",
]

# In the order of the chapter.
EXERCISES = (
    check_byte_pieces,
    check_honest_crops,
    check_gpt_start,
    check_top_p,
    check_repaired_validation,
    check_beat_the_book,
)
