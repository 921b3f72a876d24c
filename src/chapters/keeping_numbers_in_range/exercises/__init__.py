"""The exercises of “Keeping numbers in range”."""

from chapters.keeping_numbers_in_range.exercises.clipped_gradients import check_clipped_gradients
from chapters.keeping_numbers_in_range.exercises.deep_without_norm import check_deep_without_norm
from chapters.keeping_numbers_in_range.exercises.layer_norm import check_layer_norm
from chapters.keeping_numbers_in_range.exercises.norm_shapes import check_norm_shapes
from chapters.keeping_numbers_in_range.exercises.repaired_layer import check_repaired_layer
from chapters.keeping_numbers_in_range.exercises.rms_norm import check_rms_norm

__all__ = [
    "EXERCISES",
    "check_clipped_gradients",
    "check_deep_without_norm",
    "check_layer_norm",
    "check_norm_shapes",
    "check_repaired_layer",
    "check_rms_norm",
]

# In the order of the chapter.
EXERCISES = (
    check_layer_norm,
    check_norm_shapes,
    check_rms_norm,
    check_repaired_layer,
    check_clipped_gradients,
    check_deep_without_norm,
)
