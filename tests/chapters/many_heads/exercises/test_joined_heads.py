"""The exercise `joined_heads`, tried as readers would."""

import torch
from exercise_cases import judged_as
from many_heads_answers import join

from chapters.many_heads.exercises import (
    check_joined_heads,
)

RIGHT = {
    check_joined_heads: {
        "cat": lambda x: torch.cat(x.unbind(1), dim=-1),
        "einsum": lambda x: torch.einsum("bhtd->bthd", x).reshape(len(x), x.shape[2], -1),
        "contiguous": lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], -1, x.shape[1] * x.shape[3]),
    }
}


NAMED = {
    check_joined_heads: {
        "not transposed": lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3]),
        "numbers woven": lambda x: torch.stack(x.unbind(1), -1).flatten(2),
        "heads from the last": lambda x: torch.cat(x.unbind(1)[::-1], dim=-1),
        "heads averaged": lambda x: sum(x.unbind(1)) / x.shape[1],
        "heads added": lambda x: torch.stack(x.unbind(1)).sum(0),
        "one below the other": lambda x: torch.cat(x.unbind(1), dim=1),
        "not joined": lambda x: x.permute(0, 2, 1, 3),
    }
}


UNKNOWN = {
    check_joined_heads: {
        "words reversed": lambda x: join(x.flip(2)),
        "batch reversed": lambda x: join(x.flip(0)),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
