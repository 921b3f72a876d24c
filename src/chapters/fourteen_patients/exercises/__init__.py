"""The exercises of “Fourteen patients”, from the first NaN to eight patients."""

from chapters.fourteen_patients.exercises.eight_patients import check_eight_patients
from chapters.fourteen_patients.exercises.first_nan import check_first_nan
from chapters.fourteen_patients.exercises.out_of_the_band import check_out_of_the_band
from chapters.fourteen_patients.exercises.repaired_parts import check_repaired_parts

__all__ = [
    "EXERCISES",
    "check_eight_patients",
    "check_first_nan",
    "check_out_of_the_band",
    "check_repaired_parts",
]

# In the order of the chapter.
EXERCISES = (check_first_nan, check_repaired_parts, check_out_of_the_band, check_eight_patients)
