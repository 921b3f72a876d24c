"""The exercises of “No table at all”, from a state to what a sum can hold."""

from chapters.no_table_at_all.exercises.delta_rule import check_delta_rule
from chapters.no_table_at_all.exercises.linear_recurrence import check_linear_recurrence
from chapters.no_table_at_all.exercises.repaired_chunks import check_repaired_chunks
from chapters.no_table_at_all.exercises.wider_features import check_wider_features

__all__ = [
    "EXERCISES",
    "check_delta_rule",
    "check_linear_recurrence",
    "check_repaired_chunks",
    "check_wider_features",
]

# In the order of the chapter.
EXERCISES = (check_linear_recurrence, check_delta_rule, check_repaired_chunks, check_wider_features)
