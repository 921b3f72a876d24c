"""The exercises of “Many heads”, from counting to a whole layer."""

from chapters.many_heads.exercises.head_jobs import check_head_jobs
from chapters.many_heads.exercises.joined_heads import check_joined_heads
from chapters.many_heads.exercises.multi_head_layer import check_multi_head_layer
from chapters.many_heads.exercises.multi_head_parameters import check_multi_head_parameters
from chapters.many_heads.exercises.repaired_heads import check_repaired_heads
from chapters.many_heads.exercises.split_heads import check_split_heads

__all__ = [
    "EXERCISES",
    "check_head_jobs",
    "check_joined_heads",
    "check_multi_head_layer",
    "check_multi_head_parameters",
    "check_repaired_heads",
    "check_split_heads",
]

# In the order of the chapter.
EXERCISES = (
    check_multi_head_parameters,
    check_split_heads,
    check_joined_heads,
    check_repaired_heads,
    check_multi_head_layer,
    check_head_jobs,
)
