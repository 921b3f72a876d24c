"""The exercise `self_attention`, tried as readers would."""

from exercise_cases import judged_as
from queries_keys_and_values_that_learn_answers import ATTENTIONS, FAULTS, WRONG_ATTENTIONS, broken_attention

from chapters.queries_keys_and_values_that_learn.exercises import (
    check_self_attention,
)

RIGHT = {check_self_attention: ATTENTIONS}


NAMED = {check_self_attention: WRONG_ATTENTIONS | {"one matrix for both": broken_attention}}


UNKNOWN = {check_self_attention: FAULTS}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
