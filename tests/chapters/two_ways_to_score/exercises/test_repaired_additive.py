"""The exercise `repaired_additive`, tried as readers would."""

import exercise_cases
from exercise_cases import combined, judged_as, weighing_by
from torch import nn
from torch.nn import functional as F
from two_ways_to_score_answers import SCORES, attention_by, broken_attention, by_einsum, turned_table

from chapters.two_ways_to_score.exercises import (
    check_repaired_additive,
)

attention = check_repaired_additive.reference


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_additive, broken_attention, "✓✗✗✗✗✗")


# The smallest repair leaves the scores (…, m, n), and runs over the keys there.
REPAIRS = {"mended at the softmax": attention_by(turned_table, lambda table: table.softmax(-2).mT)}


RIGHT = {
    check_repaired_additive: REPAIRS
    | combined(attention_by, SCORES, {"torch": nn.Softmax(-1)})
    | combined(attention_by, {"einsum": by_einsum}, exercise_cases.SOFTMAXES)
    | exercise_cases.in_other_words(attention)
}


NAMED = {
    check_repaired_additive: {
        "weights turned": attention_by(by_einsum, lambda table: table.softmax(-1).mT),
        "rows divided by their sum": attention_by(
            turned_table, lambda table: F.normalize(table.softmax(-1).mT, p=1, dim=-1, eps=0)
        ),
        "query and key swapped": weighing_by(
            lambda query, key, *more: turned_table(key, query, *more).softmax(-1)
        ),
        "reshaped": attention_by(
            turned_table, lambda table: table.reshape(*table.shape[:-2], *table.shape[:-3:-1]).softmax(-1)
        ),
        "dim=1 of the turned scores": attention_by(turned_table, lambda table: table.softmax(1).mT),
        "still broken": attention_by(by_einsum, nn.Softmax(-2)),
    }
}


UNKNOWN = {
    check_repaired_additive: exercise_cases.faults_of_trainable_attention(attention)
    | {
        "temperature": attention_by(by_einsum, lambda table: (2 * table).softmax(-1)),
        "weights before the softmax": lambda query, key, value, *more: (
            attention(query, key, value, *more)[0],
            by_einsum(query, key, *more),
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
