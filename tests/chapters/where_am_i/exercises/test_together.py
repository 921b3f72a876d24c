"""What holds for several of the chapter's exercises."""

import exercise_cases
from where_am_i_answers import mended, penalties

from chapters.where_am_i.exercises import (
    check_repaired_penalties,
    check_repaired_positions,
)
from chapters.where_am_i.exercises.repaired_penalties import PENALTY_FAULTS
from chapters.where_am_i.exercises.repaired_positions import FAULTS


def test_the_broken_code_has_all_its_faults():
    exercise_cases.assert_still_broken(check_repaired_positions, mended(*FAULTS), "✗✗✗✗✗")
    # At distance 0 there is nothing to see.
    exercise_cases.assert_still_broken(check_repaired_penalties, penalties(*PENALTY_FAULTS), "✓✗✗")
