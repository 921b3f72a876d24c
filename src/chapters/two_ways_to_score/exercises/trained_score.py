"""An experiment: train a score for a wish that only examples tell."""

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise

# Of the nearest keys a product finds .48, and a hidden layer without a bias .2; with one, .94.
# Of those to the left .99, .3 and .92.
GUESSING, RIGHT = 0.4, 0.8


Wish: TypeAlias = Callable[[Tensor, Tensor], Tensor]


WISHES: dict[str, Wish] = {
    "the nearest": lambda query, key: -(query - key).norm(dim=-1),
    "furthest to the left": lambda query, key: query[..., 0] * key[..., 1] - query[..., 1] * key[..., 0],
}


def _points(queries: int, seed: int) -> tuple[Tensor, Tensor]:
    """Queries (…, 1, 2) and eight keys for each, (…, 8, 2), between -2 and 2."""
    points = 4 * torch.rand(queries, 9, 2, generator=generator(seed), device="cpu") - 2
    return points[:, :1], points[:, 1:]


def _examples(wish: str, seed: int) -> tuple[Tensor, Tensor, Tensor, str]:
    query, key = _points(3000, seed)
    return query, key, WISHES[wish](query, key).argmax(-1), wish


def _level(train: Callable[..., Any], query: Tensor, key: Tensor, right: Tensor, wish: str) -> Any:
    """How well the score that `train(query, key, right)` returns does on queries that it has not seen."""
    score = train(query, key, right)
    if not callable(score):
        return score
    query, key = _points(1000, seed=7)
    with torch.no_grad():
        scores = score(query, key)
    if not isinstance(scores, Tensor) or scores.shape != (1000, 8):
        got = tuple(scores.shape) if isinstance(scores, Tensor) else type(scores).__name__
        raise WrongTypeError(f"For 1000 queries with 8 keys each the score must be (1000, 8), and is {got}.")
    found = (scores.argmax(-1) == WISHES[wish](query, key).argmax(-1)).double().mean()
    return 0 if found < GUESSING else 1 if found < RIGHT else 2


def _trained(
    parts: Callable[..., Tensor], *shapes: tuple[int, ...]
) -> Callable[[Tensor, Tensor, Tensor], Callable[[Tensor, Tensor], Tensor]]:
    """`parts(query, key, *numbers)` is the score; its numbers, of these shapes, are learned."""

    def train(query: Tensor, key: Tensor, right: Tensor) -> Callable[[Tensor, Tensor], Tensor]:
        source = generator(0)
        numbers = [(2 * torch.rand(shape, generator=source, device="cpu") - 1) for shape in shapes]
        for step in range(150):
            some = slice(300 * (step % 10), 300 * (step % 10 + 1))
            tracked = [each.requires_grad_() for each in numbers]
            loss = cross_entropy(parts(query[some], key[some], *tracked), right[some])
            # By hand, since the first of PyTorch's optimizers takes seconds: it loads a compiler.
            gradients = torch.autograd.grad(loss, tracked)
            numbers = [(each - 0.5 * slope).detach() for each, slope in zip(tracked, gradients, strict=True)]
        return lambda query, key: parts(query, key, *numbers)

    return train


def _hidden(query: Tensor, key: Tensor, asked: Tensor, offered: Tensor, vector: Tensor, bias: Any) -> Tensor:
    scores: Tensor = (query @ asked + key @ offered + bias).tanh() @ vector  # (…, 8)
    return scores


def _product(query: Tensor, key: Tensor, weight: Tensor) -> Tensor:
    scores: Tensor = (query @ weight * key).sum(-1)  # (…, 8)
    return scores


check_trained_score = Exercise(
    "trained_score",
    difficulty=3,
    minutes=45,
    takes=("query", "key", "right", "wish"),
    returns=("guesses (0), finds some (1) or most (2)",),
    reference=_trained(_hidden, (2, 16), (2, 16), (16,), (16,)),
    ask=_level,
    trainable=False,
    cases=(
        Case("finds the nearest key, after examples of it", *_examples("the nearest", 1)),
        Case(
            "finds the key furthest to the left, after examples of it", *_examples("furthest to the left", 2)
        ),
    ),
    mistakes={
        "nothing learned": (
            "On queries that it has not seen your score hardly does better than guessing. Does the loss "
            "fall? If not, is there a step, and does the score use the numbers that the optimizer was "
            "given? If it falls and stops early: is there a constant inside the tanh?",
            lambda query, key, right: lambda query, key: key[..., 0],
        ),
        "a product": (
            "Your score learns the left and finds the nearest key half the time. That is what a product "
            "can say: it never prefers a key in the middle. Give it a hidden layer.",
            _trained(_product, (2, 2)),
        ),
        "the plain dot product": (
            "Your score finds the nearest key half the time and the left not at all, as the dot product "
            "does, which has nothing to learn.",
            lambda query, key, right: lambda query, key: (query * key).sum(-1),
        ),
        "too few hidden units": (
            "Your score learns something of either wish, and not enough of it, as a hidden layer of two "
            "units does. Give it more: sixteen will do.",
            _trained(_hidden, (2, 2), (2, 2), (2,), (2,)),
        ),
        "the distance itself": (
            "Your score finds the nearest key, whatever the examples ask for: it is the distance, which has "
            "nothing to learn. What is wished for must come from the examples alone.",
            lambda query, key, right: WISHES["the nearest"],
        ),
        "the left itself": (
            "Your score finds the key furthest to the left, whatever the examples ask for. What is wished "
            "for must come from the examples alone.",
            lambda query, key, right: WISHES["furthest to the left"],
        ),
    },
)
