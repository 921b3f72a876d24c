"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from attnlab import scores
from bookkit.other_words import SOFTMAXES, combined, in_other_words, named, weighing_by
from chapters.two_ways_to_score.exercises import (
    check_additive_scores,
    check_hidden_bytes,
    check_repaired_additive,
    check_trained_score,
)

# --- shared ---


def turned_table(query, key, query_weight, key_weight, vector):
    """The scores of the code to repair, which are right but for (…, m, n)."""
    asked, offered = (query @ query_weight.T).unsqueeze(-3), (key @ key_weight.T).unsqueeze(-2)
    return (asked + offered).tanh() @ vector


def attention_by(score, softmax):
    return weighing_by(lambda *inputs: softmax(score(*inputs)))


def by_hidden_unit(query, key, query_weight, key_weight, vector):
    units = zip(query_weight, key_weight, vector, strict=True)
    return sum(v * ((query @ w).unsqueeze(-1) + (key @ u).unsqueeze(-2)).tanh() for w, u, v in units)


def by_exponentials(query, key, query_weight, key_weight, vector):
    inside = (query @ query_weight.T).unsqueeze(-2) + (key @ key_weight.T).unsqueeze(-3)
    return (2 * torch.sigmoid(2 * inside) - 1) @ vector


def by_einsum(query, key, query_weight, key_weight, vector):
    asked = torch.einsum("...nd,hd->...nh", query, query_weight)[..., :, None, :]
    offered = torch.einsum("...md,hd->...mh", key, key_weight)[..., None, :, :]
    return torch.einsum("...nmh,h->...nm", torch.tanh(asked + offered), vector)


class KeyByKey(nn.Module):
    """The query is put beside each key, and one matrix reads both."""

    def forward(self, query, key, query_weight, key_weight, vector):
        weight = torch.cat([query_weight, key_weight], dim=1)
        columns = []
        for one in key.split(1, dim=-2):  # (…, 1, d_k)
            pairs = torch.cat([query, one.expand(*query.shape[:-1], -1)], dim=-1)
            columns.append(F.linear(F.linear(pairs, weight).tanh(), vector[None]))
        return torch.cat(columns, dim=-1)


SCORES = named(by_hidden_unit, by_exponentials, by_einsum) | {
    "a module, key by key": KeyByKey(),
    "turned": lambda *inputs: turned_table(*inputs).mT,
    "attnlab, lean": lambda *inputs: scores.additive(*inputs, chunk=2),
    "attnlab's concat": lambda query, key, left, right, vector: scores.concat(
        query, key, torch.cat([left, right], dim=-1), vector
    ),
}


# --- repaired_additive ---


attention = check_repaired_additive.reference
# The smallest repair leaves the scores (…, m, n), and runs over the keys there.
REPAIRS = {"mended at the softmax": attention_by(turned_table, lambda table: table.softmax(-2).mT)}


# --- hidden_bytes ---


BYTES = {
    "numpy": lambda batch, queries, keys, hidden, chunk: (
        np.dtype("float32").itemsize * np.minimum(chunk, queries) * batch * keys * hidden
    ),
    "measured": lambda batch, queries, keys, hidden, chunk: (
        torch.empty(batch, queries, keys, hidden, device="meta")[:, :chunk].contiguous().nbytes
    ),
    "largest chunk": lambda batch, queries, keys, hidden, chunk: max(
        4 * batch * keys * hidden * len(range(queries)[start : start + chunk])
        for start in range(0, queries, chunk)
    ),
}


# --- trained_score ---


class Hidden(nn.Module):
    """A hidden layer that reads query and key end to end."""

    def __init__(self, units=24, bias=True):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        drawn = [2 * torch.rand(shape, generator=generator) - 1 for shape in ((4, units), (units,), (units,))]
        self.inner, self.outer = nn.Parameter(drawn[0]), nn.Parameter(drawn[1])
        self.bias = nn.Parameter(drawn[2]) if bias else 0

    def forward(self, query, key):
        both = torch.cat([query.expand(-1, 8, -1), key], dim=-1)  # (…, 8, 4)
        return (both @ self.inner + self.bias).tanh() @ self.outer


def learned(make, steps=200, rate=0.5):
    """Plain gradient descent on all the examples of a step at once."""

    def train(query, key, right):
        score = make()
        numbers = [*score.parameters()]
        for step in range(steps):
            some = slice(300 * (step % 10), 300 * (step % 10) + 300)
            loss = F.cross_entropy(score(query[some], key[some]), right[some])
            gradients = torch.autograd.grad(loss, numbers)
            with torch.no_grad():
                for number, gradient in zip(numbers, gradients, strict=True):
                    number -= rate * gradient
        return score

    return train


class Squares(nn.Module):
    """No hidden layer: a sum of products of all pairs of components, of the key with itself, too."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4, 4))

    def forward(self, query, key):
        both = torch.cat([query.expand(-1, 8, -1), key], dim=-1)
        return torch.einsum("nmi,ij,nmj->nm", both, self.weight, both)


TRAINERS = {
    "a hidden layer": learned(Hidden),
    "a wider one, slower": learned(lambda: Hidden(64), steps=400, rate=0.1),
    "squares": learned(Squares, rate=0.1),
}
ACCEPTED = {
    check_additive_scores: SCORES,
    check_repaired_additive: REPAIRS
    | combined(attention_by, SCORES, {"torch": nn.Softmax(-1)})
    | combined(attention_by, {"einsum": by_einsum}, SOFTMAXES)
    | in_other_words(attention),
    check_hidden_bytes: BYTES,
    check_trained_score: TRAINERS,
}
