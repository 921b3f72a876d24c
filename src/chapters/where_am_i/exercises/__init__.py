"""The exercises of “Where am I?”."""

from chapters.where_am_i.exercises.position_shapes import check_position_shapes
from chapters.where_am_i.exercises.reach import check_reach
from chapters.where_am_i.exercises.repaired_penalties import check_repaired_penalties
from chapters.where_am_i.exercises.repaired_positions import check_repaired_positions
from chapters.where_am_i.exercises.rotated_halves import check_rotated_halves
from chapters.where_am_i.exercises.sinusoidal_table import check_sinusoidal_table
from chapters.where_am_i.exercises.wavelength import check_wavelength

__all__ = [
    "EXERCISES",
    "check_position_shapes",
    "check_reach",
    "check_repaired_penalties",
    "check_repaired_positions",
    "check_rotated_halves",
    "check_sinusoidal_table",
    "check_wavelength",
]

# In the order of the chapter.
EXERCISES = (
    check_sinusoidal_table,
    check_position_shapes,
    check_wavelength,
    check_rotated_halves,
    check_repaired_positions,
    check_repaired_penalties,
    check_reach,
)
