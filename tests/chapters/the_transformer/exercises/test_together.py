"""What holds for several of the chapter's exercises."""

import exercise_cases
import pytest
from the_transformer_answers import handed_in, mended

from chapters.the_transformer.exercises import (
    check_assembled_layer,
    check_cached_step,
    check_near_the_limit,
    check_next_words,
    check_repaired_model,
)
from chapters.the_transformer.exercises.near_the_limit_parts import _Knows, _mean_loss, _spoken_of


@pytest.mark.parametrize("check", [check_assembled_layer, check_next_words, check_cached_step])
def test_others_name_at_least_six(check):
    assert len(check.mistakes) >= 6


def test_a_model_that_knows_the_grammar_is_at_the_limit():
    fresh = _spoken_of("fresh")
    exact = _Knows(1 - 1e-9)
    assert abs(_mean_loss(exact(fresh.previous), fresh.targets) - fresh.limit) < 1e-6


@pytest.mark.thorough
def test_two_faults_at_once_are_told_in_words():
    code = mended(mask=lambda self, length: None, hold=lambda self, layers: list(layers))
    assert "There is no mask left" in exercise_cases.words(check_repaired_model.judge(code))
    code = handed_in(model=_Knows(0.75), excess=0.0)
    assert "has learned much of the grammar" in exercise_cases.words(check_near_the_limit.judge(code))
