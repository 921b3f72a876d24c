"""The exercise `for_module`, tried as readers would."""

import math

import torch
from exercise_cases import judged_as

from chapters.who_may_look_where.exercises import (
    check_for_module,
)

RIGHT = {
    check_for_module: {
        "attnlab": lambda mask, heads: (~mask).repeat_interleave(heads, 0),
        "expanded": lambda mask, heads: ~mask[:, None].expand(-1, heads, -1, -1).flatten(0, 1),
        "stacked": lambda mask, heads: torch.stack([~one for one in mask for _ in range(heads)]),
    }
}


NAMED = {
    check_for_module: {
        "not turned round": lambda mask, heads: mask.repeat_interleave(heads, 0),
        "heads not neighbours": lambda mask, heads: ~torch.cat([mask] * heads),
        "heads left out": lambda mask, heads: ~mask,
        "heads on an axis of their own": lambda mask, heads: ~torch.stack([mask] * heads, 1),
        "neither turned nor in order": lambda mask, heads: torch.cat([mask] * heads),
        "transposed": lambda mask, heads: ~mask.repeat_interleave(heads, 0).mT,
    }
}


UNKNOWN = {
    check_for_module: {
        "to be added": lambda mask, heads: (
            torch.zeros(mask.shape).masked_fill(~mask, -math.inf).repeat_interleave(heads, 0)
        ),
        "rows reversed": lambda mask, heads: ~mask.repeat_interleave(heads, 0).flip(1),
        "one head too many": lambda mask, heads: ~mask.repeat_interleave(heads + 1, 0),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
