"""The exercise `empty_row`, tried as readers would."""

import functools
import math

import torch
from exercise_cases import changed, judged_as, words
from torch.nn import functional as F
from who_may_look_where_answers import EMPTY_ROWS

from attnlab.attention import masked_softmax
from chapters.who_may_look_where.exercises import (
    check_empty_row,
)


def test_the_code_to_improve_has_right_weights_and_no_gradient():
    def added(scores, mask):
        return (scores + torch.where(mask, 0.0, -math.inf)).softmax(-1).nan_to_num()

    assert check_empty_row.judge(added).mistake == "NaN on the way back"


def test_writing_into_the_scores_is_told():
    def in_place(scores, mask):
        scores.masked_fill_(~mask & mask.any(-1, keepdim=True), -math.inf)
        return scores.softmax(-1) * mask.any(-1, keepdim=True)

    report = check_empty_row.judge(in_place)
    assert report.state == "not yet"
    assert "It writes into the scores that it was given" in words(report)


RIGHT = {check_empty_row: EMPTY_ROWS}


NAMED = {
    check_empty_row: {
        "-1e9": lambda scores, mask: torch.where(mask, scores, -1e9).softmax(-1),
        "NaN": lambda scores, mask: torch.where(mask, scores, -math.inf).softmax(-1),
        "NaN on the way back": lambda scores, mask: F.softmax(
            scores + (~mask).to(scores.dtype).masked_fill(~mask, -math.inf), -1
        ).nan_to_num(0),
        "-1e9 added": lambda scores, mask: (scores + (~mask) * -1e9).softmax(-1),
        "score 0, weight 0": lambda scores, mask: torch.where(mask, scores, 0.0).softmax(-1) * mask,
        "hidden after the softmax": lambda scores, mask: torch.where(mask, scores.softmax(-1), 0),
        "overflow": lambda scores, mask: F.normalize(scores.exp() * mask, p=1, dim=-1),
        "no mask": lambda scores, mask: scores.softmax(-1),
    }
}


UNKNOWN = {
    check_empty_row: {
        "halved": changed(masked_softmax, lambda weights: weights / 2),
        "rounded": changed(masked_softmax, lambda weights: weights.round(decimals=1)),
        "dropout": changed(masked_softmax, functools.partial(F.dropout, p=0.3)),
        "detached": changed(masked_softmax, torch.Tensor.detach),
        "keys reversed": changed(masked_softmax, lambda weights: weights.flip(-1)),
        "at a temperature": lambda scores, mask: masked_softmax(scores / 2, mask),
        "output of another shape": changed(masked_softmax, lambda weights: weights.sum(-1)),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
