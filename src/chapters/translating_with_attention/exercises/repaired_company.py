"""Repair a decoder that translates well alone, and not in company."""

import math
from typing import Any

import torch
from torch import Tensor

from attnlab.masks import padding
from attnlab.shapes import Lengths
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Part, in_parts
from bookkit.checking.mistakes.weighing import HIDING, softmax
from chapters.translating_with_attention.exercises.padding import _hidden


def _contexts(
    states: Tensor, memory: Tensor, lengths: Lengths, *, weigh: Part = _hidden, mask: Part = padding
) -> Tensor:
    shown = mask(lengths, memory.shape[1])  # (B, 1, S)
    return weigh(states @ memory.mT, shown) @ memory  # type: ignore[no-any-return]


def _as_it_came(states: Tensor, memory: Tensor, lengths: Lengths) -> Tensor:
    memory = memory * padding(lengths, memory.shape[1]).mT
    return softmax(states @ memory.mT) @ memory


def _company(label: str, seed: int, *lengths: int, longest: int, **more: Any) -> Case:
    """States of a decoder and an encoder of 3 numbers; what is behind a sentence's end is not zero."""
    count = len(lengths)
    return Case(label, *draw(seed, (count, 4, 3), (count, longest, 3), **more), whole(*lengths))


def _far_ahead(label: str, seed: int, length: int, longest: int) -> Case:
    """What is behind the end scores so high that a softmax over all leaves the words nothing."""
    states, memory = draw(seed, (2, 4, 3), (2, longest, 3))
    memory[0, length:] *= 200
    return Case(label, states, memory, whole(length, longest))


check_repaired_company = Exercise(
    "repaired_company",
    difficulty=2,
    minutes=10,
    takes=("states", "memory", "lengths"),
    returns=("contexts",),
    reference=_contexts,
    cases=(
        _company("right for a sentence alone", 11, 3, longest=3),
        _company("right for two of one length", 13, 4, 4, longest=4),
        _company("right for a short one beside a long one", 15, 2, 5, longest=5),
        _company("right for four", 17, 3, 1, 6, 2, longest=6),
        _far_ahead("right for a short one beside a long one", 22, 2, 5),
        _company("right in float64", 19, 2, 4, longest=4, dtype=torch.float64),
    ),
    mistakes={
        "still broken": (
            "The fault that it came with is still there. The states of the padding are set to 0, and so are "
            "their scores. What weight does a softmax give to a score of 0?",
            _as_it_came,
        ),
    }
    | in_parts(
        _contexts,
        weigh=HIDING
        | {
            "a large negative number is added to the text": (
                "The number that should lower the padding is added to the text.",
                lambda scores, shown: softmax(scores - 1e4 * shown),
            ),
            "divided again": (
                "The padding is set to 0 after the softmax, and the rest divided by its sum. Right, until "
                "the padding is so far ahead that nothing is left: 0 / 0. Hide it before the softmax.",
                lambda scores, shown: (
                    softmax(scores) * shown / (softmax(scores) * shown).sum(-1, keepdim=True)
                ),
            ),
            "softmax over the queries, NaN": (
                "The softmax runs over the queries. Of a word of padding all scores are -inf, and 0 / 0 is "
                "NaN. The weights of each query must sum to 1: dim=-1.",
                lambda scores, shown: scores.masked_fill(~shown, -math.inf).softmax(-2),
            ),
            "infinite states": (
                "Did you put -inf into the states of the padding? Their scores are infinite with either "
                "sign, and 0 times infinity is NaN. Put it into the scores.",
                lambda scores, shown: torch.where(shown.all(-1, keepdim=True), softmax(scores), math.nan),
            ),
        },
        mask={
            "one word too few": (
                "The last word of each sentence is hidden as well.",
                lambda lengths, longest: padding((lengths - 1).clamp(min=1), longest),
            ),
            "one word too many": (
                "One place too many is seen: of `length` words, the last stands at length - 1.",
                lambda lengths, longest: padding((lengths + 1).clamp(max=longest), longest),
            ),
            "the first length for all": (
                "Each sentence is cut to the length of the first. Use its own length.",
                lambda lengths, longest: padding(lengths[:1].expand_as(lengths), longest),
            ),
            "the shortest for all": (
                "Each sentence is cut to the length of the shortest. Use its own length.",
                lambda lengths, longest: padding(lengths.amin().expand_as(lengths), longest),
            ),
        },
    ),
)
