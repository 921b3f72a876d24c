"""The exercises of “Looking inside”, from two scores by hand to a circuit that the reader has trained."""

from chapters.looking_inside.exercises.head_scores import check_head_scores
from chapters.looking_inside.exercises.induction_forms import check_induction_forms
from chapters.looking_inside.exercises.induction_head import check_induction_head
from chapters.looking_inside.exercises.patched import check_patched
from chapters.looking_inside.exercises.repaired_probe import check_repaired_probe
from chapters.looking_inside.exercises.without_head import check_without_head

__all__ = [
    "EXERCISES",
    "check_head_scores",
    "check_induction_forms",
    "check_induction_head",
    "check_patched",
    "check_repaired_probe",
    "check_without_head",
]

# In the order of the chapter.
EXERCISES = (
    check_head_scores,
    check_without_head,
    check_induction_head,
    check_patched,
    check_repaired_probe,
    check_induction_forms,
)
