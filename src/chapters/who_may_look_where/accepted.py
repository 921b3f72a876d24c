"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import torch

from attnlab.attention import masked_softmax
from bookkit.other_words import combined, fused, in_other_words, named
from chapters.who_may_look_where.exercises import (
    check_batch_mask,
    check_empty_row,
    check_for_module,
    check_leak_proofs,
    check_mask_shapes,
    check_repaired_mask,
)

# --- shared ---


EMPTY_ROWS = {
    "zeros afterwards": lambda scores, mask: (
        scores.masked_fill(~mask, -math.inf).softmax(-1).masked_fill(~mask.any(-1, keepdim=True), 0)
    ),
    "the lowest number there is": lambda scores, mask: (
        scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(-1) * mask
    ),
    "by hand": lambda scores, mask: _by_hand(scores, mask),
    "attnlab": masked_softmax,
    "where": lambda scores, mask: (
        torch.where(mask | ~mask.any(-1, keepdim=True), scores, -math.inf).softmax(-1) * mask
    ),
}


def _by_hand(scores, mask):
    highest = scores.masked_fill(~mask, -1e30).amax(-1, keepdim=True).detach()
    powers = torch.where(mask, (scores - highest).clamp(max=0).exp(), 0.0)
    total = powers.sum(-1, keepdim=True)
    return powers / torch.where(total > 0, total, 1.0)


# --- mask_shapes ---


SHAPES = check_mask_shapes.shapes


# --- batch_mask ---


def by_positions(lengths, n):
    place = torch.arange(n)
    return (place[:, None] >= place) & (place < lengths[:, None, None])


def by_loops(lengths, n):
    rows = [[[j <= i and j < length for j in range(n)] for i in range(n)] for length in lengths.tolist()]
    return torch.tensor(rows)


def by_products(lengths, n):
    is_word = (torch.arange(n) < lengths[:, None]).int()
    return (is_word[:, None] * torch.ones(n, n, dtype=torch.int32).tril()).bool()


def is_word(lengths, n):
    return torch.arange(n) < lengths[:, None]


# --- repaired_mask ---


batch_mask = check_batch_mask.reference
decoder = check_repaired_mask.reference


def masked_by(hide):
    def attention(query, key, value, lengths):
        shown = batch_mask(lengths, query.shape[-2])
        weights = hide(query @ key.mT / math.sqrt(query.shape[-1]), shown)
        return weights @ value, weights

    return attention


def in_one_call(query, key, value, lengths):
    return fused(query, key, value, attn_mask=batch_mask(lengths, query.shape[-2]))


def of_whole_texts(attention):
    """Rows taken one at a time would be other texts: the mask knows their places."""
    others = in_other_words(attention)
    del others["one query at a time"]
    return others


# --- leak_proofs ---


prove = check_leak_proofs.reference


def in_one_batch(model):
    """Many texts at once, and the first that convicts."""
    one, end = torch.randint(6, (2, 64, 8), generator=torch.Generator().manual_seed(1))
    for place in range(7, 0, -1):
        other = torch.cat([one[:, :place], end[:, place:]], dim=-1)
        apart = (model(one) - model(other))[:, :place].abs().amax((1, 2))
        if apart.max() > 1e-9:
            return [one[apart.argmax()], other[apart.argmax()], torch.tensor(place)]
    return None


def with_torchs_own_numbers(model):
    """As one draws without thinking of generators."""
    for _ in range(20):
        one = torch.randint(6, (1, 8))
        for place in range(1, 8):
            other = one.clone()
            other[:, place:] = (other[:, place:] + 1) % 6
            if not torch.allclose(model(one)[:, :place], model(other)[:, :place]):
                return one, other, place
    return None


def reshaped(*shape):
    """The same proofs, their texts in another shape."""

    def code(model):
        one, other, place = prove(model) or (None, None, 0)
        return None if one is None else (one.view(shape), other.view(shape), place)

    return code


ACCEPTED = {
    check_mask_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "a function": lambda: dict(SHAPES),
    },
    check_batch_mask: named(by_positions, by_loops, by_products),
    check_for_module: {
        "attnlab": lambda mask, heads: (~mask).repeat_interleave(heads, 0),
        "expanded": lambda mask, heads: ~mask[:, None].expand(-1, heads, -1, -1).flatten(0, 1),
        "stacked": lambda mask, heads: torch.stack([~one for one in mask for _ in range(heads)]),
    },
    check_empty_row: EMPTY_ROWS,
    check_repaired_mask: combined(masked_by, EMPTY_ROWS) | of_whole_texts(decoder) | named(in_one_call),
    check_leak_proofs: named(in_one_batch, with_torchs_own_numbers)
    | {"the reference": prove, "texts without an axis in front": reshaped(8)},
}
