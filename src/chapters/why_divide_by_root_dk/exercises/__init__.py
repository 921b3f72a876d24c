"""The exercises of “Why divide by √dₖ?”."""

from chapters.why_divide_by_root_dk.exercises.attention_shapes import check_attention_shapes
from chapters.why_divide_by_root_dk.exercises.repaired_attention import check_repaired_attention
from chapters.why_divide_by_root_dk.exercises.scaled_scores import check_scaled_scores
from chapters.why_divide_by_root_dk.exercises.score_spread import check_score_spread
from chapters.why_divide_by_root_dk.exercises.softmax_jacobian import check_softmax_jacobian
from chapters.why_divide_by_root_dk.exercises.start_without_divisor import check_start_without_divisor

__all__ = [
    "EXERCISES",
    "check_attention_shapes",
    "check_repaired_attention",
    "check_scaled_scores",
    "check_score_spread",
    "check_softmax_jacobian",
    "check_start_without_divisor",
]

# In the order of the chapter.
EXERCISES = (
    check_scaled_scores,
    check_attention_shapes,
    check_score_spread,
    check_repaired_attention,
    check_softmax_jacobian,
    check_start_without_divisor,
)
