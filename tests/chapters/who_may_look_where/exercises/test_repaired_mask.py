"""The exercise `repaired_mask`, tried as readers would."""

import math

import exercise_cases
import torch
from exercise_cases import combined, judged_as, named
from who_may_look_where_answers import EMPTY_ROWS

from chapters.who_may_look_where.exercises import (
    check_batch_mask,
    check_repaired_mask,
)

batch_mask = check_batch_mask.reference


decoder = check_repaired_mask.reference


def broken_decoder(query, key, value, lengths):
    n = query.shape[-2]
    future = torch.ones(n, n).triu().bool()
    filler = torch.arange(n) >= lengths[:, None]
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(future | filler[:, None], -1e9).softmax(-1)
    return weights @ value, weights


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_mask, broken_decoder, "✓✗✗✗✗")


def masked_by(hide):
    def attention(query, key, value, lengths):
        shown = batch_mask(lengths, query.shape[-2])
        weights = hide(query @ key.mT / math.sqrt(query.shape[-1]), shown)
        return weights @ value, weights

    return attention


def fused(query, key, value, lengths):
    return exercise_cases.fused(query, key, value, attn_mask=batch_mask(lengths, query.shape[-2]))


def of_whole_texts(attention):
    """Rows taken one at a time would be other texts: the mask knows their places."""
    others = exercise_cases.in_other_words(attention)
    del others["one query at a time"]
    return others


def _with_mask(earlier, query, key, value, lengths):
    filler = torch.arange(query.shape[-2]) >= lengths[:, None]
    hidden = ~earlier | filler[:, None]
    weights = (query @ key.mT / math.sqrt(query.shape[-1])).masked_fill(hidden, -math.inf).softmax(-1)
    return weights @ value, weights


RIGHT = {check_repaired_mask: combined(masked_by, EMPTY_ROWS) | of_whole_texts(decoder) | named(fused)}


NAMED = {
    check_repaired_mask: {
        "NaN in the first row": masked_by(
            lambda scores, shown: scores.masked_fill(
                ~(shown & ~torch.eye(shown.shape[-1]).bool()), -math.inf
            ).softmax(-1)
        ),
        "one place ahead": lambda query, key, value, lengths: _with_mask(
            torch.ones(query.shape[-2], query.shape[-2]).tril(1).bool(), query, key, value, lengths
        ),
        "not causal": lambda query, key, value, lengths: _with_mask(
            torch.ones(query.shape[-2], query.shape[-2]).bool(), query, key, value, lengths
        ),
        "one place of the past hidden": lambda query, key, value, lengths: _with_mask(
            torch.ones(query.shape[-2], query.shape[-2]).tril(-2).bool(), query, key, value, lengths
        ),
        "first length for all": lambda query, key, value, lengths: decoder(
            query, key, value, lengths[:1].expand(len(lengths))
        ),
        "hidden after the softmax": masked_by(lambda scores, shown: scores.softmax(-1) * shown),
        "score 0": masked_by(lambda scores, shown: torch.where(shown, scores, 0.0).softmax(-1)),
        "softmax over the queries": masked_by(
            lambda scores, shown: scores.masked_fill(~shown, -math.inf).softmax(-2)
        ),
        "results swapped": lambda *inputs: decoder(*inputs)[::-1],
        "filler seen": lambda query, key, value, lengths: decoder(
            query, key, value, torch.full_like(lengths, query.shape[-2])
        ),
    }
}


UNKNOWN = {
    check_repaired_mask: {
        name: fault
        for name, fault in exercise_cases.faults_of_trainable_attention(decoder).items()
        if name not in ("future hidden", "last key forgotten")
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
