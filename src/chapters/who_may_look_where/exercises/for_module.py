"""Turn a mask into the one that nn.MultiheadAttention takes."""

from collections.abc import Callable

import torch

from attnlab import masks
from attnlab.shapes import Mask
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import in_parts
from chapters.who_may_look_where.exercises.masks_in_parts import _batch_mask


def _for_module(
    mask: Mask,
    heads: int,
    *,
    spread: Callable[[Mask, int], Mask] = lambda mask, heads: mask.repeat_interleave(heads, dim=0),
    turn: Callable[[Mask], Mask] = torch.logical_not,
) -> Mask:
    return turn(spread(mask, heads))


check_for_module = Exercise(
    "for_module",
    difficulty=2,
    minutes=5,
    takes=("mask", "heads"),
    returns=("attn_mask",),
    reference=_for_module,
    cases=(
        Case("right for one text and one head", masks.causal(3, device=torch.device("cpu")), 1),
        Case("right for one text and two heads", masks.causal(2, 4, device=torch.device("cpu")), 2),
        Case("right for two texts and three heads", _batch_mask(whole(2, 3), 3), 3),
        Case("right for three texts and two heads", _batch_mask(whole(1, 4, 2), 4), 2),
    ),
    mistakes=in_parts(
        _for_module,
        turn={
            "not turned round": (
                "The shape is right, and True still means “may look”. For nn.MultiheadAttention it means "
                "blocked.",
                lambda mask: mask,
            ),
            "transposed": (
                "Queries and keys have changed places. The table stays as it is: a row for each query.",
                lambda mask: ~mask.mT,
            ),
        },
        spread={
            "heads not neighbours": (
                "`repeat` puts the texts one after the other and then all of them again. The module counts "
                "the heads of the first text, then those of the second: `repeat_interleave`.",
                lambda mask, heads: mask.repeat(heads, 1, 1),
            ),
            "heads left out": (
                "The tables are right, but there is one for each text. The module wants one for each head of "
                "each text.",
                lambda mask, heads: mask,
            ),
            "heads on an axis of their own": (
                "The tables are right; but the module wants three axes, (B · h, n, m).",
                lambda mask, heads: mask[:, None].expand(-1, heads, -1, -1),
            ),
            "first text for all": (
                "Every text gets the first one's table.",
                lambda mask, heads: mask[:1].repeat(heads * len(mask), 1, 1),
            ),
        },
    )
    | {
        "neither turned nor in order": (
            "Two things at once: True still means “may look”, and the heads of one text are not neighbours.",
            lambda mask, heads: mask.repeat(heads, 1, 1),
        ),
    },
    trainable=False,
)
