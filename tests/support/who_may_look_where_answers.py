"""Answers to the exercises of *who may look where* that several of its tests begin with."""

import math

import torch

from attnlab.attention import masked_softmax

EMPTY_ROWS = {
    "zeros afterwards": lambda scores, mask: (
        scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0)
    ),
    "the lowest number there is": lambda scores, mask: (
        scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
    ),
    "by hand": lambda scores, mask: _by_hand(scores, mask),
    "attnlab": masked_softmax,
    "where": lambda scores, mask: (
        torch.where(mask | ~mask.any(-1, keepdim=True), scores, -math.inf).softmax(-1) * mask
    ),
}


def _by_hand(scores, mask):
    highest = scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True).detach()
    powers = torch.where(mask, (scores - highest).clamp(max=0).exp(), 0.0)
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total > 0, total, 1.0)
