"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import torch
from torch.nn import functional as F

from attnlab.masks import causal
from bookkit.other_words import named
from chapters.writing_faster.exercises.accepted import check_accepted
from chapters.writing_faster.exercises.behind_a_cache import check_behind_a_cache
from chapters.writing_faster.exercises.best_guesses import check_best_guesses
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


# --- behind_a_cache ---


def with_the_books_mask(query, key, value, kept_keys, kept_values):
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    mask = causal(query.shape[2], keys.shape[2])
    return F.scaled_dot_product_attention(query, keys, values, mask), keys, values


def by_hand(query, key, value, kept_keys, kept_values):
    keys, values = torch.cat([kept_keys, key], -2), torch.cat([kept_values, value], -2)
    scores = query @ keys.mT / query.shape[-1] ** 0.5
    kept, new = kept_keys.shape[-2], key.shape[-2]
    late = torch.arange(kept + new) > torch.arange(kept, kept + new)[:, None]
    return scores.masked_fill(late, -math.inf).softmax(-1) @ values, keys, values


def query_by_query(query, key, value, kept_keys, kept_values):
    """Each alone, with what it may see, so that no mask is needed."""
    keys, values = torch.cat((kept_keys, key), 2), torch.cat((kept_values, value), 2)
    seen = [kept_keys.shape[2] + i + 1 for i in range(query.shape[2])]
    found = [
        F.scaled_dot_product_attention(query[:, :, i : i + 1], keys[:, :, :m], values[:, :, :m])
        for i, m in enumerate(seen)
    ]
    return torch.cat(found, dim=2), keys, values


def with_queries_in_front(query, key, value, kept_keys, kept_values):
    """As many queries as keys, whose first ones nobody asks for: then is_causal is right."""
    keys, values = torch.cat([kept_keys, key], 2), torch.cat([kept_values, value], 2)
    whole = torch.cat([torch.zeros_like(kept_keys), query], 2)
    found = F.scaled_dot_product_attention(whole, keys, values, is_causal=True)
    return found[:, :, kept_keys.shape[2] :], keys, values


# --- best_guesses ---


def by_the_closed_form(chance, cost, most):
    def speed(k):
        pieces = k + 1 if chance == 1 else (1 - chance ** (k + 1)) / (1 - chance)
        return pieces / (1 + k * cost)

    best = max(range(most + 1), key=speed)
    return best, speed(best)


def as_they_come(chance, cost, most):
    best, speed, pieces, power, price = 0, 1.0, 1.0, 1.0, 1.0
    for k in range(1, most + 1):
        power *= chance
        pieces += power
        price += cost
        if pieces / price > speed:
            best, speed = k, pieces / price
    return best, speed


def in_tensors(chance, cost, most):
    k = torch.arange(most + 1, dtype=torch.float64)
    speeds = (chance**k).cumsum(0) / (1 + cost * k)
    return int(speeds.argmax()), float(speeds.max())


ACCEPTED = {
    check_behind_a_cache: named(with_the_books_mask, by_hand, query_by_query, with_queries_in_front),
    check_best_guesses: named(by_the_closed_form, as_they_come, in_tensors),
    check_left_padded: named(place_by_place, by_padding, by_turning_round, in_steps),
    check_accepted: named(one_by_one, all_at_once, with_a_row_of_nothing, by_a_product_that_runs),
}
