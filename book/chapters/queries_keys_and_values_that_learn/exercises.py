"""The exercises of “Queries, keys and values that learn”."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlab.runtime import generator
from attnlab.scores import dot
from attnlab.shapes import Keys, Queries, Scores, Sequence, Values, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import PRODUCTS, WEIGHING, softmax
from bookkit.checking.puzzle import ShapePuzzle

# --- say the shapes -------------------------------------------------------------------------------

# words is (8, 6, 18): 8 games of 6 words; to_query and to_key are (18, 4), to_value is (18, 10).
_SHAPES = {
    "words @ to_query": (8, 6, 4),
    "query @ key.mT": (8, 6, 6),
    "weights.sum(-1)": (8, 6),
    "weights @ value": (8, 6, 10),
    "words @ words.mT": (8, 6, 6),
    "to_query @ to_key.mT": (18, 18),
    "words @ (to_query @ to_key.mT)": (8, 6, 18),
    "to_value.grad": (18, 10),
}

check_projection_shapes = ShapePuzzle(
    "projection_shapes",
    difficulty=1,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "batch forgotten": (
            "the games are missing. `@` works on the last two axes and keeps the ones in front.",
            {expression: shape[1:] for expression, shape in _SHAPES.items() if len(shape) > 2},
        ),
        "width kept": (
            "the product sums over the 18 numbers of a word, and what comes out is as wide as the matrix "
            "on the right.",
            {"words @ to_query": (8, 6, 18), "weights @ value": (8, 6, 18)},
        ),
        "numbers where words should be": (
            "the sum runs over the numbers of a word, and a score is left for each word with each word.",
            {"query @ key.mT": (8, 4, 4), "words @ words.mT": (8, 18, 18)},
        ),
        "width of the keys kept": (
            "a score is one number for a query with a key: the four numbers of each are summed up.",
            {"query @ key.mT": (8, 6, 4)},
        ),
        "axis kept": (
            "a sum takes its axis away, unless keepdim=True asks for it to stay with length 1.",
            {"weights.sum(-1)": (8, 6, 1)},
        ),
        "one sum for each game": (
            "the sum runs over the last axis alone: one number is left for each word that asks.",
            {"weights.sum(-1)": (8,)},
        ),
        "as wide as a key": (
            "what is mixed are the values, so the output is as wide as they are.",
            {"weights @ value": (8, 6, 4)},
        ),
        "the narrow side": (
            "the four columns are what the sum runs over. What is left is a row and a column for each of a "
            "word's 18 numbers.",
            {"to_query @ to_key.mT": (4, 4), "words @ (to_query @ to_key.mT)": (8, 6, 4)},
        ),
        "a matrix for each game": (
            "all games share one matrix, and its gradient is the sum over them.",
            {"to_value.grad": (8, 18, 10), "to_query @ to_key.mT": (8, 18, 18)},
        ),
        "the output's gradient": (
            "this is the gradient on the output. A gradient has the shape of what it is a gradient on.",
            {"to_value.grad": (8, 6, 10)},
        ),
        "the values' gradient": (
            "this is the gradient on one game's values. A gradient has the shape of what it is a gradient "
            "on: here a matrix.",
            {"to_value.grad": (6, 10)},
        ),
    },
)

# --- self-attention with three matrices -----------------------------------------------------------


def _project(
    words: Sequence, to_query: Tensor, to_key: Tensor, to_value: Tensor
) -> tuple[Queries, Keys, Values]:
    return words @ to_query, words @ to_key, words @ to_value


def _self_attention(
    words: Sequence,
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

check_self_attention = Exercise(
    "self_attention",
    difficulty=2,
    minutes=10,
    takes=("words", "to_query", "to_key", "to_value"),
    returns=("output", "weights"),
    reference=_self_attention,
    cases=_ATTENTION_CASES,
    mistakes=in_parts(
        _self_attention,
        project=_PROJECTING
        | {
            "one matrix for both": (
                "Queries and keys are made by one matrix: to_key plays no part. A line that was copied and "
                "not changed?",
                lambda words, to_query, to_key, to_value: (
                    words @ to_query,
                    words @ to_query,
                    words @ to_value,
                ),
            ),
        },
        score={"scaled": _SCALED} | PRODUCTS,
        weigh=WEIGHING,
    )
    | swapped(_self_attention, "output", "weights"),
)

# --- repair: one matrix is not used ----------------------------------------------------------------

check_repaired_roles = Exercise(
    "repaired_roles",
    difficulty=2,
    minutes=10,
    takes=("words", "to_query", "to_key", "to_value"),
    returns=("output", "weights"),
    reference=_self_attention,
    cases=(
        # The broken code passes the first of these, which is the clue: its to_query and to_key are equal.
        Case(
            "right for three words that look for their like",
            exact([2, 0], [0, 2], [1, 0]),
            exact([1, 0], [0, 1]),
            exact([1, 0], [0, 1]),
            exact([5, 0], [0, 5]),
        ),
        *_ATTENTION_CASES,
    ),
    mistakes=in_parts(
        _self_attention,
        project={
            "still broken": (
                "The fault that it came with is still there. In the first case to_query and to_key are "
                "equal, and it passes; in no other are they. Which of the four inputs plays no part?",
                lambda words, to_query, to_key, to_value: (
                    words @ to_query,
                    words @ to_query,
                    words @ to_value,
                ),
            ),
            "the other matrix for both": (
                "Now to_key makes both, and to_query plays no part.",
                lambda words, to_query, to_key, to_value: (words @ to_key, words @ to_key, words @ to_value),
            ),
            "the mean of both": (
                "One matrix still makes both, the mean of the two. Each role has its own.",
                lambda words, to_query, to_key, to_value: (
                    words @ (to_query + to_key) / 2,
                    words @ (to_query + to_key) / 2,
                    words @ to_value,
                ),
            ),
            "projected twice": (
                "The keys are projected twice, by to_query and then by to_key.",
                lambda words, to_query, to_key, to_value: (
                    words @ to_query,
                    words @ to_query @ to_key,
                    words @ to_value,
                ),
            ),
        }
        | _PROJECTING,
        score={"scaled": _SCALED} | PRODUCTS,
        weigh=WEIGHING,
    )
    | swapped(_self_attention, "output", "weights"),
)

# --- the narrowest pair for given scores ------------------------------------------------------------


def _is_pair(answer: Any) -> bool:
    """Whether two tensors came. One alone is refused here, since the checker would compare it as it is."""
    if isinstance(answer, Tensor):
        raise WrongTypeError("It returns one tensor where two, to_query and to_key, are expected.")
    pair = isinstance(answer, tuple | list) and len(answer) == 2
    return pair and all(isinstance(matrix, Tensor) for matrix in answer)


def _product(narrow: Callable[..., Any], to_query: Tensor, to_key: Tensor, width: int) -> Any:
    """The product of the pair that `narrow(to_query, to_key, width)` returns: many pairs have the same."""
    pair = narrow(to_query, to_key, width)
    if not _is_pair(pair):
        return pair
    shape = (len(to_query), width)
    for name, matrix in zip(("to_query", "to_key"), pair, strict=True):
        if matrix.shape != shape:
            raise WrongTypeError(f"The new {name} must be {shape}, and is {tuple(matrix.shape)}.")
    return pair[0] @ pair[1].mT


def _narrow(to_query: Tensor, to_key: Tensor, width: int, *, keep: Callable[..., Any]) -> Any:
    left, sizes, right = torch.linalg.svd(to_query @ to_key.mT, full_matrices=False)
    return keep(left, sizes, right.mT, width)


def _longest_columns(to_query: Tensor, to_key: Tensor, width: int) -> tuple[Tensor, Tensor]:
    longest = (to_query.norm(dim=0) * to_key.norm(dim=0)).argsort(descending=True)[:width]
    return to_query[:, longest], to_key[:, longest]


def _left(left: Tensor, sizes: Tensor, right: Tensor, width: int) -> Tensor:
    return (left * sizes)[:, :width]


check_narrow_pair = Exercise(
    "narrow_pair",
    difficulty=3,
    minutes=15,
    takes=("to_query", "to_key", "width"),
    returns=("to_query @ to_key.mT of the new pair",),
    reference=partial(
        _narrow, keep=lambda left, sizes, right, width: ((left * sizes)[:, :width], right[:, :width])
    ),
    ask=_product,
    trainable=False,
    cases=(
        Case(
            "right for two columns, one of which is enough", exact([1, 2], [2, 4]), exact([1, 0], [3, 1]), 1
        ),
        Case("right for as many columns as before", *draw(21, (5, 3), (5, 3)), 3),
        Case("right for one column fewer", *draw(23, (6, 4), (6, 4)), 3),
        Case("right for a single column", *draw(25, (7, 4), (7, 4)), 1),
        Case("right in float64", *draw(27, (9, 5), (9, 5), dtype=torch.float64), 2),
    ),
    mistakes=in_parts(
        _narrow,
        keep={
            "singular values lost": (
                "The directions are right, and their sizes are missing: multiply one side by the singular "
                "values, or both by their roots.",
                lambda left, sizes, right, width: (left[:, :width], right[:, :width]),
            ),
            "roots on one side": (
                "One side has the roots of the singular values, and the other nothing. The roots belong on "
                "both sides, or the singular values themselves on one.",
                lambda left, sizes, right, width: ((left * sizes.sqrt())[:, :width], right[:, :width]),
            ),
            "singular values twice": (
                "Both sides are multiplied by the singular values, so that they count twice. One side is "
                "enough, or the root on either.",
                lambda left, sizes, right, width: ((left * sizes)[:, :width], (right * sizes)[:, :width]),
            ),
            "smallest kept": (
                "You keep the smallest singular values. They come in falling order: the first are the "
                "largest.",
                lambda left, sizes, right, width: ((left * sizes)[:, -width:], right[:, -width:]),
            ),
            "to_query and to_key swapped": (
                "The product is turned on its side: what you return as to_query belongs to the keys. svd "
                "returns U, S and Vh with M = U S Vh: U is on the side of the queries.",
                lambda left, sizes, right, width: ((right * sizes)[:, :width], left[:, :width]),
            ),
            "Vh for V": (
                "The third result of torch.linalg.svd is V turned, Vh: its rows are the directions. The new "
                "to_key takes its first rows, as columns.",
                lambda left, sizes, right, width: ((left * sizes)[:, :width], right.mT[:, :width]),
            ),
        },
    )
    | {
        "first columns": (
            "You keep the first columns of both. They are in no order of importance: another pair with the "
            "same product has other first columns. Ask the product for its largest directions.",
            lambda to_query, to_key, width: (to_query[:, :width], to_key[:, :width]),
        ),
        "longest columns": (
            "You keep the columns with the largest numbers. A mix of columns can hold more of the product "
            "than any of them alone: ask the product for its largest directions.",
            _longest_columns,
        ),
        "each by itself": (
            "You bring each of the two to its own largest directions. What counts is the product: take the "
            "singular values of to_query @ to_key.mT.",
            lambda to_query, to_key, width: (
                _narrow(to_query, torch.eye(to_query.shape[-1]).to(to_query), width, keep=_left),
                _narrow(to_key, torch.eye(to_key.shape[-1]).to(to_key), width, keep=_left),
            ),
        ),
    },
)

# --- experiment: as narrow as can be -----------------------------------------------------------------

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
    pair = train(words, chased)
    if not _is_pair(pair):
        return pair
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
    return torch.tensor([columns, finds], device="cpu")


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


check_narrowest_heads = Exercise(
    "narrowest_heads",
    difficulty=3,
    minutes=40,
    takes=("words", "chased", "names"),
    returns=("columns and finds",),
    reference=_laid_out(_circle),
    ask=_width_and_finds,
    trainable=False,
    cases=(
        Case("finds six animals, with as few columns as can be", *_games(2000, 6, seed=1), 6),
        Case("finds eight animals, with as few columns as can be", *_games(2000, 8, seed=2), 8),
    ),
    mistakes={
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
    },
)
