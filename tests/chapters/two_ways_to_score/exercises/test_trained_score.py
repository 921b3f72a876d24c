"""The exercise `trained_score`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as
from torch import nn
from torch.nn import functional as F

from attnlab import scores
from chapters.two_ways_to_score.exercises import (
    check_trained_score,
)


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


RIGHT = {check_trained_score: TRAINERS}


NAMED = {
    check_trained_score: {
        "nothing learned": learned(Hidden, steps=1),
        "a product": learned(Bilinear),
        "the plain dot product": lambda query, key, right: lambda query, key: (key @ query.mT).squeeze(-1),
        "too few hidden units": learned(lambda: Hidden(2)),
        "the distance itself": lambda *examples: lambda query, key: -torch.cdist(query, key).squeeze(-2),
    }
}


UNKNOWN = {
    check_trained_score: {
        "a tensor": lambda query, key, right: key[..., 0],
        "a score with an axis too many": lambda *examples: lambda query, key: key @ query.mT,
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
