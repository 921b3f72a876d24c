"""“Two ways to score”: the solutions, many right ways to write them, and faults that no catalogue holds."""

import math

import exercise_cases
import numpy as np
import torch
from exercise_cases import cases, changed, combined, named, weighing_by
from torch.nn import functional as F

from attnlab import scores
from chapters.two_ways_to_score.exercises import (
    ADDITIVE_SCORES,
    HIDDEN_BYTES,
    REPAIRED_ADDITIVE,
    SCORE_SHAPES,
)

# --- the solutions, as the chapter gives them ---


def solved_scores(query, key, query_weight, key_weight, vector):
    asked = query @ query_weight.T
    offered = key @ key_weight.T
    hidden = (asked.unsqueeze(-2) + offered.unsqueeze(-3)).tanh()
    return hidden @ vector


def broken_attention(query, key, value, query_weight, key_weight, vector):
    asked = (query @ query_weight.T).unsqueeze(-3)
    offered = (key @ key_weight.T).unsqueeze(-2)
    scores = (asked + offered).tanh() @ vector
    weights = scores.softmax(-1).mT
    return weights @ value, weights


def solved_attention(query, key, value, query_weight, key_weight, vector):
    weights = solved_scores(query, key, query_weight, key_weight, vector).softmax(-1)
    return weights @ value, weights


def solved_bytes(batch, queries, keys, hidden, chunk):
    return 4 * batch * min(chunk, queries) * keys * hidden


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
    exercise_cases.assert_right_shapes(SCORE_SHAPES, names)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(REPAIRED_ADDITIVE, broken_attention, "✓✗✗✗✗")


def test_the_broken_code_trains_anyway():
    generator = torch.Generator().manual_seed(0)
    shapes = [(6, 3), (4, 3), (4, 5), (8, 3), (8, 3), (8,)]
    inputs = [torch.randn(shape, generator=generator).requires_grad_() for shape in shapes]
    wanted = torch.randn(6, 5, generator=generator)
    exercise_cases.assert_trains(lambda: F.mse_loss(broken_attention(*inputs)[0], wanted), *inputs)


# --- right, in other words ---


def by_concatenating(query, key, query_weight, key_weight, vector):
    asked = query.unsqueeze(-2).expand(*query.shape[:-1], key.shape[-2], -1)
    offered = key.unsqueeze(-3).expand(*asked.shape[:-1], -1)
    pairs = torch.cat([asked, offered], dim=-1)
    return torch.tanh(pairs @ torch.cat([query_weight, key_weight], dim=-1).T) @ vector


def by_hidden_unit(query, key, query_weight, key_weight, vector):
    table = 0
    for row, column, number in zip(query_weight, key_weight, vector, strict=True):
        table = table + number * torch.tanh((query @ row).unsqueeze(-1) + (key @ column).unsqueeze(-2))
    return table


def by_query(query, key, query_weight, key_weight, vector):
    offered = key @ key_weight.T
    rows = [
        (query[..., i : i + 1, :] @ query_weight.T + offered).tanh() @ vector for i in range(query.shape[-2])
    ]
    return torch.stack(rows, dim=-2)


def by_exponentials(query, key, query_weight, key_weight, vector):
    inside = (query @ query_weight.T).unsqueeze(-2) + (key @ key_weight.T).unsqueeze(-3)
    return (2 * torch.sigmoid(2 * inside) - 1) @ vector


def turned_twice(query, key, query_weight, key_weight, vector):
    return solved_scores(key, query, key_weight, query_weight, vector).mT


SCORES = named(solved_scores, by_concatenating, by_hidden_unit, by_query, by_exponentials, turned_twice) | {
    "attnlab": scores.additive,
    "attnlab, lean": lambda *inputs: scores.additive(*inputs, chunk=2),
    "attnlab's concat": lambda query, key, left, right, vector: scores.concat(
        query, key, torch.cat([left, right], dim=-1), vector
    ),
    "einsum": lambda query, key, left, right, vector: torch.einsum(
        "...nmh,h->...nm",
        torch.tanh(
            torch.einsum("...nd,hd->...nh", query, left)[..., :, None, :]
            + torch.einsum("...md,hd->...mh", key, right)[..., None, :, :]
        ),
        vector,
    ),
    "linear": lambda query, key, left, right, vector: F.linear(
        (F.linear(query, left).unsqueeze(-2) + F.linear(key, right).unsqueeze(-3)).tanh(), vector[None]
    ).squeeze(-1),
    "multiplied and summed": lambda query, key, left, right, vector: (
        vector * ((query @ left.mT).unsqueeze(-2) + (key @ right.mT).unsqueeze(-3)).tanh()
    ).sum(-1),
    "in float64": lambda query, *others: solved_scores(
        query.double(), *(other.double() for other in others)
    ).to(query.dtype),
}


