"""An experiment: train to_query and to_key with as few columns as the games can be won with."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes
from chapters.queries_keys_and_values_that_learn.exercises.projected_attention import _is_pair


def _laid_out(
    place: Callable[[Tensor], tuple[Tensor, Tensor]],
) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """A pair that holds, for each name of `place(numbers)`, who asks for it and how it is found."""

    def train(words: Tensor, chased: Tensor) -> tuple[Tensor, Tensor]:
        names = words.shape[-1] // 3
        asked, found = place(torch.arange(names, device="cpu"))
        zeros = torch.zeros_like(asked)
        return torch.cat([zeros, asked, zeros]), torch.cat([found, zeros, zeros])

    return train


def _circle(numbers: Tensor) -> tuple[Tensor, Tensor]:
    angle = 2 * math.pi * numbers / len(numbers)
    points = torch.stack([angle.cos(), angle.sin()], dim=-1)
    return points, points


def _line(numbers: Tensor) -> tuple[Tensor, Tensor]:
    middle = (len(numbers) - 1) / 2
    places = (numbers - middle).unsqueeze(-1)
    return places.sign(), places


def _one_each(numbers: Tensor) -> tuple[Tensor, Tensor]:
    return torch.eye(len(numbers), device="cpu"), torch.eye(len(numbers), device="cpu")


def _half(place: Callable[[Tensor], tuple[Tensor, Tensor]]) -> Callable[[Tensor], tuple[Tensor, Tensor]]:
    def asked_by_half(numbers: Tensor) -> tuple[Tensor, Tensor]:
        asked, found = place(numbers)
        return asked * (numbers < len(numbers) / 2).unsqueeze(-1), found

    return asked_by_half


def _untrained(words: Tensor, chased: Tensor) -> tuple[Tensor, Tensor]:
    matrix = torch.ones(words.shape[-1], 2, device="cpu")
    return matrix, matrix


def _turned(words: Tensor, chased: Tensor) -> tuple[Tensor, Tensor]:
    to_query, to_key = _laid_out(_circle)(words, chased)
    return to_key, to_query


def _tied(words: Tensor, chased: Tensor) -> tuple[Tensor, Tensor]:
    _, to_key = _laid_out(_circle)(words, chased)
    return to_key, to_key


MISTAKES: Mistakes = {
    "one column": (
        "One column is too few: on a line only the two names at its ends can have the highest score.",
        _laid_out(_line),
    ),
    "more than needed": (
        "Everyone is found, but with more columns than it takes. Go on: halve their number, train again, "
        "and look at the share that is found.",
        _laid_out(_one_each),
    ),
    "trained too little": (
        "The number of columns is right, and some are found, not all. Is the loss still falling? Take "
        "more steps, or a larger learning rate.",
        _laid_out(_half(_circle)),
    ),
    "wide and trained too little": (
        "Some are found, not all, though there are more than enough columns. Is the loss still falling? "
        "Take more steps, or a larger learning rate; then take columns away.",
        _laid_out(_half(_one_each)),
    ),
    "finds the chaser": (
        "Everyone finds the one that chases them: the two matrices are in the wrong order, or the scores "
        "were turned in training. Row i of the scores is what word i asks.",
        _turned,
    ),
    "one matrix for both": (
        "Everyone finds itself, as it does where one matrix makes both queries and keys. Train two, and "
        "return the two.",
        _tied,
    ),
    "not trained": (
        "In new games your pair does no better than guessing. Does the loss fall? Are the matrices that "
        "you return those that the optimizer changed?",
        _untrained,
    ),
}


NAMES = {6: "six", 8: "eight"}


def _games(games: int, names: int, seed: int) -> tuple[Tensor, Tensor]:
    """Words (games, names, 3 · names), and the place of the one that each chases, (games, names)."""
    source = generator(seed)
    name, ring = (torch.rand(games, names, generator=source, device="cpu").argsort(-1) for _ in range(2))
    chased = ring.scatter(-1, ring, ring.roll(-1, -1))
    scarf = torch.randint(names, (games, names), generator=source, device="cpu")
    facts = [name, name.gather(-1, chased), scarf]
    return torch.cat([one_hot(fact, names) for fact in facts], dim=-1).float(), chased


def _width_and_finds(train: Callable[..., Any], words: Tensor, chased: Tensor, names: int) -> Any:
    """Whether what `train(words, chased)` returns has less than 2 columns or more, and whom it finds."""
    pair = returned(train(words, chased))
    if not _is_pair(pair):
        for part in pair if isinstance(pair, tuple | list) else ():
            returned(part)
        raise WrongTypeError("Return two matrices, to_query and to_key.")
    to_query, to_key = (matrix.detach() for matrix in pair)
    rows = 3 * names
    if to_query.dim() != 2 or to_query.shape != to_key.shape or len(to_query) != rows:
        shapes = f"{tuple(to_query.shape)} and {tuple(to_key.shape)}"
        raise WrongTypeError(
            f"to_query and to_key must both be ({rows}, d_k) for {NAMES[names]} names; got {shapes}."
        )
    words, chased = _games(500, names, seed=10**6)
    words = words.to(to_query.dtype)
    best = (words @ to_query @ (words @ to_key).mT).argmax(-1)
    themselves = torch.arange(names, device="cpu").expand_as(best)
    found, oneself, chaser = (
        (best == who).double().mean().item() for who in (chased, themselves, chased.argsort(-1))
    )
    if found >= 0.9:
        finds = 4
    elif oneself >= 0.5:
        finds = 1
    elif chaser >= 0.5:
        finds = 2
    else:
        # One number finds two names of all, guessing one.
        finds = 3 if found > 1.6 / names else 0
    # A pair that does not find whom it should has a fault that comes before its width.
    columns = (to_query.shape[-1] > 2) - (to_query.shape[-1] < 2) if finds >= 3 else 0
    return columns, finds


check_narrowest_heads = Exercise(
    "narrowest_heads",
    difficulty=3,
    minutes=40,
    takes=("words", "chased", "names"),
    returns=("columns", "finds"),
    reference=_laid_out(_circle),
    ask=_width_and_finds,
    again=False,
    meanings={
        "columns": {-1: "too few", 0: "as few as can be", 1: "more than it takes"},
        "finds": {
            0: "anyone, by chance",
            1: "itself",
            2: "the one that chases it",
            3: "some, not all, of those that are chased",
            4: "the one that it chases",
        },
    },
    trainable=False,
    cases=(
        Case("finds six animals, with as few columns as can be", *_games(2000, 6, seed=1), 6),
        Case("finds eight animals, with as few columns as can be", *_games(2000, 8, seed=2), 8),
    ),
    mistakes=MISTAKES,
)
