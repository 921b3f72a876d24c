"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

from chapters.many_heads.exercises import (
    check_head_jobs,
    check_joined_heads,
    check_multi_head_layer,
    check_multi_head_parameters,
    check_repaired_heads,
    check_split_heads,
)

# --- shared ---


split = check_split_heads.reference
join = check_joined_heads.reference


def columns(model, head):
    d_k = model.attention.W_O.in_features // model.attention.heads
    return slice(head * d_k, (head + 1) * d_k)


def right(model, x, names):
    return (model(x)[0].argmax(-1) == names).float().flatten(0, 1).mean(0)


def alone(model, x, names):
    """What is right with one head and no other."""
    jobs = []
    for head in range(model.attention.heads):
        only = copy.deepcopy(model)
        keep = torch.zeros(only.attention.W_O.in_features)
        keep[columns(model, head)] = 1
        only.attention.W_O.weight.data *= keep
        share = right(only, x, names)
        jobs.append(share.argmax() if share.max() > 0.5 else torch.tensor(-1))
    return torch.stack(jobs)


# --- split_heads ---


def split_by_hand(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


# --- multi_head_layer ---


class MyMultiHead(nn.Module):
    """Each step is a method, for the mistakes to change."""

    def __init__(self, d_model, heads):
        super().__init__()
        if d_model % heads:
            raise ValueError
        self.heads, self.d_k = heads, d_model // heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        query, key, value = self.cut(self.W_Q(query)), self.cut(self.W_K(key)), self.cut(self.W_V(value))
        scores = query @ key.transpose(-2, -1) / self.divisor()
        weights = self.weights(scores, mask)
        return self.W_O(self.glue(weights @ value)), weights

    def cut(self, x):
        return x.view(*x.shape[:2], self.heads, self.d_k).transpose(1, 2)

    def divisor(self):
        return math.sqrt(self.d_k)

    def weights(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -math.inf)
        return scores.softmax(-1)

    def glue(self, x):
        return x.transpose(1, 2).reshape(len(x), -1, self.heads * self.d_k)


def variant(base=MyMultiHead, **methods):
    return type("MyMultiHead", (base,), methods)


def head_by_head(self, query, key, value, mask=None):
    """A loop over the heads, each with its rows of the three matrices."""
    outputs, tables = [], []
    for head in range(self.heads):
        own = slice(head * self.d_k, (head + 1) * self.d_k)
        q, k, v = (
            F.linear(x, W.weight[own], W.bias[own])
            for W, x in zip((self.W_Q, self.W_K, self.W_V), (query, key, value), strict=True)
        )
        scores = q @ k.mT / self.d_k**0.5
        if mask is not None:
            scores = scores.where(mask, -math.inf)
        tables.append(scores.softmax(-1))
        outputs.append(tables[-1] @ v)
    return self.W_O(torch.cat(outputs, -1)), torch.stack(tables, 1)


def by_einsum(self, query, key, value, mask=None):
    q, k, v = (
        W(x).unflatten(-1, (self.heads, self.d_k))
        for W, x in zip((self.W_Q, self.W_K, self.W_V), (query, key, value), strict=True)
    )
    scores = torch.einsum("bnhd,bmhd->bhnm", q, k) * self.d_k**-0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask.unsqueeze(1), -math.inf)
    weights = F.softmax(scores, dim=-1)
    return self.W_O(torch.einsum("bhnm,bmhd->bnhd", weights, v).flatten(-2)), weights


# --- head_jobs ---


def put_back(model, x, names):
    """In the model itself, as it was in the end."""
    weight, jobs = model.attention.W_O.weight.data, []
    kept = weight.clone()
    for head in range(model.attention.heads):
        weight[:, columns(model, head)] = 0
        share = right(model, x, names)
        jobs.append(int(share.argmin()) if share.min() < 0.5 else -1)
        weight.copy_(kept)
    return jobs


def values_silenced(model, x, names):
    """Another place where a head can be taken away: what it hands on."""
    jobs = []
    for head in range(model.attention.heads):
        damaged = copy.deepcopy(model)
        damaged.attention.W_V.weight.data[columns(model, head)] = 0
        damaged.attention.W_V.bias.data[columns(model, head)] = 0
        lost = right(model, x, names) - right(damaged, x, names)
        jobs.append(lost.argmax().item() if lost.max() > 0.5 else -1)
    return tuple(jobs)


def with_a_threshold_of(lost):
    def jobs(model, x, names):
        found = []
        for head in range(model.attention.heads):
            damaged = copy.deepcopy(model)
            damaged.attention.W_O.weight.data[:, columns(model, head)] = 0
            gone = right(model, x, names) - right(damaged, x, names)
            found.append(int(gone.argmax()) if gone.max() > lost else -1)
        return found

    return jobs


ACCEPTED = {
    check_multi_head_parameters: {
        "pytorch's": lambda d, heads, bias: sum(
            each.numel() for each in nn.MultiheadAttention(d, heads, bias=bias, device="meta").parameters()
        ),
        "head by head": lambda d, heads, bias: heads * 3 * d * (d // heads) + d * d + (4 * d if bias else 0),
        "d + 1": lambda d, heads, bias: 4 * d * (d + 1) if bias else 4 * d * d,
    },
    check_split_heads: {
        "chunks": split_by_hand,
        "unflatten": lambda x, heads: x.unflatten(-1, (heads, -1)).permute(0, 2, 1, 3).contiguous(),
    },
    check_joined_heads: {
        "cat": lambda x: torch.cat(x.unbind(1), dim=-1),
        "einsum": lambda x: torch.einsum("bhtd->bthd", x).reshape(len(x), x.shape[2], -1),
        "contiguous": lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], -1, x.shape[1] * x.shape[3]),
    },
    check_repaired_heads: {
        "fused": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value)))
        ),
        "chunks": lambda query, key, value, heads: torch.cat(
            [
                F.scaled_dot_product_attention(*parts)
                for parts in zip(*(x.chunk(heads, -1) for x in (query, key, value)), strict=True)
            ],
            dim=-1,
        ),
    },
    check_multi_head_layer: {
        "step by step": MyMultiHead,
        "head by head": variant(forward=head_by_head),
        "einsum": variant(forward=by_einsum),
        "-1e9": variant(
            weights=lambda self, scores, mask: (
                scores if mask is None else scores.masked_fill(~mask.unsqueeze(1), -1e9)
            ).softmax(-1)
        ),
        "a mask of the shape that the text says": variant(
            weights=lambda self, scores, mask: (
                scores
                if mask is None
                else scores.masked_fill(~mask.view(len(scores), 1, *scores.shape[-2:]), -math.inf)
            ).softmax(-1)
        ),
        "a list": variant(forward=lambda self, *inputs: list(MyMultiHead.forward(self, *inputs))),
    },
    check_head_jobs: {
        "put back": put_back,
        "each alone": alone,
        "values silenced": values_silenced,
        "a threshold of a half": with_a_threshold_of(0.5),
    },
}
