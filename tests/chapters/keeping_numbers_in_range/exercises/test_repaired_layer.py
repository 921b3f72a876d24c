"""The exercise `repaired_layer`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as
from torch import nn
from torch.nn import functional as F

from chapters.keeping_numbers_in_range.exercises import (
    check_repaired_layer,
)


def broken_layer(x, widen, narrow):
    x = F.layer_norm(x, x.shape[-1:])
    return x + (x @ widen).relu() @ narrow


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_layer, broken_layer, "✓✗✗✗")


def street(read):
    """A pre-norm layer that reads with `read`."""
    return lambda x, widen, narrow: x + F.linear(F.relu(read(x) @ widen), narrow.mT)


layer = check_repaired_layer.reference


RIGHT = {
    check_repaired_layer: {
        "functional": street(lambda x: F.layer_norm(x, x.shape[-1:])),
        "by hand": street(
            lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
        ),
        "module": street(lambda x: nn.LayerNorm(x.shape[-1], dtype=x.dtype)(x)),
    }
}


NAMED = {
    check_repaired_layer: {
        "of a sample": street(
            lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + 1e-5).sqrt()
        ),
        "mean kept": street(lambda x: F.rms_norm(x, x.shape[-1:], eps=1e-5)),
        "not divided": street(lambda x: x - x.mean(-1, keepdim=True)),
        "over the tokens": street(
            lambda x: F.layer_norm(x.mT, x.mT.shape[-1:]).mT if x.dim() > 1 else F.layer_norm(x, x.shape)
        ),
        "no relu": lambda x, widen, narrow: x + F.layer_norm(x, x.shape[-1:]) @ widen @ narrow,
        "norm of the hidden numbers": lambda x, widen, narrow: (
            x + F.layer_norm(x @ widen, widen.shape[-1:]).relu() @ narrow
        ),
        "still broken": broken_layer,
        "no norm": lambda x, widen, narrow: x + (x @ widen).relu() @ narrow,
        "post-norm": lambda x, widen, narrow: F.layer_norm(x + (x @ widen).relu() @ narrow, x.shape[-1:]),
        "no road": lambda x, widen, narrow: (F.layer_norm(x, x.shape[-1:]) @ widen).relu() @ narrow,
        "both norms": lambda x, widen, narrow: F.layer_norm(
            x + (F.layer_norm(x, x.shape[-1:]) @ widen).relu() @ narrow, x.shape[-1:]
        ),
        "norm over everything": lambda x, widen, narrow: (
            x + ((x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt() @ widen).relu() @ narrow
        ),
        "norm on the road only": lambda x, widen, narrow: (
            F.layer_norm(x, x.shape[-1:]) + (x @ widen).relu() @ narrow
        ),
    }
}


UNKNOWN = {
    check_repaired_layer: {
        "halved": changed(layer, lambda outputs: outputs / 2),
        "detached": changed(layer, torch.detach),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