def attention_by(score, softmax):
    return weighing_by(lambda *inputs: softmax(score(*inputs)))


def mended_at_the_softmax(query, key, value, query_weight, key_weight, vector):
    """The smallest repair: the scores stay (…, m, n), and the softmax runs over the keys, dim=-2."""
    asked = (query @ query_weight.T).unsqueeze(-3)
    offered = (key @ key_weight.T).unsqueeze(-2)
    weights = ((asked + offered).tanh() @ vector).softmax(-2).mT
    return weights @ value, weights


ATTENTION = (
    named(solved_attention, mended_at_the_softmax)
    | combined(
        attention_by, SCORES, exercise_cases.SOFTMAXES | {"turned": lambda table: table.mT.softmax(-2).mT}
    )
    | exercise_cases.in_other_words(solved_attention)
)
BYTES = {
    "solution": solved_bytes,
    "conditional": lambda batch, queries, keys, hidden, chunk: (
        batch * (queries if queries < chunk else chunk) * keys * hidden * 4
    ),
    "bits": lambda batch, queries, keys, hidden, chunk: (
        32 * math.prod((batch, min(queries, chunk), keys, hidden)) / 8
    ),
    "numpy": lambda batch, queries, keys, hidden, chunk: (
        np.dtype("float32").itemsize * np.minimum(chunk, queries) * batch * keys * hidden
    ),
    "measured": lambda batch, queries, keys, hidden, chunk: (
        torch.empty(batch, queries, keys, hidden, device="meta")[:, :chunk].contiguous().nbytes
    ),
    "largest chunk": lambda batch, queries, keys, hidden, chunk: max(
        4 * batch * (min(start + chunk, queries) - start) * keys * hidden
        for start in range(0, queries, chunk)
    ),
}


@cases((ADDITIVE_SCORES, SCORES), (REPAIRED_ADDITIVE, ATTENTION), (HIDDEN_BYTES, BYTES))
def test_right_code_is_accepted(exercise, code):
    exercise_cases.assert_accepted(exercise, code)


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN_SCORES = exercise_cases.faults_of_scores(solved_scores) | {
    "last unit dropped": lambda query, key, left, right, vector: solved_scores(
        query, key, left[:-1], right[:-1], vector[:-1]
    ),
    "vector reversed": lambda query, key, left, right, vector: solved_scores(
        query, key, left, right, vector.flip(0)
    ),
    "bias": lambda query, key, left, right, vector: (
        ((query @ left.T).unsqueeze(-2) + (key @ right.T).unsqueeze(-3) + 1).tanh() @ vector
    ),
    "hard tanh": lambda query, key, left, right, vector: (
        F.hardtanh((query @ left.T).unsqueeze(-2) + (key @ right.T).unsqueeze(-3)) @ vector
    ),
    "tanh twice": lambda query, key, left, right, vector: (
        ((query @ left.T).unsqueeze(-2) + (key @ right.T).unsqueeze(-3)).tanh().tanh() @ vector
    ),
}
UNKNOWN_ATTENTION = exercise_cases.faults_of_trainable_attention(solved_attention) | {
    "temperature": attention_by(solved_scores, lambda table: (2 * table).softmax(-1)),
    "tanh again": attention_by(solved_scores, lambda table: table.tanh().softmax(-1)),
    "weights before the softmax": lambda query, key, value, *rest: (
        solved_attention(query, key, value, *rest)[0],
        solved_scores(query, key, *rest),
    ),
}
UNKNOWN_BYTES = {
    "one too many": changed(solved_bytes, lambda count: count + 1),
    "nothing": lambda *sizes: 0,
    "scores as well": lambda batch, queries, keys, hidden, chunk: (
        4 * batch * min(chunk, queries) * keys * (hidden + 1)
    ),
    "sum of the sizes": lambda *sizes: 4 * sum(sizes),
    "kilobytes": changed(solved_bytes, lambda count: count / 1024),
    "one chunk too few": lambda batch, queries, keys, hidden, chunk: (
        4 * batch * min(chunk, queries - 1) * keys * hidden
    ),
    "not a number": lambda *sizes: math.nan,
}


@cases(
    (ADDITIVE_SCORES, UNKNOWN_SCORES),
    (REPAIRED_ADDITIVE, UNKNOWN_ATTENTION),
    (HIDDEN_BYTES, UNKNOWN_BYTES),
)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    exercise_cases.assert_rejected_without_a_name(exercise, code)
