"""The exercises of “What is attention?”."""

from chapters.what_is_attention.exercises.gate_shapes import check_gate_shapes
from chapters.what_is_attention.exercises.learned_bandwidth import check_learned_bandwidth
from chapters.what_is_attention.exercises.needed_temperature import check_needed_temperature
from chapters.what_is_attention.exercises.repaired_regression import check_repaired_regression
from chapters.what_is_attention.exercises.soft_lookup import check_soft_lookup

__all__ = [
    "EXERCISES",
    "check_gate_shapes",
    "check_learned_bandwidth",
    "check_needed_temperature",
    "check_repaired_regression",
    "check_soft_lookup",
]

# In the order of the chapter.
EXERCISES = (
    check_soft_lookup,
    check_gate_shapes,
    check_needed_temperature,
    check_repaired_regression,
    check_learned_bandwidth,
)
