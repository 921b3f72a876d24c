"""The exercise `grouped`, tried as readers would."""

import math

import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from chapters.fewer_keys_or_none.exercises.grouped import check_grouped


def by_gqa(query, key, value):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True, enable_gqa=True)


def by_one_axis_more(query, key, value):
    groups, size = key.shape[1], query.shape[1] // key.shape[1]
    query = query.unflatten(1, (groups, size))  # (B, groups, heads of one, T, d_k)
    scores = query @ key[:, :, None].mT / query.shape[-1] ** 0.5
    hidden = torch.ones(query.shape[-2], query.shape[-2]).triu(1).bool()
    weights = scores.masked_fill(hidden, -torch.inf).softmax(-1)
    return (weights @ value[:, :, None]).flatten(1, 2)


def head_by_head(query, key, value):
    size = query.shape[1] // key.shape[1]
    return torch.stack(
        [
            F.scaled_dot_product_attention(
                query[:, head], key[:, head // size], value[:, head // size], is_causal=True
            )
            for head in range(query.shape[1])
        ],
        dim=1,
    )


def attending(
    share=lambda kept, size: kept.repeat_interleave(size, dim=1),
    values=None,
    scale=math.sqrt,
    hide=True,
    order=lambda output, groups: output,
):
    """A reader's function, in which one step may be another."""

    def code(query, key, value):
        size = query.shape[1] // key.shape[1]
        shared, read = share(key, size), (values or share)(value, size)
        scores = torch.einsum("bhqd,bhkd->bhqk", query, shared) / scale(query.shape[-1])
        if hide:
            past = torch.tril(torch.ones(scores.shape[-2:])).bool()
            scores = torch.where(past, scores, torch.tensor(-torch.inf))
        return order(torch.softmax(scores, -1) @ read, key.shape[1])

    return code


def in_rounds(kept, size):
    return torch.cat([kept] * size, dim=1)


def hf_view(kept, size):
    """As repeat_kv of Hugging Face does."""
    batch, groups, length, width = kept.shape
    kept = kept[:, :, None].expand(batch, groups, size, length, width)
    return kept.reshape(batch, groups * size, length, width)


def new_axis_in_front(kept, size):
    return kept[:, None].expand(-1, size, -1, -1, -1).flatten(1, 2)


def mean_of_groups(kept, size):
    return kept.mean(dim=1, keepdim=True).repeat(1, kept.shape[1] * size, 1, 1)


def first_group(kept, size):
    return kept[:, 0:1].repeat(1, kept.shape[1] * size, 1, 1)


RIGHT = {
    check_grouped: named(by_gqa, by_one_axis_more, head_by_head) | {"as theirs": attending(hf_view)},
}
NAMED = {
    check_grouped: {
        "heads and groups mixed": attending(new_axis_in_front),
        "groups averaged": attending(mean_of_groups),
        "the first group for all": attending(first_group),
        "values mixed": attending(values=in_rounds),
        "keys not shared, values alone": attending(in_rounds, values=hf_view),
        "no mask": attending(hide=False),
        "not scaled": attending(scale=lambda d_k: 1),
        "divided by d_k": attending(scale=lambda d_k: d_k),
        "heads in another order": attending(
            order=lambda output, groups: output.unflatten(1, (groups, -1)).transpose(1, 2).flatten(1, 2)
        ),
        "queries averaged": lambda query, key, value: by_gqa(
            query.unflatten(1, (key.shape[1], -1))
            .mean(2)
            .repeat_interleave(query.shape[1] // key.shape[1], dim=1),
            key,
            value,
        ),
        "heads and groups mixed & no mask": attending(in_rounds, hide=False),
    }
}
UNKNOWN = {
    check_grouped: {
        "not shared": lambda query, key, value: F.scaled_dot_product_attention(
            query, key, value, is_causal=True
        ),
        "along time": lambda query, key, value: attending(
            lambda kept, size: kept.repeat_interleave(size, dim=2)
        )(query, key, value),
        "one answer a group": lambda query, key, value: by_gqa(query, key, value)[:, :: query.shape[1]],
        "zeros": changed(by_gqa, torch.zeros_like),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
