"""The exercises of “A real model, opened”, from a block of 20 bytes to heads that can go."""

from chapters.a_real_model_opened.exercises.copying_heads import check_copying_heads
from chapters.a_real_model_opened.exercises.endless_reader import check_endless_reader
from chapters.a_real_model_opened.exercises.patched_stream import check_patched_stream
from chapters.a_real_model_opened.exercises.pruned_heads import check_pruned_heads
from chapters.a_real_model_opened.exercises.repaired_rows import check_repaired_rows
from chapters.a_real_model_opened.exercises.unpacked_block import check_unpacked_block

__all__ = [
    "EXERCISES",
    "check_copying_heads",
    "check_endless_reader",
    "check_patched_stream",
    "check_pruned_heads",
    "check_repaired_rows",
    "check_unpacked_block",
]

# In the order of the chapter.
EXERCISES = (
    check_unpacked_block, check_repaired_rows, check_copying_heads, check_endless_reader,
    check_patched_stream, check_pruned_heads,
)  # fmt: skip
