"""The exercises of “Who may look where?”."""

from chapters.who_may_look_where.exercises.batch_mask import check_batch_mask
from chapters.who_may_look_where.exercises.empty_row import check_empty_row
from chapters.who_may_look_where.exercises.for_module import check_for_module
from chapters.who_may_look_where.exercises.leak_proofs import check_leak_proofs, suspects
from chapters.who_may_look_where.exercises.mask_shapes import check_mask_shapes
from chapters.who_may_look_where.exercises.repaired_mask import check_repaired_mask

__all__ = [
    "EXERCISES",
    "check_batch_mask",
    "check_empty_row",
    "check_for_module",
    "check_leak_proofs",
    "check_mask_shapes",
    "check_repaired_mask",
    "suspects",
]

# In the order of the chapter.
EXERCISES = (
    check_mask_shapes,
    check_batch_mask,
    check_for_module,
    check_empty_row,
    check_repaired_mask,
    check_leak_proofs,
)
