"""The exercise `repaired_penalties`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as
from where_am_i_answers import penalties

from attnlab import positions
from chapters.where_am_i.exercises import (
    check_repaired_penalties,
)
from chapters.where_am_i.exercises.repaired_penalties import PENALTY_FAULTS

penalties_of = check_repaired_penalties.reference


def by_einsum(heads, n, m):
    slopes = torch.tensor([2 ** (-8 * (head + 1) / heads) for head in range(heads)], dtype=torch.float64)
    distance = (torch.arange(m - n, m)[:, None] - torch.arange(m)).abs()
    return -torch.einsum("h,nm->hnm", slopes, distance.double())


RIGHT = {
    check_repaired_penalties: {
        "mended in all": penalties(),
        "attnlab's": positions.alibi_bias,
        "einsum in float64": by_einsum,
        "rows taken from the end": lambda heads, n, m: positions.alibi_bias(heads, m, m)[:, m - n :],
    }
}


NAMED = {
    check_repaired_penalties: {f"left: {fault}": penalties(fault) for fault in PENALTY_FAULTS}
    | {
        "left: slopes, sign": penalties("sign", "slopes"),
        "keys counted from the end": lambda heads, n, m: (
            -torch.tensor(positions.alibi_slopes(heads))[:, None, None]
            * (m - 1 + torch.arange(n).unsqueeze(-1) - torch.arange(m)).abs()
        ),
    }
}


UNKNOWN = {
    check_repaired_penalties: {
        "one slope": lambda heads, n, m: penalties_of(1, n, m).expand(heads, n, m),
        "squared distance": lambda heads, n, m: penalties_of(heads, n, m) ** 2,
        "heads last": changed(penalties_of, lambda bias: bias.permute(1, 2, 0)),
        "no distance below": changed(penalties_of, torch.tril),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
