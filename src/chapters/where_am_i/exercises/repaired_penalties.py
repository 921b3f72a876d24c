"""Repair three lines of ALiBi, each with a fault."""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from attnlab.positions import alibi_bias
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise


def _penalties(
    heads: int,
    n: int,
    m: int,
    *,
    first: int = 1,
    sign: int = -1,
    start: Callable[[int, int], int] = lambda n, m: m - n,
) -> Tensor:
    """ALiBi in parts that can be mistaken: which head is the first, the sign, where the queries begin."""
    slope = 2.0 ** (-8 * torch.arange(first, heads + first, device="cpu") / heads)
    queries = start(n, m) + torch.arange(n, device="cpu").unsqueeze(-1)  # (n, 1)
    distance = (queries - torch.arange(m, device="cpu")).abs()  # (n, m)
    return sign * slope[:, None, None] * distance


def _as_singles(work: Callable[..., Any], *inputs: int) -> Any:
    """Whole numbers come in, so that no precision is asked for."""
    bias = work(*inputs)
    return bias.float() if isinstance(bias, Tensor) and bias.is_floating_point() else bias


PENALTY_FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "slopes": ("the slopes (with 8 heads, what is the first?)", {"first": 0}),
    "places": (
        "where the queries stand (the last one stands where the last key does)",
        {"start": lambda n, m: 0},
    ),
    "sign": ("the sign (should a far key score more?)", {"sign": 1}),
}


def _left(*faults: str) -> Callable[..., Tensor]:
    return partial(
        _penalties, **{part: code for name in faults for part, code in PENALTY_FAULTS[name][1].items()}
    )


check_repaired_penalties = Exercise(
    "repaired_penalties",
    difficulty=3,
    minutes=10,
    takes=("heads", "n", "m"),
    returns=("bias",),
    reference=alibi_bias,
    ask=_as_singles,
    cases=(
        # At distance 0 the faults do nothing.
        Case("right for one query and one key", 2, 1, 1),
        Case("right for as many queries as keys", 2, 3, 3),
        Case("right for as many queries as keys", 8, 4, 4),
        Case("right for fewer queries than keys", 4, 1, 5),
        Case("right for fewer queries than keys", 1, 2, 6),
    ),
    mistakes={
        "still broken": (
            "All three faults that it came with are still there. Begin with the sign: a far key must not "
            "gain.",
            _left(*PENALTY_FAULTS),
        ),
        "keys counted from the end": (
            "The first query stands where the first key does not: with n queries and m keys, it stands at m "
            "- n.",
            partial(_penalties, start=lambda n, m: m - 1),
        ),
    }
    | {
        f"left: {', '.join(left)}": (
            f"Faults mended: {len(PENALTY_FAULTS) - count} of {len(PENALTY_FAULTS)}. Look again at "
            f"{'; '.join(PENALTY_FAULTS[name][0] for name in left)}.",
            _left(*left),
        )
        for count in range(1, len(PENALTY_FAULTS))
        for left in itertools.combinations(PENALTY_FAULTS, count)
    },
)
