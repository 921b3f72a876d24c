"""The exercise `table_gradient`, tried as readers would."""

import numpy as np
import pytest
import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from chapters.from_words_to_vectors.exercises import (
    check_table_gradient,
)

gradient = check_table_gradient.reference


def by_autograd(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1], requires_grad=True)
    return torch.autograd.grad((table[ids] * incoming).sum(), table)[0]


def by_one_hot(ids, incoming, vocabulary):
    return F.one_hot(ids, vocabulary).to(incoming.dtype).T @ incoming


def by_numpy(ids, incoming, vocabulary):
    table = np.zeros((vocabulary, incoming.shape[-1]), dtype=np.float32)
    np.add.at(table, ids.numpy(), incoming.numpy())
    return torch.from_numpy(table)


def overwritten(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1])
    table[ids] = incoming
    return table


def row_by_row(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1])
    for place in range(len(ids)):
        table[place % vocabulary] += incoming[place]
    return table


def by_backward(ids, incoming, vocabulary):
    embedding = torch.nn.Embedding(vocabulary, incoming.shape[-1])
    embedding(ids).backward(incoming)
    return embedding.weight.grad


def by_its_function(ids, incoming, vocabulary):
    table = torch.zeros(vocabulary, incoming.shape[-1], requires_grad=True)
    torch.autograd.backward(table[ids], incoming)
    return table.grad


def by_vjp(ids, incoming, vocabulary):
    return torch.func.vjp(lambda table: table[ids], torch.zeros(vocabulary, incoming.shape[-1]))[1](incoming)[
        0
    ]


@pytest.mark.parametrize("answer", [by_autograd, by_backward, by_its_function, by_vjp])
def test_whoever_asks_autograd_is_told_to_write_it_out(answer):
    report = check_table_gradient.judge(answer)
    assert not report.passed, report
    assert report.mistake == "autograd", report


RIGHT = {check_table_gradient: named(by_one_hot, by_numpy)}


NAMED = {
    check_table_gradient: {
        "the last one wins": overwritten,
        "places for numbers": row_by_row,
        "a row for each place": lambda ids, incoming, vocabulary: incoming * 1,
        "divided by the length": lambda ids, incoming, vocabulary: (
            by_one_hot(ids, incoming, vocabulary) / len(ids)
        ),
        "how often": lambda ids, incoming, vocabulary: (
            torch.bincount(ids, minlength=vocabulary)[:, None].expand(-1, incoming.shape[-1]).float()
        ),
    }
}


UNKNOWN = {
    check_table_gradient: {
        "the first one wins": lambda ids, incoming, vocabulary: overwritten(
            ids.flip(0), incoming.flip(0), vocabulary
        ),
        "upside down": changed(gradient, lambda table: table.flip(0)),
        "negative": changed(gradient, torch.neg),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
