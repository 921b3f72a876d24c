"""Self-attention by three matrices, in parts that can be mistaken: what two exercises ask for."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.scores import dot
from attnlab.shapes import Keys, Queries, Scores, Values, Vectors, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, mixed
from bookkit.checking.mistakes.weighing import softmax


def _project(
    words: Vectors, to_query: Tensor, to_key: Tensor, to_value: Tensor
) -> tuple[Queries, Keys, Values]:
    return words @ to_query, words @ to_key, words @ to_value


def _self_attention(
    words: Vectors,
    to_query: Tensor,
    to_key: Tensor,
    to_value: Tensor,
    *,
    project: Callable[..., tuple[Queries, Keys, Values]] = _project,
    score: Callable[[Queries, Keys], Scores] = dot,
    weigh: Callable[[Scores], Weights] = softmax,
) -> tuple[Tensor, Weights]:
    query, key, value = project(words, to_query, to_key, to_value)
    return mixed(weigh(score(query, key)), value)


# What enters the three products, mistaken; all shapes fit where the three matrices are of one size.
_PROJECTING: Mistakes = {
    "keys and queries swapped": (
        "to_query makes the keys here, and to_key the queries, so that every word finds those who look for "
        "it.",
        lambda words, to_query, to_key, to_value: (words @ to_key, words @ to_query, words @ to_value),
    ),
    "values not projected": (
        "The weights are right, but they mix the words themselves. What is handed over is words @ to_value.",
        lambda words, to_query, to_key, to_value: (words @ to_query, words @ to_key, words),
    ),
    "keys mixed": (
        "The weights are right, but they mix the keys. What is handed over is words @ to_value.",
        lambda words, to_query, to_key, to_value: (words @ to_query, words @ to_key, words @ to_key),
    ),
    "queries alone projected": (
        "The keys are the words as they are: to_key plays no part.",
        lambda words, to_query, to_key, to_value: (
            words @ to_query @ to_key.mT,
            words @ to_query @ to_query.mT,
            words @ to_value,
        ),
    ),
    "nothing learned": (
        "These are the weights of attention with nothing to learn: the words are compared as they are, and "
        "to_query and to_key play no part.",
        lambda words, to_query, to_key, to_value: (words, words, words @ to_value),
    ),
    "matrices turned": (
        "The matrices are turned before the product. Here each row of a matrix meets one number of a word, "
        "as in words @ to_query. (nn.Linear keeps its weight the other way round.)",
        lambda words, to_query, to_key, to_value: (
            words @ to_query.mT,
            words @ to_key.mT,
            words @ to_value.mT,
        ),
    ),
}


_SCALED = (
    "The scores are also divided by the root of d_k. That comes two chapters later; here they are the plain "
    "products.",
    lambda query, key: dot(query, key) / math.sqrt(query.shape[-1]),
)


_ATTENTION_CASES = (
    Case(
        "right for three words",
        exact([2, 0], [0, 2], [1, 0]),
        exact([0, 0], [1, 0]),
        exact([1, 0], [0, 1]),
        exact([5, 0], [0, 5]),
    ),
    # One size for all, so that a mistake runs and can be told; 5 words of 4 numbers.
    Case("right for matrices of one size", *draw(1, (5, 4), (4, 4), (4, 4), (4, 4))),
    Case("right for values of another width", *draw(5, (6, 3), (3, 4), (3, 4), (3, 7))),
    Case("right for a batch", *draw(9, (2, 5, 6), (6, 4), (6, 4), (6, 3))),
    Case("right for large scores", *(16 * each for each in draw(17, (4, 5), (5, 3), (5, 3), (5, 2)))),
    Case("right in float64", *draw(13, (3, 4, 5), (5, 2), (5, 2), (5, 6), dtype=torch.float64)),
)


def _is_pair(answer: Any) -> bool:
    """Whether two tensors came. One alone is refused here, since the checker would compare it as it is."""
    if isinstance(answer, Tensor):
        raise WrongTypeError("It returns one tensor where two, to_query and to_key, are expected.")
    pair = isinstance(answer, tuple | list) and len(answer) == 2
    return pair and all(isinstance(matrix, Tensor) for matrix in answer)
