"""The exercises of “A GPT of your own”, from bytes to pieces to a model, and what it writes."""

from chapters.a_gpt_of_your_own.exercises.byte_pieces import check_byte_pieces
from chapters.a_gpt_of_your_own.exercises.gpt_start import check_gpt_start
from chapters.a_gpt_of_your_own.exercises.honest_crops import check_honest_crops
from chapters.a_gpt_of_your_own.exercises.top_p import check_top_p

__all__ = ["EXERCISES", "check_byte_pieces", "check_gpt_start", "check_honest_crops", "check_top_p"]

# In the order of the chapter.
EXERCISES = (check_byte_pieces, check_honest_crops, check_gpt_start, check_top_p)
