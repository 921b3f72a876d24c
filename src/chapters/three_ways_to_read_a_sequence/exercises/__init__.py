"""The exercises of “Three ways to read a sequence”."""

from chapters.three_ways_to_read_a_sequence.exercises.gru_step import check_gru_step
from chapters.three_ways_to_read_a_sequence.exercises.mean_pooled import check_mean_pooled
from chapters.three_ways_to_read_a_sequence.exercises.remembering import check_remembering
from chapters.three_ways_to_read_a_sequence.exercises.repaired_convolution import check_repaired_convolution
from chapters.three_ways_to_read_a_sequence.exercises.shifted_targets import check_shifted_targets
from chapters.three_ways_to_read_a_sequence.exercises.words_heard import check_words_heard

__all__ = [
    "EXERCISES",
    "check_gru_step",
    "check_mean_pooled",
    "check_remembering",
    "check_repaired_convolution",
    "check_shifted_targets",
    "check_words_heard",
]

# In the order of the chapter.
EXERCISES = (
    check_words_heard,
    check_gru_step,
    check_repaired_convolution,
    check_shifted_targets,
    check_mean_pooled,
    check_remembering,
)
