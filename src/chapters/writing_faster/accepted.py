"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import torch
from torch.nn import functional as F

from bookkit.other_words import named
from chapters.writing_faster.exercises.accepted import check_accepted
from chapters.writing_faster.exercises.left_padded import check_left_padded

# --- left_padded ---


def place_by_place(rows, filler):
    longest = max(len(row) for row in rows)
    ids = torch.full((len(rows), longest), filler)
    visible = torch.zeros(len(rows), longest, longest, dtype=torch.bool)
    places = torch.zeros_like(ids)
    for b, row in enumerate(rows):
        start = longest - len(row)
        for i in range(longest):
            if i < start:
                visible[b, i, i] = True
                continue
            ids[b, i] = row[i - start]
            places[b, i] = i - start
            visible[b, i, start : i + 1] = True
    return ids, visible, places


def by_padding(rows, filler):
    longest = max(map(len, rows))
    ids = torch.stack([F.pad(torch.tensor(row), (longest - len(row), 0), value=filler) for row in rows])
    text = torch.stack([F.pad(torch.ones(len(row)), (longest - len(row), 0)) for row in rows]).bool()
    square = torch.ones(longest, longest).bool()
    visible = (text[:, None, :] & square.tril()) | (torch.eye(longest).bool() & ~text[:, :, None])
    return ids, visible, (text.long().cumsum(-1) - 1).clamp_min(0)


def by_turning_round(rows, filler):
    turned = [torch.tensor(row[::-1]) for row in rows]
    ids = torch.nn.utils.rnn.pad_sequence(turned, batch_first=True, padding_value=filler).flip(1)
    lengths = torch.tensor([len(row) for row in rows])
    places = torch.arange(ids.shape[1]) - (ids.shape[1] - lengths[:, None])
    i, j = places[:, :, None], places[:, None, :]
    visible = torch.where(i < 0, i == j, (j >= 0) & (j <= i))
    return ids, visible, places.relu()


def in_steps(rows, filler):
    longest = max(map(len, rows))
    ids = torch.tensor([[filler] * (longest - len(row)) + row for row in rows])
    text = torch.tensor([[False] * (longest - len(row)) + [True] * len(row) for row in rows])
    visible = text[:, None] & torch.ones(longest, longest).tril().bool() | torch.diag_embed(~text)
    return ids, visible, torch.where(text, text.cumsum(1) - 1, 0)


# --- accepted ---


def one_by_one(p, q, guesses, u):
    kept = 0
    for large, small, guess, number in zip(p, q, guesses.tolist(), u, strict=False):
        if number >= min(1, large[guess] / small[guess]):
            left = torch.relu(large - small)
            return kept, left / left.sum()
        kept += 1
    return kept, p[kept]


def all_at_once(p, q, guesses, u):
    places = torch.arange(len(q))
    refused = u * q[places, guesses] >= p[places, guesses]
    kept = torch.argmax(torch.cat([refused, torch.tensor([True])]).int())
    if kept == len(q):
        return kept, p[-1]
    left = torch.where(p[kept] > q[kept], p[kept] - q[kept], 0)
    return kept, left / left.sum()


def with_a_row_of_nothing(p, q, guesses, u):
    """Behind the guesses the small model says nothing, so that all of p is left."""
    q = torch.cat([q, torch.zeros_like(q[:1])])
    kept = 0
    while kept < len(guesses) and u[kept] < p[kept, guesses[kept]] / q[kept, guesses[kept]]:
        kept += 1
    left = torch.maximum(p[kept] - q[kept], torch.zeros(()))
    return torch.tensor(kept), left.div(left.sum())


def by_a_product_that_runs(p, q, guesses, u):
    rows = torch.arange(len(guesses))
    kept = int((u < p[rows, guesses] / q[rows, guesses]).int().cumprod(0).sum())
    if kept == len(guesses):
        return kept, p[-1]
    rest = (p[kept] - q[kept]).clamp(min=0)
    return kept, rest / rest.sum()


ACCEPTED = {
    check_left_padded: named(place_by_place, by_padding, by_turning_round, in_steps),
    check_accepted: named(one_by_one, all_at_once, with_a_row_of_nothing, by_a_product_that_runs),
}
