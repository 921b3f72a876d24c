"""The exercise `skip_gram_loss`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named
from from_words_to_vectors_answers import loss_of
from torch.nn import functional as F

from chapters.from_words_to_vectors.exercises import (
    check_skip_gram_loss,
)


def by_softplus(word, neighbour, strangers):
    score = torch.einsum("bd,bd->b", word, neighbour)
    scores = torch.einsum("bkd,bd->bk", strangers, word)
    return (F.softplus(-score) + F.softplus(scores).sum(1)).mean()


def by_cross_entropy(word, neighbour, strangers):
    every = torch.cat([neighbour[:, None], strangers], 1)
    scores = (every * word[:, None]).sum(-1)
    wanted = torch.zeros_like(scores)
    wanted[:, 0] = 1
    return F.binary_cross_entropy_with_logits(scores, wanted, reduction="sum") / len(word)


def losses(near, far, gather=torch.mean):
    def code(word, neighbour, strangers):
        score = (word * neighbour).sum(-1)
        scores = (strangers * word.unsqueeze(1)).sum(-1)
        return gather(near(score) + far(scores))

    return code


def up(score):
    return F.softplus(-score)


def down(scores):
    return F.softplus(scores).sum(-1)


RIGHT = {check_skip_gram_loss: named(by_softplus, by_cross_entropy)}


NAMED = {
    check_skip_gram_loss: {
        "strangers drawn near": losses(up, lambda scores: up(scores).sum(-1)),
        "the mean of the strangers": losses(up, lambda scores: F.softplus(scores).mean(-1)),
        "neighbour alone": losses(up, lambda scores: 0 * scores.sum(-1)),
        "a minus before the logarithm": losses(up, lambda scores: -up(scores).sum(-1)),
        "strangers against the neighbour": lambda word, neighbour, strangers: (
            up((word * neighbour).sum(-1)) + down((strangers * neighbour.unsqueeze(1)).sum(-1))
        ).mean(),
        "the sum over the pairs": losses(up, down, torch.sum),
        "a loss for each pair": losses(up, down, lambda each: each),
        "overflow": losses(
            lambda score: -torch.log(torch.sigmoid(score)),
            lambda scores: -torch.log(1 - torch.sigmoid(scores)).sum(-1),
        ),
    }
}


UNKNOWN = {
    check_skip_gram_loss: {
        "twice": changed(loss_of, lambda value: 2 * value),
        "squares": losses(lambda score: (1 - score) ** 2, lambda scores: (scores**2).sum(-1)),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
