"""The drawings, made from the chapter's own numbers."""

from chapters.three_ways_to_read_a_sequence.drawings.exercises import budget, window
from chapters.three_ways_to_read_a_sequence.drawings.opening import gru_step, idea
from chapters.three_ways_to_read_a_sequence.drawings.remembering import recall_task, shifted, uses
from chapters.three_ways_to_read_a_sequence.drawings.windows_and_looks import compared, padded_words, reaches

__all__ = [
    "budget",
    "compared",
    "gru_step",
    "idea",
    "padded_words",
    "reaches",
    "recall_task",
    "shifted",
    "uses",
    "window",
]
