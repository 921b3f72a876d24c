"""The exercise `rotated_halves`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from attnlab import positions
from chapters.where_am_i.exercises import (
    check_rotated_halves,
)

halves_of = check_rotated_halves.reference


def turned_in_pairs(vectors, turned, base=10000.0):
    """Columns [i, j] of each pair, turned as complex numbers."""
    length, d_k = vectors.shape[-2:]
    pairs = torch.view_as_complex(vectors[..., turned].contiguous().double())  # (…, T, pairs)
    angle = torch.arange(length).double().unsqueeze(-1) * base ** (-torch.arange(0, d_k, 2).double() / d_k)
    outputs = torch.empty_like(vectors)
    outputs[..., turned] = torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).to(vectors)
    return outputs


def halves(d_k):
    return torch.arange(d_k).view(2, -1).T  # (pairs, 2): i with i + d_k/2


def by_reordering(vectors):
    # attnlab turns neighbours, so put partners side by side, and back.
    order = halves(vectors.shape[-1]).flatten()
    return positions.rotate(vectors[..., order])[..., order.argsort()]


def by_rotating_half(vectors):
    # As many libraries have it: each angle twice, and half of the vector negated.
    length, d_k = vectors.shape[-2:]
    angle = torch.arange(length, dtype=torch.float64).unsqueeze(-1)
    angle = angle * 10000.0 ** (-torch.arange(0, d_k, 2, dtype=torch.float64) / d_k)
    angle = torch.cat((angle, angle), -1)
    x, y = vectors.chunk(2, -1)
    return vectors * angle.cos().to(vectors.dtype) + torch.cat((-y, x), -1) * angle.sin().to(vectors.dtype)


RIGHT = {
    check_rotated_halves: named(by_reordering, by_rotating_half)
    | {"complex numbers": lambda vectors: turned_in_pairs(vectors, halves(vectors.shape[-1]))}
}


NAMED = {
    check_rotated_halves: {
        "neighbours": positions.rotate,
        # With partners swapped a complex number turns the other way.
        "turned back": lambda vectors: turned_in_pairs(vectors, halves(vectors.shape[-1]).flip(-1)),
        "positions from 1": lambda vectors: halves_of(F.pad(vectors, (0, 0, 1, 0)))[..., 1:, :],
        "halves woven": changed(halves_of, lambda turned: turned[..., halves(turned.shape[-1]).flatten()]),
    }
}


UNKNOWN = {
    check_rotated_halves: {
        "nothing turned": lambda vectors: vectors,
        "turned twice": lambda vectors: halves_of(halves_of(vectors)),
        "base 500": lambda vectors: turned_in_pairs(vectors, halves(vectors.shape[-1]), 500.0),
        "from the end": lambda vectors: halves_of(vectors.flip(-2)).flip(-2),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
