"""“Two ways to score”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import math

import exercise_cases
import numpy as np
import torch
from exercise_cases import changed, combined, judged_as, named, weighing_by
from torch import nn
from torch.nn import functional as F

from attnlab import scores
from chapters.two_ways_to_score.exercises import (
    check_additive_scores,
    check_hidden_bytes,
    check_repaired_additive,
    check_score_shapes,
    check_trained_score,
)

attention, bytes_of = check_repaired_additive.reference, check_hidden_bytes.reference
SHAPES = check_score_shapes.shapes


def turned_table(query, key, query_weight, key_weight, vector):
    """The scores of the code to repair, which are right but for (…, m, n)."""
    asked, offered = (query @ query_weight.T).unsqueeze(-3), (key @ key_weight.T).unsqueeze(-2)
    return (asked + offered).tanh() @ vector


def attention_by(score, softmax):
    return weighing_by(lambda *inputs: softmax(score(*inputs)))


broken_attention = attention_by(turned_table, lambda table: table.softmax(-1).mT)


def test_the_shapes_are_what_pytorch_says():
    query, key, weight = torch.rand(8, 50, 32), torch.rand(8, 200, 48), torch.rand(32, 48)
    query_weight, key_weight = torch.rand(64, 32), torch.rand(64, 48)
    vector = torch.rand(64, requires_grad=True)
    names = {"query": query, "key": key, "weight": weight, "query_weight": query_weight, "vector": vector}
    names |= {"asked": query @ query_weight.T, "offered": key @ key_weight.T}
    names["hidden"] = (names["asked"].unsqueeze(-2) + names["offered"].unsqueeze(-3)).tanh()
    names["concat_weight"] = torch.cat([query_weight, key_weight], dim=-1)
    (names["hidden"] @ vector).sum().backward()
    # The one matrix does what the two do, so its shape is the right one.
    torch.testing.assert_close(
        scores.concat(query, key, names["concat_weight"], vector), names["hidden"] @ vector
    )
    exercise_cases.assert_right_shapes(check_score_shapes, names)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_additive, broken_attention, "✓✗✗✗✗✗")


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    shapes = [(6, 3), (4, 3), (4, 5), (8, 3), (8, 3), (8,)]
    inputs = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    wanted = torch.randn(6, 5, generator=generator)
    exercise_cases.assert_trains(lambda: F.mse_loss(broken_attention(*inputs)[0], wanted), *inputs)


# --- right, in other words ---


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
# The smallest repair leaves the scores (…, m, n), and runs over the keys there.
REPAIRS = {"mended at the softmax": attention_by(turned_table, lambda table: table.softmax(-2).mT)}
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
# --- a score that learns: any that does ---


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


class Bilinear(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.eye(2))

    def forward(self, query, key):
        return scores.general(query, key, self.weight).squeeze(-2)


class Squares(nn.Module):
    """No hidden layer: a sum of products of all pairs of components, of the key with itself, too."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(4, 4))

    def forward(self, query, key):
        both = torch.cat([query.expand(-1, 8, -1), key], dim=-1)
        return torch.einsum("nmi,ij,nmj->nm", both, self.weight, both)


def test_who_forgets_the_constant_is_asked_for_it():
    report = check_trained_score.judge(learned(lambda: Hidden(bias=False)))
    assert "a constant inside the tanh?" in exercise_cases.words(report), report


TRAINERS = {
    "a hidden layer": learned(Hidden),
    "a wider one, slower": learned(lambda: Hidden(64), steps=400, rate=0.1),
    "squares": learned(Squares, rate=0.1),
}

RIGHT = {
    check_additive_scores: SCORES,
    check_repaired_additive: REPAIRS
    | combined(attention_by, SCORES, {"torch": nn.Softmax(-1)})
    | combined(attention_by, {"einsum": by_einsum}, exercise_cases.SOFTMAXES)
    | exercise_cases.in_other_words(attention),
    check_hidden_bytes: BYTES,
    check_trained_score: TRAINERS,
}

# --- as learners got it wrong ---


def tanh_first(query, key, query_weight, key_weight, vector):
    asked, offered = (query @ query_weight.T).tanh(), (key @ key_weight.T).tanh()
    return (asked.unsqueeze(-2) + offered.unsqueeze(-3)) @ vector


def axes_from_the_front(query, key, query_weight, key_weight, vector):
    return ((query @ query_weight.T).unsqueeze(1) + (key @ key_weight.T).unsqueeze(0)).tanh() @ vector


def repeats_mixed_up(query, key, query_weight, key_weight, vector):
    n, m, lead = query.shape[-2], key.shape[-2], [1] * (query.dim() - 2)
    asked = (query @ query_weight.T).repeat(*lead, m, 1)  # q1 q2 … q1 q2 …
    offered = (key @ key_weight.T).repeat_interleave(n, dim=-2)  # k1 k1 … k2 k2 …
    return ((asked + offered).tanh() @ vector).reshape(*query.shape[:-2], n, m)


