"""The exercises of “Two ways to score”."""

import math
from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from attnlab.runtime import generator
from attnlab.scores import additive
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import but, in_answer, in_parts, mixed, swapped
from bookkit.checking.mistakes.holding import BYTES
from bookkit.checking.mistakes.weighing import SCORES, WEIGHING, softmax
from bookkit.checking.puzzle import ShapePuzzle


def _scores(
    query: Queries,
    key: Keys,
    query_weight: Tensor,
    key_weight: Tensor,
    vector: Tensor,
    *,
    project: Callable[..., Tensor] = lambda vectors, weight: vectors @ weight.mT,
    join: Callable[..., Tensor] = lambda asked, offered: (asked + offered).tanh(),
    finish: Callable[..., Tensor] = lambda hidden, vector: hidden @ vector,
) -> Scores:
    """The additive score in parts, each of which can be mistaken."""
    asked, offered = project(query, query_weight), project(key, key_weight)
    # (…, n, 1, h) and (…, 1, m, h) -> (…, n, m, h) -> (…, n, m)
    return finish(join(asked.unsqueeze(-2), offered.unsqueeze(-3)), vector)


def _sized(seed: int, *shapes: tuple[int, ...], dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Drawn inputs; the two weights are smaller, so that tanh is not at its ends."""
    *others, query_weight, key_weight, vector = draw(seed, *shapes, dtype=dtype)
    return [*others, query_weight / 4, key_weight / 4, vector]


def _large(seed: int, *shapes: tuple[int, ...]) -> list[Tensor]:
    """Drawn inputs with scores in the thousands; in float64, since rounding grows with them."""
    *others, vector = _sized(seed, *shapes, dtype=torch.float64)
    return [*others, 4096 * vector]


# --- additive scores ------------------------------------------------------------------------------


check_additive_scores = Exercise(
    "additive_scores",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "query_weight", "key_weight", "vector"),
    returns=("scores",),
    reference=additive,
    # In each case all the sizes differ, so that no axis can pass for another.
    cases=(
        Case(
            "right for one query",
            exact([0.5, 0.25]),
            exact([0.5, 1, 0], [-1, 0.5, 0.25]),
            exact([1, 0], [0, 1], [1, -1], [0.5, 0.5]),
            exact([0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, -1]),
            torch.tensor([1.0, -1.0, 0.5, 2.0]),
        ),
        Case("right for more keys than queries", *_sized(1, (3, 5), (7, 2), (4, 5), (4, 2), (4,))),
        Case("right for more queries than keys", *_sized(6, (7, 2), (3, 4), (6, 2), (6, 4), (6,))),
        Case(
            "right with two more axes in front", *_sized(11, (2, 3, 5, 7), (2, 3, 6, 4), (9, 7), (9, 4), (9,))
        ),
        Case(
            "right in float64", *_sized(16, (4, 3, 8), (4, 6, 5), (7, 8), (7, 5), (7,), dtype=torch.float64)
        ),
    ),
    mistakes=in_parts(
        _scores,
        join={
            "no tanh": (
                "The tanh is missing. Without it the query adds the same number to the score of every key.",
                torch.add,
            ),
            "tanh of each side": (
                "tanh is taken of each side. Add them first: else the query adds the same for every key.",
                lambda asked, offered: asked.tanh() + offered.tanh(),
            ),
            "multiplied": (
                "The two sides are multiplied, where the additive score adds them.",
                lambda asked, offered: (asked * offered).tanh(),
            ),
            "subtracted": (
                "The key's side is taken away from the query's, where the additive score adds the two.",
                lambda asked, offered: (asked - offered).tanh(),
            ),
            "sigmoid": (
                "This squashes with the sigmoid, which lies between 0 and 1. tanh lies between -1 and 1.",
                lambda asked, offered: (asked + offered).sigmoid(),
            ),
            "relu": (
                "relu has no upper end. tanh keeps every hidden number between -1 and 1.",
                lambda asked, offered: (asked + offered).relu(),
            ),
            "new axes forgotten": (
                "The two sides are added as they are, (…, n, h) and (…, m, h). To meet every key, the query "
                "needs a new axis: unsqueeze(-2) makes it (…, n, 1, h), and the key needs one at -3.",
                lambda asked, offered: (asked.squeeze(-2) + offered.squeeze(-3)).tanh(),
            ),
        },
        finish={
            "vector forgotten": (
                "The hidden numbers are summed as they are. The vector gives each of them its own weight.",
                lambda hidden, vector: hidden.sum(-1),
            ),
            "averaged": (
                "The hidden numbers, weighted by the vector, are averaged. They should be summed.",
                lambda hidden, vector: (hidden * vector).mean(-1),
            ),
            "not summed": (
                "The sum over the hidden numbers is missing: `hidden @ vector` multiplies and sums.",
                torch.mul,
            ),
            "softmax of the vector": (
                "The vector went through a softmax. It holds free numbers, of either sign.",
                lambda hidden, vector: hidden @ vector.softmax(-1),
            ),
            "scaled": (
                "The scores are divided by the root of the hidden units. The additive score has no divisor.",
                lambda hidden, vector: hidden @ vector / math.sqrt(len(vector)),
            ),
        },
        project={
            "reshaped": (
                "A weight is reshaped where it should be turned: reshape keeps the numbers in their order.",
                lambda vectors, weight: vectors @ weight.reshape(weight.shape[::-1]),
            ),
        },
    )
    | in_answer(additive, SCORES)
    | {
        "tanh after the sum": (
            "The tanh comes after the sum over the hidden numbers. It belongs before, one for each of them.",
            lambda *inputs: _scores(*inputs, join=torch.add).tanh(),
        ),
    },
)

# --- say the shapes -------------------------------------------------------------------------------

# query is (8, 50, 32), key (8, 200, 48) and the general weight (32, 48); there are 64 hidden units.
_SHAPES = {
    "query @ weight": (8, 50, 48),
    "query @ weight @ key.mT": (8, 50, 200),
    "query @ query_weight.T": (8, 50, 64),
    "asked.unsqueeze(-2)": (8, 50, 1, 64),
    "asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200, 64),
    "hidden @ vector": (8, 50, 200),
    "concat_weight": (64, 80),
    "vector.grad": (64,),
}

check_score_shapes = ShapePuzzle(
    "score_shapes",
    difficulty=2,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "as wide as the query": (
            "this is still as wide as a query. The matrix leads to something of another width.",
            {"query @ weight": (8, 50, 32), "query @ query_weight.T": (8, 50, 32)},
        ),
        "a row for each component": (
            "the sum runs over the query's components, and their axis goes. What stays is a row for each "
            "query.",
            {"query @ weight": (8, 32, 48)},
        ),
        "width kept": (
            "the sum runs over the width, so that axis is gone. What is left is one number for each query "
            "with each key.",
            {"query @ weight @ key.mT": (8, 50, 48), "hidden @ vector": (8, 50, 200, 64)},
        ),
        "queries and keys swapped": (
            "the queries are the rows, and the keys the columns.",
            {
                "query @ weight @ key.mT": (8, 200, 50),
                "hidden @ vector": (8, 200, 50),
                "asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 200, 50, 64),
            },
        ),
        "batch forgotten": (
            "the axis of the batch is missing. `@` turns the last two axes into new ones and keeps those in "
            "front.",
            {expression: shape[1:] for expression, shape in _SHAPES.items() if len(shape) > 2},
        ),
        "new axis in front": (
            "-2 counts in the new shape, from its end: the new axis comes last but one.",
            {"asked.unsqueeze(-2)": (8, 1, 50, 64)},
        ),
        "new axis at the end": (
            "that is what unsqueeze(-1) does. -2 is the place before the last axis.",
            {"asked.unsqueeze(-2)": (8, 50, 64, 1)},
        ),
        "axes of length 1": (
            "an axis of length 1 is stretched to the other's length when two tensors are added.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 1, 64)},
        ),
        "lengths added": (
            "adding two tensors does not put them end to end: axes of length 1 are stretched, and the "
            "numbers are added.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 250, 64)},
        ),
        "hidden units forgotten": (
            "there are 64 hidden numbers for each query with each key, and nothing has summed them yet.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200)},
        ),
        "laid end to end": (
            "adding puts no hidden numbers beside others: two sides of 64 give 64.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200, 128)},
        ),
        "concat turned": (
            "as with the two matrices it is made of, the hidden units are the rows.",
            {"concat_weight": (80, 64)},
        ),
        "concat one above the other": (
            "the query and the key are laid end to end, and so are the columns that read them.",
            {"concat_weight": (128, 32)},
        ),
        "concat for one side": (
            "this is one of the two matrices it is made of.",
            {"concat_weight": (64, 32)},
        ),
        "the scores' gradient": (
            "this is the gradient on the scores. A gradient has the shape of what it is a gradient on.",
            {"vector.grad": (8, 50, 200)},
        ),
        "gradient of one number": (
            "the loss is a single number, but it has a derivative for each component of the vector.",
            {"vector.grad": ()},
        ),
        "a vector for each example": (
            "all examples share one vector: its gradient is the sum over them.",
            {"vector.grad": (8, 64)},
        ),
    },
)

# --- repair: additive attention with a fault ------------------------------------------------------


def _attend(
    query: Queries,
    key: Keys,
    value: Values,
    *weights: Tensor,
    score: Callable[..., Scores] = _scores,
    weigh: Callable[..., Weights] = softmax,
) -> tuple[Tensor, Weights]:
    return mixed(weigh(score(query, key, *weights)), value)


check_repaired_additive = Exercise(
    "repaired_additive",
    difficulty=3,
    minutes=10,
    takes=("query", "key", "value", "query_weight", "key_weight", "vector"),
    returns=("output", "weights"),
    reference=_attend,
    cases=(
        # The broken code passes the first of these, which is the clue: its scores are [[a, b], [b, a]].
        Case(
            "right for two queries and two keys that mirror each other",
            exact([1, 0], [0, 1]),
            exact([1, 0], [0, 1]),
            exact([1, 2, 3], [0, -1, 2]),
            exact([1, 0], [0, 1]),
            exact([1, 0], [0, 1]),
            torch.ones(2),
        ),
        Case(
            "right for four queries and four keys", *_sized(31, (4, 3), (4, 2), (4, 6), (5, 3), (5, 2), (5,))
        ),
        Case("right for more keys than queries", *_sized(37, (3, 5), (7, 2), (7, 6), (4, 5), (4, 2), (4,))),
        Case(
            "right with two more axes in front",
            *_sized(43, (2, 3, 5, 7), (2, 3, 6, 4), (2, 3, 6, 8), (9, 7), (9, 4), (9,)),
        ),
        Case("right for large scores", *_large(55, (3, 5), (4, 2), (4, 6), (6, 5), (6, 2), (6,))),
        Case(
            "right in float64",
            *_sized(49, (4, 3, 8), (4, 6, 5), (4, 6, 2), (7, 8), (7, 5), (7,), dtype=torch.float64),
        ),
    ),
    mistakes=in_parts(
        _attend,
        weigh={
            "still broken": (
                "The fault that it came with is still there. Add up each query's weights: do they come to 1? "
                "Then say of each axis of `scores` what it counts.",
                lambda scores: scores.softmax(-2),
            ),
            "dim=0 of the turned scores": (
                "The softmax runs over dim=0 of scores whose rows are the keys. Those are the keys of a "
                "single matrix only: with a batch in front the axes shift. Count from the end.",
                lambda scores: scores.mT.softmax(0).mT,
            ),
            "dim=1 of the turned scores": (
                "The softmax runs over dim=1 of scores whose rows are the keys: the queries, or with a batch "
                "in front whatever comes next. Count from the end.",
                lambda scores: scores.mT.softmax(1).mT,
            ),
            "reshaped": (
                "The scores are reshaped where they should be turned: reshape leaves the numbers in their "
                "order, so they land in other places.",
                lambda scores: scores.mT.reshape(scores.shape).softmax(-1),
            ),
        }
        | but(WEIGHING, "softmax over the queries"),
        score={
            "scaled": (
                "Now the scores are divided by the root of the number of hidden units as well. The additive "
                "score has no divisor.",
                lambda *inputs: additive(*inputs) / math.sqrt(len(inputs[-1])),
            ),
            "query and key swapped": (
                "The query meets the key's matrix, and the key the query's. Each has one of its own, as wide "
                "as it is.",
                lambda query, key, *weights: _scores(key, query, *weights).mT,
            ),
        },
    )
    | swapped(_attend, "output", "weights"),
)

# --- count the memory -----------------------------------------------------------------------------


def _hidden_bytes(batch: int, queries: int, keys: int, hidden: int, chunk: int) -> int:
    return 4 * batch * min(chunk, queries) * keys * hidden


check_hidden_bytes = Exercise(
    "hidden_bytes",
    difficulty=2,
    minutes=5,
    takes=("batch", "queries", "keys", "hidden", "chunk"),
    returns=("bytes",),
    reference=_hidden_bytes,
    cases=(
        Case("right for one query at a time", 1, 5, 7, 3, 1),
        Case("right for chunks that come out even", 3, 48, 50, 10, 16),
        Case("right for chunks that do not", 2, 50, 9, 64, 16),
        Case("right for a chunk larger than all queries", 8, 20, 30, 96, 256),
        Case("right for a chunk of all queries", 2, 11, 13, 7, 11),
    ),
    mistakes=in_answer(
        _hidden_bytes,
        {
            "numbers, not bytes": (
                "This counts the numbers. One number of float32 takes four bytes.",
                lambda right: right // 4,
            ),
            "float64": (
                "This counts eight bytes for a number, which is float64. float32 takes half of that.",
                lambda right: 2 * right,
            ),
            "two bytes": (
                "This counts two bytes for a number, which is float16 or bfloat16.",
                lambda right: right // 2,
            ),
        }
        | BYTES,
    )
    | {
        "chunk larger than all": (
            "Right as long as there are queries to fill a chunk. A chunk of 256 takes no more than the 20 "
            "queries that there are.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * chunk * keys * hidden,
        ),
        "all queries at once": (
            "This is the whole tensor, of all queries. Only the queries of one chunk are there at a time.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * queries * keys * hidden,
        ),
        "chunks of keys": (
            "It is the queries that are taken chunk by chunk, and each of them meets all the keys.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * queries * min(chunk, keys) * hidden,
        ),
        "number of chunks": (
            "You multiply by the number of chunks. One of them is there at a time, and as large as its "
            "queries.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * math.ceil(queries / chunk) * keys * hidden
            ),
        ),
        "chunks evened out": (
            "You make all chunks alike. Each of them is full, but for the last.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * math.ceil(queries / math.ceil(queries / chunk)) * keys * hidden
            ),
        ),
        "chunks of the batch": (
            "A chunk holds its queries of each example, not of all examples together.",
            lambda batch, queries, keys, hidden, chunk: 4 * min(chunk, batch * queries) * keys * hidden,
        ),
        "batch forgotten": (
            "The batch is missing: a chunk holds its queries of every example.",
            lambda batch, queries, keys, hidden, chunk: 4 * min(chunk, queries) * keys * hidden,
        ),
        "keys forgotten": (
            "The keys are missing: there is a row of hidden numbers for each query with each key.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * min(chunk, queries) * hidden,
        ),
        "hidden units forgotten": (
            "The hidden units are missing: these are the scores of one chunk, after the sum over them.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * min(chunk, queries) * keys,
        ),
        "projections alone": (
            "These are the two projections, (…, queries, hidden) and (…, keys, hidden). Their sum has an "
            "axis for each: the sizes are multiplied.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * (min(chunk, queries) + keys) * hidden,
        ),
        "last chunk": (
            "This is what the last chunk takes, where some queries are left over. The full ones take more.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * (queries % chunk or min(chunk, queries)) * keys * hidden
            ),
        ),
    },
)

# --- experiment: a wish that only examples tell ----------------------------------------------------

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
