"""The exercises of “Text as tensors”."""

from chapters.text_as_tensors.exercises.batch_shapes import check_batch_shapes
from chapters.text_as_tensors.exercises.cut import check_cut
from chapters.text_as_tensors.exercises.fitted import check_fitted
from chapters.text_as_tensors.exercises.numbers import check_numbers
from chapters.text_as_tensors.exercises.padding_mask import check_padding_mask

__all__ = [
    "EXERCISES",
    "check_batch_shapes",
    "check_cut",
    "check_fitted",
    "check_numbers",
    "check_padding_mask",
]

# In the order of the chapter.
EXERCISES = (
    check_fitted,
    check_numbers,
    check_padding_mask,
    check_batch_shapes,
    check_cut,
)
