"""Answers to the exercises of *queries keys and values that learn* that several of its tests begin with."""

import functools
import math

import exercise_cases
import torch
from exercise_cases import combined
from torch.nn import functional as F

from chapters.queries_keys_and_values_that_learn.exercises import (
    check_self_attention,
)

attention = check_self_attention.reference


def broken_attention(words, to_query, to_key, to_value):
    query = words @ to_query
    key = words @ to_query
    weights = (query @ key.mT).softmax(-1)
    return weights @ (words @ to_value), weights


def attention_by(product, softmax):
    def code(words, to_query, to_key, to_value):
        weights = softmax(product(words @ to_query, words @ to_key))
        return weights @ (words @ to_value), weights

    return code


def by_one_matrix(words, to_query, to_key, to_value):
    weights = (words @ (to_query @ to_key.mT) @ words.mT).softmax(-1)
    return weights @ words @ to_value, weights


def by_linear(words, to_query, to_key, to_value):
    query, key, value = (F.linear(words, each.mT) for each in (to_query, to_key, to_value))
    weights = (query @ key.mT).softmax(-1)
    return weights @ value, weights


def all_at_once(words, to_query, to_key, to_value):
    widths = [each.shape[-1] for each in (to_query, to_key, to_value)]
    query, key, value = (words @ torch.cat([to_query, to_key, to_value], -1)).split(widths, -1)
    return exercise_cases.fused(query, key, value, scale=1.0)


def word_by_word(words, to_query, to_key, to_value):
    key, value = words @ to_key, words @ to_value
    rows = [(key @ (words[..., [place], :] @ to_query).mT).mT.softmax(-1) for place in range(words.shape[-2])]
    weights = torch.cat(rows, -2)
    return weights @ value, weights


ATTENTIONS = combined(attention_by, exercise_cases.PRODUCTS, exercise_cases.SOFTMAXES) | exercise_cases.named(
    by_one_matrix, by_linear, all_at_once, word_by_word
)


WRONG_ATTENTIONS = {
    "keys and queries swapped": lambda words, to_query, to_key, to_value: attention(
        words, to_key, to_query, to_value
    ),
    "values not projected": lambda words, to_query, to_key, to_value: (
        attention(words, to_query, to_key, to_value)[1] @ words,
        attention(words, to_query, to_key, to_value)[1],
    ),
    "keys mixed": lambda words, to_query, to_key, to_value: attention(words, to_query, to_key, to_key),
    "scaled": lambda words, to_query, to_key, to_value: attention(
        words, to_query / math.sqrt(to_query.shape[-1]), to_key, to_value
    ),
    "softmax over the queries": attention_by(
        exercise_cases.PRODUCTS["mT"], functools.partial(torch.softmax, dim=-2)
    ),
    "softmax over dim=1": attention_by(
        exercise_cases.PRODUCTS["mT"], functools.partial(torch.softmax, dim=1)
    ),
    "every axis turned": attention_by(
        lambda query, key: query @ key.permute(*range(key.dim())[::-1]), exercise_cases.SOFTMAXES["torch"]
    ),
    "results swapped": lambda *inputs: attention(*inputs)[::-1],
}


def reweighted(change):
    def code(words, to_query, to_key, to_value):
        weights = change(attention(words, to_query, to_key, to_value)[1])
        return weights @ (words @ to_value), weights

    return code


FAULTS = {name: reweighted(change) for name, change in exercise_cases.WEIGHT_CHANGES.items()} | {
    "output alone": lambda *inputs: attention(*inputs)[0],
    "last word forgotten": lambda words, *matrices: attention(words[..., :-1, :], *matrices),
    "matrices halved": lambda words, *matrices: attention(words, *(each / 2 for each in matrices)),
    "one added": lambda words, to_query, to_key, to_value: attention(words, to_query + 1, to_key, to_value),
    "weights detached": lambda *inputs: (attention(*inputs)[0], attention(*inputs)[1].detach()),
}
