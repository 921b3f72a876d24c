"""The exercise `repaired_roles`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as
from queries_keys_and_values_that_learn_answers import (
    ATTENTIONS,
    FAULTS,
    WRONG_ATTENTIONS,
    attention,
    broken_attention,
)

from chapters.queries_keys_and_values_that_learn.exercises import (
    check_repaired_roles,
)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_roles, broken_attention, "✓✗✗✗✗✗✗")


RIGHT = {check_repaired_roles: ATTENTIONS}


NAMED = {
    check_repaired_roles: WRONG_ATTENTIONS
    | {
        "the other matrix for both": lambda words, to_query, to_key, to_value: attention(
            words, to_key, to_key, to_value
        ),
        "the mean of both": lambda words, to_query, to_key, to_value: attention(
            words, (to_query + to_key) / 2, (to_query + to_key) / 2, to_value
        ),
        "nothing learned": lambda words, to_query, to_key, to_value: attention(
            words, torch.eye(words.shape[-1]).to(words), torch.eye(words.shape[-1]).to(words), to_value
        ),
    }
}


UNKNOWN = {check_repaired_roles: FAULTS}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
