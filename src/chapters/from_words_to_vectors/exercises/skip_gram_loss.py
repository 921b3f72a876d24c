"""Write the loss of skip-gram with strangers drawn at random."""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, logsigmoid

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _loss(
    word: Tensor,
    neighbour: Tensor,
    strangers: Tensor,
    *,
    near: Part = lambda score: -logsigmoid(score),
    far: Part = lambda scores: -logsigmoid(-scores).sum(-1),
    gather: Part = Tensor.mean,
) -> Any:
    score = (word * neighbour).sum(-1)  # (B,)
    scores = (strangers @ word.unsqueeze(-1)).squeeze(-1)  # (B, k)
    return gather(near(score) + far(scores))


def _against_all(word: Tensor, neighbour: Tensor, strangers: Tensor) -> Tensor:
    every = torch.cat([neighbour.unsqueeze(1), strangers], dim=1)  # (B, 1 + k, d)
    scores = (every @ word.unsqueeze(-1)).squeeze(-1)
    return cross_entropy(scores, torch.zeros(len(word), dtype=torch.int64, device="cpu"))


def _nothing(score: Tensor) -> Tensor:
    return 0 * score


_NEAR: Mistakes = {
    "strangers alone": (
        "The neighbour plays no part: this is the strangers' half of the loss.",
        _nothing,
    ),
    "neighbour pushed away": (
        "The neighbour is treated like a stranger, and pushed away. Its score should grow: -log σ(score).",
        lambda score: -logsigmoid(-score),
    ),
}


_FAR: Mistakes = {
    "neighbour alone": (
        "The strangers play no part. Then all words can be made alike, and the loss is 0.",
        lambda scores: 0 * scores.sum(-1),
    ),
    "strangers drawn near": (
        "The strangers are drawn near like the neighbour. Their scores need a minus inside the sigmoid.",
        lambda scores: -logsigmoid(scores).sum(-1),
    ),
    "the mean of the strangers": (
        "You take the mean over the strangers of a pair; the formula has their sum.",
        lambda scores: -logsigmoid(-scores).mean(-1),
    ),
    "one sigmoid for all strangers": (
        "The strangers' scores are added up before the sigmoid. Each has a sigmoid of its own.",
        lambda scores: -logsigmoid(-scores.sum(-1)),
    ),
    "a minus before the logarithm": (
        "log σ(-x) is not -log σ(x): the minus belongs inside the sigmoid.",
        lambda scores: logsigmoid(scores).sum(-1),
    ),
    "the first stranger alone": (
        "Only the first stranger of each pair is counted.",
        lambda scores: -logsigmoid(-scores[:, 0]),
    ),
}


_GATHERED: Mistakes = {
    "the sum over the pairs": (
        "You add the pairs up. Take their mean, so that the step does not grow with the batch.",
        Tensor.sum,
    ),
    "a loss for each pair": ("This is a loss for each pair. What is left to do is their mean.", Tensor.clone),
    "the sign": ("The sign is wrong: this falls where the loss should grow.", lambda each: -each.mean()),
}


_WAYS: Mistakes = {
    "overflow": (
        "Right, but for large scores: there the sigmoid rounds to 0, and the logarithm of 0 is infinite. "
        "logsigmoid takes both steps at once.",
        partial(
            _loss,
            near=lambda score: -score.sigmoid().log(),
            far=lambda scores: -(-scores).sigmoid().log().sum(-1),
        ),
    ),
    "no logarithm": (
        "The logarithm is missing: these are the sigmoids themselves.",
        partial(
            _loss,
            near=lambda score: -score.sigmoid(),
            far=lambda scores: -(-scores).sigmoid().sum(-1),
        ),
    ),
    "strangers against the neighbour": (
        "The strangers are compared with the neighbour. They are strangers to the word.",
        lambda word, neighbour, strangers: (
            _loss(word, neighbour, strangers[:, :0]) + _loss(neighbour, neighbour, strangers, near=_nothing)
        ),
    ),
    "a softmax": (
        "This is a softmax over the neighbour and the strangers. Here each pair is a question of its own, "
        "yes or no, with a sigmoid.",
        _against_all,
    ),
}


check_skip_gram_loss = Exercise(
    "skip_gram_loss",
    difficulty=2,
    minutes=15,
    takes=("word", "neighbour", "strangers"),
    returns=("loss",),
    reference=_loss,
    cases=(
        Case("right for one pair and one stranger", *draw(31, (1, 3), (1, 3), (1, 1, 3))),
        Case("right for one pair and several strangers", *draw(32, (1, 4), (1, 4), (1, 5, 4))),
        Case("right for a batch", *draw(33, (6, 4), (6, 4), (6, 5, 4))),
        Case("right for as many strangers as pairs", *draw(34, (3, 2), (3, 2), (3, 3, 2))),
        Case(
            "right for large scores",
            *(40 * each for each in draw(35, (4, 8), (4, 8), (4, 5, 8))),
        ),
    ),
    mistakes=in_parts(_loss, near=_NEAR, far=_FAR, gather=_GATHERED) | _WAYS,
)
