"""The exercise `padding_mask`, tried as readers would."""

import math
from functools import partial

import exercise_cases
import pytest
import torch
from exercise_cases import combined, judged_as, named, shifted_exp, weighing_by
from torch.nn import functional as F

from chapters.text_as_tensors.exercises import (
    check_padding_mask,
)

masked = check_padding_mask.reference


def hidden(scores, shown):
    return scores.masked_fill(~shown, -math.inf).softmax(-1)


def each(shown):
    return shown.view(len(shown), 1, 1, -1)


def masked_by(place, weigh=hidden):
    """Attention with the mask `place(shown)`, or weights of scores and that."""

    def weights(query, key, lengths):
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return weigh(scores, place(torch.arange(key.shape[-2]) < lengths[:, None]))

    return weighing_by(weights)


def test_the_broken_code_passes_one_text_and_raises_or_lies_for_more():
    to_repair = masked_by(lambda shown: shown.unsqueeze(1))
    exercise_cases.assert_still_broken(check_padding_mask, to_repair, "✓✗✗✗✗✗")
    two, three = (case.fresh() for case in check_padding_mask.cases[1:3])
    assert to_repair(*two)[1].isfinite().all(), "as many heads as texts: no error"
    with pytest.raises(RuntimeError):
        to_repair(*three)


def one_text_at_a_time(query, key, value, lengths):
    weights = query.new_zeros(*query.shape[:3], key.shape[2])
    for i, length in enumerate(lengths.tolist()):
        scores = query[i] @ key[i, :, :length].mT / math.sqrt(query.shape[-1])
        weights[i, ..., :length] = scores.softmax(-1)
    return weights @ value, weights


def masked_and_fused(query, key, value, lengths):
    shown = torch.arange(key.shape[-2]) < lengths[:, None, None, None]
    return exercise_cases.fused(query, key, value, attn_mask=shown)


WEIGHING = {
    "-1e9": lambda scores, shown: scores.masked_fill(~shown, -1e9).softmax(-1),
    "where": lambda scores, shown: torch.where(shown, scores, -math.inf).softmax(-1),
    "logarithm added": lambda scores, shown: (scores + shown.to(scores.dtype).log()).softmax(-1),
    "by hand": lambda scores, shown: shifted_exp(scores.masked_fill(~shown, -math.inf)),
}


def tiled(scores, shown):
    return hidden(scores, shown.repeat(scores.shape[1], 1).view(*scores.shape[:2], 1, -1))


RIGHT = {
    check_padding_mask: combined(partial(masked_by, each), WEIGHING)
    | named(one_text_at_a_time, masked_and_fused)
    | exercise_cases.in_other_words(masked)
}


NAMED = {
    check_padding_mask: {
        "still broken": masked_by(lambda shown: shown[None, :, None]),
        "on the queries": masked_by(lambda shown: shown[:, None, :, None]),
        "on queries and keys": masked_by(lambda shown: shown[:, None, :, None] & shown[:, None, None, :]),
        "tiled": masked_by(lambda shown: shown, tiled),
        "longest for all": masked_by(lambda shown: shown.any(0)),
        "hidden after the softmax": masked_by(each, lambda scores, shown: scores.softmax(-1) * shown),
        "score 0": masked_by(each, lambda scores, shown: scores.masked_fill(~shown, 0.0).softmax(-1)),
        "large numbers": masked_by(each, lambda scores, shown: F.normalize(scores.exp() * shown, 1, -1, 0)),
        "no gradient": lambda query, key, value, lengths: masked(query.detach(), key, value, lengths),
    }
}


UNKNOWN = {
    check_padding_mask: exercise_cases.faults_of_trainable_attention(masked)
    | {
        "short texts": lambda query, key, value, lengths: masked(query, key, value, lengths.clamp(max=2)),
        "lengths turned": lambda query, key, value, lengths: masked(query, key, value, lengths.flip(0)),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
