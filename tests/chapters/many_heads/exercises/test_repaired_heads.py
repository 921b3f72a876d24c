"""The exercise `repaired_heads`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as
from many_heads_answers import join, split
from torch.nn import functional as F

from chapters.many_heads.exercises import (
    check_repaired_heads,
)

in_heads = check_repaired_heads.reference


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_heads, broken_heads, "✓✗✗✗✗")


def broken_heads(query, key, value, heads):
    batch, n, d_model = query.shape
    query, key, value = (x.view(batch, heads, -1, d_model // heads) for x in (query, key, value))
    weights = (query @ key.mT / (d_model // heads) ** 0.5).softmax(-1)
    return (weights @ value).reshape(batch, n, d_model)


RIGHT = {
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
    }
}


NAMED = {
    check_repaired_heads: {
        "still broken": broken_heads,
        "mended on the way in": lambda query, key, value, heads: F.scaled_dot_product_attention(
            *(split(x, heads) for x in (query, key, value))
        ).reshape(query.shape),
        "mended on the way out": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(
                *(x.reshape(len(x), heads, -1, x.shape[2] // heads) for x in (query, key, value))
            )
        ),
        "one head": lambda query, key, value, heads: F.scaled_dot_product_attention(query, key, value),
        "root of d_model": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(
                *(split(x, heads) for x in (query, key, value)), scale=query.shape[-1] ** -0.5
            )
        ),
        "not scaled": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value)), scale=1)
        ),
        "numbers woven": lambda query, key, value, heads: torch.stack(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value))).unbind(1), -1
        ).flatten(2),
    }
}


UNKNOWN = {
    check_repaired_heads: {
        "values reversed": lambda query, key, value, heads: in_heads(query, key, value.flip(1), heads),
        "causal": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value)), is_causal=True)
        ),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
