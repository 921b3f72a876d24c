"""The exercises of “A GPT of your own”, from bytes and merges to …"""

from chapters.a_gpt_of_your_own.exercises.byte_pieces import check_byte_pieces

__all__ = ["EXERCISES", "check_byte_pieces"]

# In the order of the chapter.
EXERCISES = (check_byte_pieces,)
