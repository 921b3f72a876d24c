"""The exercises of “No table at all”, from a state to what a sum can hold."""

from chapters.no_table_at_all.exercises.linear_recurrence import check_linear_recurrence

__all__ = ["EXERCISES", "check_linear_recurrence"]

# In the order of the chapter.
EXERCISES = (check_linear_recurrence,)
