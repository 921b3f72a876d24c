"""The exercise `soft_lookup`, tried as readers would."""

import functools
from collections import namedtuple

import exercise_cases
import torch
from exercise_cases import combined, judged_as, weighing_by
from torch.nn import functional as F

from chapters.what_is_attention.exercises import (
    check_soft_lookup,
)

lookup = check_soft_lookup.reference


def lookup_by(product, softmax):
    return weighing_by(lambda query, key, temperature: softmax(product(query, key) / temperature))


Lookup = namedtuple("Lookup", "output weights")


class FusedLookup(torch.nn.Module):
    def forward(self, query, key, value, temperature):
        return Lookup(*exercise_cases.fused(query, key, value, scale=1 / temperature))


LOOKUPS = (
    combined(lookup_by, exercise_cases.PRODUCTS, exercise_cases.SOFTMAXES)
    | exercise_cases.in_other_words(lookup)
    | {
        "fused, a module, a namedtuple": FusedLookup(),
        "cooled query": lambda query, key, value, temperature: lookup(query / temperature, key, value, 1),
    }
)


def lookup_weighing(weigh):
    return weighing_by(lambda query, key, temperature: weigh(query @ key.mT / temperature))


def without_keepdim(scores):
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1)


RIGHT = {check_soft_lookup: LOOKUPS}


NAMED = {
    check_soft_lookup: {
        "overflow": lookup_weighing(lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True)),
        "one maximum for all": lookup_weighing(
            lambda scores: F.normalize((scores - scores.max()).exp(), p=1, dim=-1, eps=0)
        ),
        "softmax over dim=1": lookup_weighing(functools.partial(torch.softmax, dim=1)),
        "multiplied": lambda query, key, value, temperature: lookup(query, key, value, 1 / temperature),
        "changes its inputs": lambda query, key, value, temperature: lookup(
            query.div_(temperature), key, value, 1
        ),
        "sum without keepdim": lookup_weighing(without_keepdim),
    }
}


UNKNOWN = {
    check_soft_lookup: exercise_cases.faults_of_attention(lookup)
    | {
        "weights before the softmax": lambda query, key, value, temperature: (
            lookup(query, key, value, temperature)[0],
            query @ key.mT / temperature,
        ),
        "temperature plus one": lambda query, key, value, temperature: lookup(
            query, key, value, temperature + 1
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
