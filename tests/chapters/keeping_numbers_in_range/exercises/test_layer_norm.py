"""The exercise `layer_norm`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as
from torch import nn
from torch.nn import functional as F

from chapters.keeping_numbers_in_range.exercises import (
    check_layer_norm,
)


def by_moments(x, gain, bias, eps):
    mean = x.mean(-1, keepdim=True)
    variance = x.square().mean(-1, keepdim=True) - mean.square()
    return (x - mean) * torch.rsqrt(variance + eps) * gain + bias


def row_by_row(x, gain, bias, eps):
    rows = [
        gain * (row - row.mean()) / (row.var(correction=0) + eps).sqrt() + bias
        for row in x.reshape(-1, x.shape[-1])
    ]
    return torch.stack(rows).view(x.shape)


def by_module(x, gain, bias, eps):
    norm = nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)
    return torch.func.functional_call(norm, {"weight": gain, "bias": bias}, x)


layer_norm = check_layer_norm.reference


RIGHT = {
    check_layer_norm: {
        "by moments": by_moments,
        "row by row": row_by_row,
        "nn.LayerNorm": by_module,
        "functional": lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], gain, bias, eps),
        "correction": lambda x, gain, bias, eps: (
            (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) ** 0.5 * gain
            + bias
        ),
    }
}


NAMED = {
    check_layer_norm: {
        "unbiased": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() + bias
        ),
        "eps outside": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + eps) + bias
        ),
        "no root": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) + bias
        ),
        "mean not taken away": lambda x, gain, bias, eps: F.rms_norm(x, x.shape[-1:], gain, eps) + bias,
        "squares around 0": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / ((x**2).mean(-1, keepdim=True) + eps) ** 0.5 + bias
        ),
        "std() and eps": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias
        ),
        "no bias": lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], gain, None, eps),
        "no gain": lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], None, bias, eps),
    }
}


UNKNOWN = {
    check_layer_norm: {
        "halved": changed(layer_norm, lambda normal: normal / 2),
        "turned": changed(layer_norm, torch.neg),
        "rounded": changed(layer_norm, lambda normal: normal.round(decimals=1)),
        "one place less": lambda x, gain, bias, eps: layer_norm(x, gain, bias, eps)[..., :-1],
        "zeros": changed(layer_norm, torch.zeros_like),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