def reshaped_weights(query, key, query_weight, key_weight, vector):
    h = len(vector)
    asked, offered = query @ query_weight.reshape(-1, h), key @ key_weight.reshape(-1, h)
    return (asked.unsqueeze(-2) + offered.unsqueeze(-3)).tanh() @ vector


def as_numbers(*inputs):
    return torch.tensor(by_einsum(*inputs).tolist(), dtype=inputs[0].dtype)


NAMED = {
    check_additive_scores: {
        "tanh of each side": tanh_first,
        "leading axes": axes_from_the_front,
        "in other places": repeats_mixed_up,
        "softmax as well": changed(by_einsum, nn.Softmax(-1)),
        "reshaped": reshaped_weights,
        "no gradient": as_numbers,
    },
    check_score_shapes: {
        "as wide as the query": SHAPES | {"query @ weight": (8, 50, 32)},
        "new axis in front": SHAPES | {"asked.unsqueeze(-2)": (8, 1, 50, 64)},
        "laid end to end": SHAPES
        | {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200, 128), "concat_weight": (128, 80)},
        "axis of length 1 too many": SHAPES | {"hidden @ vector": (8, 50, 200, 1)},
        "axis of length 1 missing": SHAPES | {"asked.unsqueeze(-2)": (8, 50, 64)},
        "concat turned": SHAPES | {"concat_weight": (80, 64)},
        "a vector for each example": SHAPES | {"vector.grad": (8, 64)},
    },
    check_repaired_additive: {
        "weights turned": attention_by(by_einsum, lambda table: table.softmax(-1).mT),
        "rows divided by their sum": attention_by(
            turned_table, lambda table: F.normalize(table.softmax(-1).mT, p=1, dim=-1, eps=0)
        ),
        "query and key swapped": weighing_by(
            lambda query, key, *more: turned_table(key, query, *more).softmax(-1)
        ),
        "reshaped": attention_by(
            turned_table, lambda table: table.reshape(*table.shape[:-2], *table.shape[:-3:-1]).softmax(-1)
        ),
        "dim=1 of the turned scores": attention_by(turned_table, lambda table: table.softmax(1).mT),
        "still broken": attention_by(by_einsum, nn.Softmax(-2)),
    },
    check_hidden_bytes: {
        "chunk larger than all": lambda batch, queries, keys, hidden, chunk: (
            4 * batch * chunk * keys * hidden
        ),
        "numbers, not bytes": lambda *sizes: bytes_of(*sizes) / 4,
        "chunks evened out": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, math.ceil(queries / math.ceil(queries / chunk)), keys, hidden, chunk
        ),
        "chunks of the batch": lambda batch, queries, keys, hidden, chunk: bytes_of(
            1, batch * queries, keys, hidden, chunk
        ),
        "chunks of keys": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, keys, queries, hidden, chunk
        ),
    },
    check_trained_score: {
        "nothing learned": learned(Hidden, steps=1),
        "a product": learned(Bilinear),
        "the plain dot product": lambda query, key, right: lambda query, key: (key @ query.mT).squeeze(-1),
        "too few hidden units": learned(lambda: Hidden(2)),
        "the distance itself": lambda *examples: lambda query, key: -torch.cdist(query, key).squeeze(-2),
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_additive_scores: exercise_cases.faults_of_scores(by_einsum)
    | {
        "last unit dropped": lambda query, key, left, right, vector: by_einsum(
            query, key, left[:-1], right[:-1], vector[:-1]
        ),
        "vector reversed": lambda *inputs: by_einsum(*inputs[:-1], inputs[-1].flip(0)),
        "hard tanh": lambda query, key, left, right, vector: (
            F.hardtanh((query @ left.T).unsqueeze(-2) + (key @ right.T).unsqueeze(-3)) @ vector
        ),
    },
    check_repaired_additive: exercise_cases.faults_of_trainable_attention(attention)
    | {
        "temperature": attention_by(by_einsum, lambda table: (2 * table).softmax(-1)),
        "weights before the softmax": lambda query, key, value, *more: (
            attention(query, key, value, *more)[0],
            by_einsum(query, key, *more),
        ),
    },
    check_hidden_bytes: {
        "scores as well": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, queries, keys, hidden + 1, chunk
        ),
        "sum of the sizes": lambda *sizes: 4 * sum(sizes),
        "one chunk too few": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, queries - 1, keys, hidden, chunk
        ),
    },
    check_trained_score: {
        "a tensor": lambda query, key, right: key[..., 0],
        "a score with an axis too many": lambda *examples: lambda query, key: key @ query.mT,
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
