"""The exercise `split_heads`, tried as readers would."""

import torch
from exercise_cases import judged_as
from many_heads_answers import split

from chapters.many_heads.exercises import (
    check_split_heads,
)


def split_by_hand(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


RIGHT = {
    check_split_heads: {
        "chunks": split_by_hand,
        "unflatten": lambda x, heads: x.unflatten(-1, (heads, -1)).permute(0, 2, 1, 3).contiguous(),
    }
}


NAMED = {
    check_split_heads: {
        "view without transpose": lambda x, heads: x.view(x.shape[0], heads, x.shape[1], x.shape[2] // heads),
        "every other number": lambda x, heads: torch.stack([x[..., i::heads] for i in range(heads)], 1),
        "not transposed": lambda x, heads: x.view(*x.shape[:2], heads, -1),
        "heads in front": lambda x, heads: torch.stack(split_by_hand(x, heads).unbind(1)),
        "heads and width swapped": lambda x, heads: split_by_hand(x, heads).permute(0, 1, 3, 2),
        "batch and heads in one": lambda x, heads: split_by_hand(x, heads).reshape(
            -1, x.shape[1], x.shape[2] // heads
        ),
    }
}


UNKNOWN = {
    check_split_heads: {
        "heads reversed": lambda x, heads: split(x, heads).flip(1),
        "words reversed": lambda x, heads: split(x.flip(1), heads),
        "doubled": lambda x, heads: 2 * split(x, heads),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
