"""The mistakes that `check_narrowest_heads` knows by name."""

from collections.abc import Callable

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes
from chapters.queries_keys_and_values_that_learn.exercises.narrowest_heads_parts import _circle, _laid_out


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
