"""Compute the alignment error rate of one sentence."""

import torch
from torch import Tensor

from attnlab.shapes import Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import exact
from bookkit.checking.mistakes import Part, in_parts


def _error_rate(
    weights: Weights,
    gold: Tensor,
    *,
    links: Part = lambda weights: (weights.argmax(-1, keepdim=True), -1),
    rate: Part = lambda hits, ours, golden: 1 - 2 * hits / (ours + golden),
) -> float:
    place, axis = links(weights)
    ours = torch.zeros_like(gold).scatter(axis, place, value=True)
    return float(rate((ours & gold).sum().item(), ours.sum().item(), gold.sum().item()))


def _above_half(weights: Weights, gold: Tensor) -> float:
    ours = weights > 0.5
    return float(1 - 2 * (ours & gold).sum() / (ours.sum() + gold.sum()))


def _truths(*rows: list[int]) -> Tensor:
    return torch.tensor(rows, device="cpu").bool()


# Its last word looks at the first one of English, where gold has two words for it.
_THREE_WORDS = exact([0.1, 0.8, 0.1], [0.1, 0.7, 0.2], [0.4, 0.35, 0.25])


_FOUR_WORDS = exact([0.6, 0.2, 0.1, 0.1], [0.3, 0.2, 0.1, 0.4], [0.1, 0.1, 0.5, 0.3], [0.4, 0.3, 0.2, 0.1])


check_alignment_error_rate = Exercise(
    "alignment_error_rate",
    difficulty=2,
    minutes=15,
    takes=("weights", "gold"),
    returns=("rate",),
    reference=_error_rate,
    cases=(
        Case("right for the cat", _THREE_WORDS, _truths([1, 0, 0], [0, 1, 0], [0, 0, 1])),
        Case("right for two words in one", _THREE_WORDS[1:], _truths([0, 1, 0], [1, 0, 1])),
        Case(
            "right for one word in two",
            _FOUR_WORDS,
            _truths([1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0], [1, 0, 0, 0]),
        ),
        Case("right where all is wrong", _THREE_WORDS, _truths([1, 0, 0], [0, 0, 1], [0, 1, 1])),
        Case(
            "right for a word that gold links to none", _THREE_WORDS, _truths([0, 0, 0], [0, 1, 0], [1, 0, 0])
        ),
    ),
    mistakes=in_parts(
        _error_rate,
        links={
            "strongest for each English word": (
                "You take the strongest weight of each column. It is the written word that looks: one link "
                "for each row, argmax(-1).",
                lambda weights: (weights.argmax(0, keepdim=True), 0),
            ),
            "two links for each word": (
                "You take the two strongest weights of each row. One link for each row is asked for.",
                lambda weights: (weights.topk(2, dim=-1).indices, -1),
            ),
            "weakest weight": (
                "You take the smallest weight of each row as its link. The strongest is its link.",
                lambda weights: (weights.argmin(-1, keepdim=True), -1),
            ),
        },
        rate={
            "precision": (
                "This is the share of our links that are not gold. Links of gold that we miss count, too: "
                "divide twice the hits by the number of all links, ours and gold's.",
                lambda hits, ours, golden: 1 - hits / ours,
            ),
            "recall": (
                "This is the share of gold's links that we miss. Our own wrong links count, too: divide "
                "twice the hits by the number of all links, ours and gold's.",
                lambda hits, ours, golden: 1 - hits / golden,
            ),
            "share right": (
                "This is how much is right. The error rate is 1 minus that.",
                lambda hits, ours, golden: 2 * hits / (ours + golden),
            ),
            "hits counted once": (
                "A hit is a link of ours and a link of gold, and both are counted below: "
                "above it counts twice.",
                lambda hits, ours, golden: 1 - hits / (ours + golden),
            ),
            "links in either": (
                "You divide by the links that are in either. A hit would count once there; divide twice the "
                "hits by the number of our links plus the number of gold's.",
                lambda hits, ours, golden: 1 - hits / (ours + golden - hits),
            ),
            "in per cent": (
                "This is in per cent. Give a share between 0 and 1.",
                lambda hits, ours, golden: 100 * (1 - 2 * hits / (ours + golden)),
            ),
        },
    )
    | {
        "weight off gold": (
            "This is the weight that lies outside gold, on average. The rate counts links: each row's "
            "strongest, whole.",
            lambda weights, gold: 1 - float((weights * gold).sum()) / len(weights),
        ),
        "weight in the place of links": (
            "You add up the weight that lies on gold. The rate counts links: each row's strongest, whole.",
            lambda weights, gold: 1 - 2 * float((weights * gold).sum() / (len(weights) + gold.sum())),
        ),
        "one of gold for each word": (
            "You compare each row's strongest with the first word of gold in it. A row of gold may hold "
            "several, and each is a link.",
            lambda weights, gold: float((weights.argmax(-1) != gold.int().argmax(-1)).double().mean()),
        ),
        "mean of the rows": (
            "This is the mean of each written word's own rate. Count the links of the whole sentence "
            "first, and divide once.",
            lambda weights, gold: (
                sum(_error_rate(*row) for row in zip(weights.split(1), gold.split(1), strict=True))
                / len(weights)
            ),
        ),
        "words without gold left out": (
            "You count only the written words that have a link in gold. A word that has none there looks "
            "somewhere as well, and that link is wrong.",
            lambda weights, gold: _error_rate(weights[gold.any(-1)], gold[gold.any(-1)]),
        ),
        "above one half": (
            "You make a link of each weight above a half. A row that is less sure than that has a link as "
            "well: its strongest.",
            _above_half,
        ),
    },
    trainable=False,
)
