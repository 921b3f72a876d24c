"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math
import statistics
from collections import Counter

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from bookkit.other_words import named
from chapters.is_it_any_good.exercises import check_beat_the_book, check_memory, check_power_law, check_top_p
from chapters.is_it_any_good.exercises.beat_the_book_mistakes import knowing, pieces
from chapters.is_it_any_good.exercises.beat_the_book_parts import measured

# --- top_p ---


def row_by_row(logits, temperature, p):
    out = torch.zeros_like(logits)
    for row, into in zip((logits / temperature).softmax(-1), out, strict=True):
        total = 0.0
        for place in row.argsort(descending=True).tolist():
            if total >= p:
                break
            into[place] = row[place]
            total += float(row[place])
        into /= into.sum()
    return out


def by_masked_logits(logits, temperature, p):
    logits = logits / temperature
    ordered, places = logits.softmax(-1).sort(dim=-1, descending=True)
    goes = ordered.cumsum(-1) - ordered >= p
    goes = torch.zeros_like(goes).scatter(-1, places, goes)
    return logits.masked_fill(goes, -torch.inf).softmax(-1)


def sorted_and_scattered(logits, temperature, p):
    shares = (logits / temperature).softmax(-1)
    ordered, places = torch.sort(shares, dim=-1, descending=True)
    kept = torch.where(ordered.cumsum(-1) - ordered < p, ordered, torch.zeros_like(ordered))
    return torch.zeros_like(shares).scatter(-1, places, kept / kept.sum(-1, keepdim=True))


def from_below(logits, temperature, p):
    """As Hugging Face’s library does: what comes to 1 - p, added up from the least likely, goes."""
    logits = logits / temperature
    ordered, places = torch.sort(logits)
    goes = ordered.softmax(-1).cumsum(-1) <= 1 - p
    goes[:, -1] = False
    return logits.masked_fill(goes.scatter(1, places, goes), -torch.inf).softmax(-1)


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


def by_polyfit_in_base_10(updates, bits, asked):
    b, height = np.polyfit(np.log10(updates.numpy()), np.log10(bits.numpy()), 1)
    return 10**height, b, 10 ** (height + b * np.log10(asked))


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


def by_sums(updates, bits, asked):
    n, x, y = len(updates), updates.log(), bits.log()
    b = (n * (x * y).sum() - x.sum() * y.sum()) / (n * (x * x).sum() - x.sum() ** 2)
    a = torch.exp((y.sum() - b * x.sum()) / n)
    return a, b, a * asked**b


def by_the_normal_equations(updates, bits, asked):
    columns = torch.stack([updates.log(), torch.ones(len(updates)).double()], -1)
    b, height = torch.linalg.solve(columns.T @ columns, columns.T @ bits.log())
    return torch.exp(height), b, torch.exp(height) * asked**b


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
    check_top_p: named(row_by_row, by_masked_logits, from_below, sorted_and_scattered),
    check_memory: named(place_by_place, by_a_counter, as_attention, by_adding_up),
    check_power_law: named(
        by_lstsq,
        by_polyfit,
        by_polyfit_in_base_10,
        in_base_2,
        by_the_covariance,
        by_sums,
        by_the_normal_equations,
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
