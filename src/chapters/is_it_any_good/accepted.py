"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math
import statistics
from collections import Counter

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from attnlab.training.run import bits_per_byte
from bookkit.other_words import named
from chapters.is_it_any_good.exercises import (
    check_beat_the_book,
    check_memory,
    check_power_law,
    check_repaired_validation,
)
from chapters.is_it_any_good.exercises.beat_the_book_mistakes import knowing, pieces
from chapters.is_it_any_good.exercises.beat_the_book_parts import measured

# --- repaired_validation ---


def mended(model, row, length, text_bytes):
    before = model.training
    model.eval()
    nats = []
    for at in range(0, len(row) - 1, length):
        targets = row[at + 1 : at + length + 1]
        with torch.no_grad():
            logits = model(row[None, at : at + len(targets)])[0]
        nats.append(F.cross_entropy(logits, targets, reduction="none"))
    model.train(before)
    return bits_per_byte(torch.cat(nats), text_bytes)


def one_id_at_a_time(model, row, length, text_bytes):
    was, bits = model.training, 0.0
    model.eval()
    for place in range(1, len(row)):
        start = (place - 1) // length * length
        shares = model(row[None, start:place])[0, -1].softmax(-1)
        bits -= math.log2(shares[row[place]].item())
    model.train(was)
    return bits / text_bytes


# --- memory ---


def place_by_place(ids, vocabulary, share):
    counts = torch.zeros(vocabulary, dtype=torch.float64)
    for place in range(len(ids) - 1):
        if ids[place] == ids[-1]:
            counts[ids[place + 1]] += 1
    if counts.sum() == 0:
        return torch.ones(vocabulary, dtype=torch.float64) / vocabulary
    return share * counts / counts.sum() + (1 - share) / vocabulary


def by_a_counter(ids, vocabulary, share):
    *earlier, last = ids.tolist()
    counts = Counter(
        after for before, after in zip(earlier, [*earlier[1:], last], strict=True) if before == last
    )
    share = share if counts else 0.0
    total = max(1, counts.total())
    chances = [(1 - share) / vocabulary + share * counts[each] / total for each in range(vocabulary)]
    return torch.tensor(chances, dtype=torch.float64)


def as_attention(ids, vocabulary, share):
    """The last id asks, the earlier ones answer to it, and what came next is brought."""
    values = F.one_hot(ids, vocabulary).double()  # (T, vocabulary)
    alike = torch.full((vocabulary,), 1 / vocabulary, dtype=torch.float64)
    scores = (values[:-1] @ values[-1]).log()  # 0 where it is the same id, else minus infinity
    if scores.isinf().all():
        return alike
    return torch.lerp(alike, scores.softmax(-1) @ values[1:], share)


def by_adding_up(ids, vocabulary, share):
    places = (ids[:-1] == ids[-1]).nonzero().flatten()
    if places.numel() == 0:
        share = 0.0
    chances = torch.full((vocabulary,), (1 - share) / vocabulary, dtype=torch.float64)
    portions = torch.full((places.numel(),), share / max(1, places.numel()), dtype=torch.float64)
    return chances.index_add(0, ids[places + 1], portions)


# --- power_law ---


def by_lstsq(updates, bits, asked):
    columns = torch.stack([torch.ones_like(updates), updates.log()], dim=-1)  # (n, 2)
    height, b = torch.linalg.lstsq(columns, bits.log().unsqueeze(-1)).solution.flatten()
    return height.exp(), b, (height + b * math.log(asked)).exp()


def by_polyfit(updates, bits, asked):
    b, height = np.polyfit(np.log(updates.numpy()), np.log(bits.numpy()), 1)
    return np.exp(height), b, np.exp(height) * asked**b


def in_base_2(updates, bits, asked):
    x, y = updates.log2(), bits.log2()
    b = ((x - x.mean()) * (y - y.mean())).mean() / x.var(correction=0)
    a = 2 ** (y.mean() - b * x.mean())
    return [a, b, a * asked**b]


def by_the_covariance(updates, bits, asked):
    spread = torch.cov(torch.stack([updates.log(), bits.log()]))  # (2, 2)
    b = spread[0, 1] / spread[0, 0]
    a = (bits.log().mean() - b * updates.log().mean()).exp()
    return a.item(), b.item(), (a * asked**b).item()


def without_tensors(updates, bits, asked):
    b, height = statistics.linear_regression(
        *([math.log(each) for each in side.tolist()] for side in (updates, bits))
    )
    return math.exp(height), b, math.exp(height) * asked**b


def in_float32(updates, bits, asked):
    return by_lstsq(updates.float(), bits.float(), asked)


# --- beat_the_book ---


class Said(nn.Module):
    """Something else than the model that passes."""

    context = 128

    def __init__(self, change):
        super().__init__()
        self.change, self.normed = change, nn.BatchNorm1d(1)

    def forward(self, ids):
        return self.change(knowing()(ids), self.training)


def handed(model, tell=lambda bits: bits):
    """With the number that the check measures."""
    return lambda: (model, pieces(), tell(measured(model, pieces(), getattr(model, "context", 128)).bits))


ACCEPTED = {
    check_repaired_validation: named(mended, one_id_at_a_time),
    check_memory: named(place_by_place, by_a_counter, as_attention, by_adding_up),
    check_power_law: named(
        by_lstsq,
        by_polyfit,
        in_base_2,
        by_the_covariance,
        without_tensors,
        in_float32,
    ),
    check_beat_the_book: {
        "a list, and a tensor": lambda: [*handed(knowing())()[:2], torch.tensor(handed(knowing())()[2])],
        "a number that is a little off": lambda: handed(knowing(), lambda bits: bits + 0.015)(),
        "logarithms of chances": handed(Said(lambda logits, training: logits.log_softmax(-1))),
        "drawn while it is asked": lambda: (torch.rand(3), *handed(knowing())())[1:],
    },
}
