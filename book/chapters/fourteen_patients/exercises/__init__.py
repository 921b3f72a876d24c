"""The exercises of “Fourteen patients”, from the first NaN to eight patients."""

from chapters.fourteen_patients.exercises.eight_patients import check_eight_patients

__all__ = [
    "EXERCISES",
    "check_eight_patients",
]

# In the order of the chapter.
EXERCISES = (check_eight_patients,)
