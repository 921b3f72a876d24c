"""The exercises of “Two ways to score”."""

from chapters.two_ways_to_score.exercises.additive_scores import check_additive_scores
from chapters.two_ways_to_score.exercises.hidden_bytes import check_hidden_bytes
from chapters.two_ways_to_score.exercises.repaired_additive import check_repaired_additive
from chapters.two_ways_to_score.exercises.score_shapes import check_score_shapes
from chapters.two_ways_to_score.exercises.trained_score import check_trained_score

__all__ = [
    "EXERCISES",
    "check_additive_scores",
    "check_hidden_bytes",
    "check_repaired_additive",
    "check_score_shapes",
    "check_trained_score",
]

# In the order of the chapter.
EXERCISES = (
    check_additive_scores,
    check_score_shapes,
    check_repaired_additive,
    check_hidden_bytes,
    check_trained_score,
)
