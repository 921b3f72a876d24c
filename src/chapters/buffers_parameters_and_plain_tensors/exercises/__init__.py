"""The exercises of “Buffers, parameters and plain tensors”.

Two of them ask for a class. What is asked of it is an input like the others: an expression of MyModule.
"""

from chapters.buffers_parameters_and_plain_tensors.exercises.checkpoint_bytes import check_checkpoint_bytes
from chapters.buffers_parameters_and_plain_tensors.exercises.deployable import check_deployable
from chapters.buffers_parameters_and_plain_tensors.exercises.left_behind import check_left_behind
from chapters.buffers_parameters_and_plain_tensors.exercises.positions_module import check_positions_module
from chapters.buffers_parameters_and_plain_tensors.exercises.repaired_centre import check_repaired_centre

__all__ = [
    "EXERCISES",
    "check_checkpoint_bytes",
    "check_deployable",
    "check_left_behind",
    "check_positions_module",
    "check_repaired_centre",
]

# In the order of the chapter.
EXERCISES = (
    check_positions_module,
    check_repaired_centre,
    check_checkpoint_bytes,
    check_left_behind,
    check_deployable,
)
