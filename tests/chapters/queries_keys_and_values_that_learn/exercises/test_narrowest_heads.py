"""The exercise `narrowest_heads`, tried as readers would."""

import pytest
import torch
from exercise_cases import judged_as, words
from torch.nn import functional as F

from attnlab.runtime import generator
from chapters.queries_keys_and_values_that_learn.exercises import (
    check_narrowest_heads,
)

pytestmark = pytest.mark.thorough


def trained(d_k=2, steps=200, seed=0, last=True):
    """By gradient descent, as the exercise asks."""

    def train(words, chased):
        source = generator(seed)
        pair = [torch.rand(words.shape[-1], d_k, generator=source).sub(0.5) for _ in range(2)]
        sizes = [torch.zeros_like(matrix) for matrix in pair]
        for step in range(steps):
            some = slice(100 * (step % 20), 100 * (step % 20 + 1))
            tracked = [matrix.requires_grad_() for matrix in pair]
            query, key = (words[some] @ matrix for matrix in tracked)
            loss = F.cross_entropy((query @ key.mT).flatten(0, 1), chased[some].flatten())
            gradients = torch.autograd.grad(loss, tracked)
            # RMSprop by hand, since the first of PyTorch's optimizers takes seconds: it loads a compiler.
            sizes = [0.9 * size + 0.1 * slope**2 for size, slope in zip(sizes, gradients, strict=True)]
            pair = [
                (matrix - 0.05 * slope / (size.sqrt() + 1e-8)).detach()
                for matrix, slope, size in zip(tracked, gradients, sizes, strict=True)
            ]
        return tuple(pair)

    return train


def rotated(train):
    """The same scores from another pair."""

    def code(words, chased):
        turn = torch.tensor([[0.6, 0.8], [-0.8, 0.6]])
        to_query, to_key = train(words, chased)
        return to_query @ turn, to_key @ turn

    return code


RIGHT = {
    check_narrowest_heads: {
        "trained": trained(),
        "trained from elsewhere": trained(seed=1),
        "laid out by hand, and turned": rotated(check_narrowest_heads.reference),
        "in double precision": lambda words, chased: [
            matrix.double() for matrix in check_narrowest_heads.reference(words, chased)
        ],
        "as parameters": lambda words, chased: tuple(
            torch.nn.Parameter(matrix) for matrix in check_narrowest_heads.reference(words, chased)
        ),
    }
}


NAMED = {
    check_narrowest_heads: {
        "one column": trained(d_k=1),
        "more than needed": trained(d_k=6),
        "trained too little": trained(steps=15),
        "finds the chaser": lambda words, chased: trained()(words, chased)[::-1],
        "one matrix for both": lambda words, chased: trained()(words, chased)[1:] * 2,
        "not trained": lambda words, chased: (torch.zeros(words.shape[-1], 2),) * 2,
        "wide and trained too little": trained(d_k=6, steps=2),
    }
}


UNKNOWN = {
    check_narrowest_heads: {
        "turned on their side": lambda words, chased: tuple(
            matrix.mT for matrix in check_narrowest_heads.reference(words, chased)
        ),
        "one matrix": lambda words, chased: check_narrowest_heads.reference(words, chased)[0],
        "in words": lambda words, chased: "two columns",
        "right for six animals alone": lambda words, chased: (
            check_narrowest_heads.reference(words, chased)
            if words.shape[-1] == 18
            else (torch.zeros(words.shape[-1], 2),) * 2
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)


def test_what_is_found_is_said_in_words():
    report = check_narrowest_heads.judge(UNKNOWN[check_narrowest_heads]["right for six animals alone"])
    assert "expected finds: the one that it chases got finds: anyone, by chance" in words(report)


def test_nobody_trains_more_often_than_there_are_games_to_train_on():
    trainings = []

    def train(games, chased):
        trainings.append(games.shape)
        return UNKNOWN[check_narrowest_heads]["right for six animals alone"](games, chased)

    assert check_narrowest_heads.judge(train).mistake is None
    assert len(trainings) == 2
