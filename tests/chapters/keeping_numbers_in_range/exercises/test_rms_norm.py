"""The exercise `rms_norm`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as
from torch.nn import functional as F

from chapters.keeping_numbers_in_range.exercises import (
    check_rms_norm,
)

rms_norm = check_rms_norm.reference


RIGHT = {
    check_rms_norm: {
        "functional": lambda x, gain, eps: F.rms_norm(x, x.shape[-1:], gain, eps),
        "rsqrt": lambda x, gain, eps: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * gain,
        "by the length": lambda x, gain, eps: (
            gain * x / (x.norm(dim=-1, keepdim=True) ** 2 / x.shape[-1] + eps).sqrt()
        ),
    }
}


NAMED = {
    check_rms_norm: {
        "mean taken away": lambda x, gain, eps: F.layer_norm(x, x.shape[-1:], gain, None, eps),
        "length": lambda x, gain, eps: gain * x / (x.square().sum(-1, keepdim=True) + eps).sqrt(),
        "no root": lambda x, gain, eps: gain * x / (x.square().mean(-1, keepdim=True) + eps),
        "no gain": lambda x, gain, eps: F.rms_norm(x, x.shape[-1:], None, eps),
        "size over all": lambda x, gain, eps: gain * x / (x.square().mean() + eps).sqrt(),
        "eps outside": lambda x, gain, eps: gain * x / (x.square().mean(-1, keepdim=True).sqrt() + eps),
        "variance": lambda x, gain, eps: (
            gain * x * torch.rsqrt(x.std(-1, keepdim=True, correction=0).square() + eps)
        ),
    }
}


UNKNOWN = {
    check_rms_norm: {
        "halved": changed(rms_norm, lambda normal: normal / 2),
        "sign lost": changed(rms_norm, torch.abs),
        "largest": lambda x, gain, eps: gain * x / (x.abs().amax(-1, keepdim=True) + eps),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
