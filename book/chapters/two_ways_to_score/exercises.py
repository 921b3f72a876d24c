"""The exercises of “Two ways to score”."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.runtime import generator
from attnlab.scores import additive
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checker import Case, Exercise, Mistake, Report, check
from bookkit.puzzle import ShapePuzzle, WrongShapes, check_shapes


def _draw(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -2 and 2, in eighths: exact in every dtype, and the same on every machine."""
    whole = torch.randint(-16, 17, shape, generator=generator(seed), device="cpu")
    return whole.to(dtype) / 8


def _exact(*rows: list[float]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float32, device="cpu")


def _both(query: Queries, key: Keys, query_weight: Tensor, key_weight: Tensor) -> tuple[Tensor, Tensor]:
    """The two sides of a sum of every query with every key: (…, n, 1, h) and (…, 1, m, h)."""
    return (query @ query_weight.mT).unsqueeze(-2), (key @ key_weight.mT).unsqueeze(-3)


# --- additive scores ------------------------------------------------------------------------------


def _additive_case(
    label: str, query: Tensor, key: Tensor, query_weight: Tensor, key_weight: Tensor, vector: Tensor
) -> Case:
    names = ("query", "key", "query_weight", "key_weight", "vector")
    return Case(label, dict(zip(names, (query, key, query_weight, key_weight, vector), strict=True)))


def _joined_by(join: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., object]:
    """A mistake in what becomes of the two sides before the vector sums them."""

    def code(query: Queries, key: Keys, query_weight: Tensor, key_weight: Tensor, vector: Tensor) -> Tensor:
        return join(*_both(query, key, query_weight, key_weight)) @ vector

    return code


def _summed_by(finish: Callable[[Tensor, Tensor], Tensor]) -> Callable[..., object]:
    """A mistake in what becomes of the hidden numbers, (…, n, m, h), and the vector."""

    def code(query: Queries, key: Keys, query_weight: Tensor, key_weight: Tensor, vector: Tensor) -> Tensor:
        asked, offered = _both(query, key, query_weight, key_weight)
        return finish((asked + offered).tanh(), vector)

    return code


def _scores_made_into(change: Callable[[Scores], Tensor]) -> Callable[..., object]:
    """A mistake in what is done with the right scores."""
    return lambda *inputs: change(additive(*inputs))


ADDITIVE_SCORES = Exercise(
    name="additive_scores",
    difficulty=2,
    minutes=10,
    reference=lambda query, key, query_weight, key_weight, vector: additive(
        query, key, query_weight, key_weight, vector
    ),
    returns=("scores",),
    # In each case all the sizes differ, so that no axis can pass for another.
    cases=(
        _additive_case(
            "right for one query",
            _exact([0.5, 0.25]),
            _exact([0.5, 1, 0], [-1, 0.5, 0.25]),
            _exact([1, 0], [0, 1], [1, -1], [0.5, 0.5]),
            _exact([0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, -1]),
            torch.tensor([1.0, -1.0, 0.5, 2.0]),
        ),
        _additive_case(
            "right for more keys than queries",
            _draw(1, 3, 5), _draw(2, 7, 2), _draw(3, 4, 5) / 4, _draw(4, 4, 2) / 4, _draw(5, 4),
        ),
        _additive_case(
            "right for more queries than keys",
            _draw(6, 7, 2), _draw(7, 3, 4), _draw(8, 6, 2) / 4, _draw(9, 6, 4) / 4, _draw(10, 6),
        ),
        _additive_case(
            "right for a batch with heads",
            _draw(11, 2, 3, 5, 7), _draw(12, 2, 3, 6, 4), _draw(13, 9, 7) / 4, _draw(14, 9, 4) / 4,
            _draw(15, 9),
        ),
        _additive_case(
            "right in float64",
            *(_draw(seed, *shape, dtype=torch.float64) / 2
              for seed, shape in {16: (4, 3, 8), 17: (4, 6, 5), 18: (7, 8), 19: (7, 5), 20: (7,)}.items()),
        ),
    ),
    mistakes=(
        Mistake(
            "no tanh",
            "The tanh is missing. Without it the query adds the same number to the score of every key, and "
            "the softmax takes that away again.",
            _joined_by(lambda asked, offered: asked + offered),
        ),
        Mistake(
            "tanh after the sum",
            "The tanh comes after the sum over the hidden numbers. It belongs before, one for each hidden "
            "number: that is what lets query and key work together.",
            lambda query, key, query_weight, key_weight, vector: (
                sum(_both(query, key, query_weight, key_weight)) @ vector
            ).tanh(),
        ),
        Mistake(
            "tanh of each side",
            "The tanh was taken of the query's side and of the key's, and then they were added. Add first: "
            "else the query adds the same number for every key.",
            _joined_by(lambda asked, offered: asked.tanh() + offered.tanh()),
        ),
        Mistake(
            "multiplied",
            "The two sides are multiplied, where the additive score adds them.",
            _joined_by(lambda asked, offered: (asked * offered).tanh()),
        ),
        Mistake(
            "subtracted",
            "The key's side is taken away from the query's, where the additive score adds the two.",
            _joined_by(lambda asked, offered: (asked - offered).tanh()),
        ),
        Mistake(
            "sigmoid",
            "This squashes with the sigmoid, which lies between 0 and 1. tanh lies between -1 and 1.",
            _joined_by(lambda asked, offered: (asked + offered).sigmoid()),
        ),
        Mistake(
            "relu",
            "This cuts off with relu, which has no upper end. tanh keeps every hidden number between "
            "-1 and 1.",
            _joined_by(lambda asked, offered: (asked + offered).relu()),
        ),
        Mistake(
            "vector forgotten",
            "The hidden numbers are summed as they are. The vector gives each of them its own weight.",
            _summed_by(lambda hidden, vector: hidden.sum(-1)),
        ),
        Mistake(
            "averaged",
            "The hidden numbers, weighted by the vector, are averaged. They should be summed.",
            _summed_by(lambda hidden, vector: (hidden * vector).mean(-1)),
        ),
        Mistake(
            "not summed",
            "The sum over the hidden numbers is missing: `hidden @ vector` multiplies and sums, `*` only "
            "multiplies.",
            _summed_by(lambda hidden, vector: hidden * vector),
        ),
        Mistake(
            "softmax of the vector",
            "The vector went through a softmax. It holds free numbers, of either sign.",
            _summed_by(lambda hidden, vector: hidden @ vector.softmax(-1)),
        ),
        Mistake(
            "query and key swapped",
            "These are the right scores, turned on their side: row i, column j must hold query i and key j. "
            "The query needs the new axis at -2, and the key at -3.",
            _scores_made_into(lambda scores: scores.mT),
        ),
        Mistake(
            "softmax as well",
            "These are the attention weights: softmax of the scores. Return the scores before the softmax.",
            _scores_made_into(lambda scores: scores.softmax(-1)),
        ),
        Mistake(
            "scaled",
            "The scores are divided by the root of the number of hidden units. The additive score has no "
            "divisor.",
            lambda query, key, query_weight, key_weight, vector: additive(
                query, key, query_weight, key_weight, vector
            )
            / math.sqrt(len(vector)),
        ),
        Mistake(
            "the query alone",
            "The key plays no part: every key has the same score.",
            _joined_by(lambda asked, offered: (asked + 0 * offered).tanh()),
        ),
        Mistake(
            "the key alone",
            "The query plays no part: every query gives the same scores.",
            _joined_by(lambda asked, offered: (0 * asked + offered).tanh()),
        ),
        Mistake(
            "new axes forgotten",
            "The two sides are added as they are, (…, n, h) and (…, m, h). To meet every key, the query "
            "needs a new axis: unsqueeze(-2) makes it (…, n, 1, h), and the key needs one at -3.",
            lambda query, key, query_weight, key_weight, vector: (
                query @ query_weight.mT + key @ key_weight.mT
            ).tanh()
            @ vector,
        ),
    ),
)  # fmt: skip


def check_additive_scores(function: object) -> Report:
    """`check_additive_scores(my_function)` tests function(query, key, query_weight, key_weight, vector).

    >>> check_additive_scores(ADDITIVE_SCORES.reference).passed
    True
    """
    return check(ADDITIVE_SCORES, function)


# --- say the shapes -------------------------------------------------------------------------------

# query is (8, 50, 32), key (8, 200, 48) and the general weight (32, 48); there are 64 hidden units.
SCORE_SHAPES = ShapePuzzle(
    name="score_shapes",
    difficulty=2,
    minutes=5,
    shapes={
        "query @ weight": (8, 50, 48),
        "query @ weight @ key.mT": (8, 50, 200),
        "query @ query_weight.T": (8, 50, 64),
        "asked.unsqueeze(-2)": (8, 50, 1, 64),
        "asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200, 64),
        "hidden @ vector": (8, 50, 200),
        "concat_weight": (64, 80),
        "vector.grad": (64,),
    },
    mistakes=(
        WrongShapes(
            "as wide as the query",
            "the matrix turns vectors as wide as a query into vectors as wide as a key.",
            {"query @ weight": (8, 50, 32)},
        ),
        WrongShapes(
            "a row for each component",
            "the sum runs over the query's components, and their axis goes. What stays is a row for "
            "each query.",
            {"query @ weight": (8, 32, 48)},
        ),
        WrongShapes(
            "width kept",
            "the sum runs over the width, so that axis is gone. What is left is one number for each query "
            "with each key.",
            {"query @ weight @ key.mT": (8, 50, 48), "hidden @ vector": (8, 50, 200, 64)},
        ),
        WrongShapes(
            "queries and keys swapped",
            "the queries are the rows, and the keys the columns.",
            {
                "query @ weight @ key.mT": (8, 200, 50),
                "hidden @ vector": (8, 200, 50),
                "asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 200, 50, 64),
            },
        ),
        WrongShapes(
            "batch forgotten",
            "the axis of the batch is missing. `@` turns the last two axes into new ones and keeps those in "
            "front.",
            {
                "query @ weight": (50, 48),
                "query @ weight @ key.mT": (50, 200),
                "query @ query_weight.T": (50, 64),
                "asked.unsqueeze(-2)": (50, 1, 64),
                "asked.unsqueeze(-2) + offered.unsqueeze(-3)": (50, 200, 64),
                "hidden @ vector": (50, 200),
            },
        ),
        WrongShapes(
            "still as wide as a query",
            "this is the query before the product. The matrix has a row for each hidden unit, and `.T` turns "
            "the rows into columns.",
            {"query @ query_weight.T": (8, 50, 32)},
        ),
        WrongShapes(
            "new axis in front",
            "-2 counts in the new shape, from its end: the new axis comes last but one.",
            {"asked.unsqueeze(-2)": (8, 1, 50, 64)},
        ),
        WrongShapes(
            "new axis at the end",
            "that is what unsqueeze(-1) does. -2 is the place before the last axis.",
            {"asked.unsqueeze(-2)": (8, 50, 64, 1)},
        ),
        WrongShapes(
            "no new axis",
            "unsqueeze adds an axis, of length 1.",
            {"asked.unsqueeze(-2)": (8, 50, 64)},
        ),
        WrongShapes(
            "axes of length 1",
            "an axis of length 1 is stretched to the other's length when two tensors are added.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 1, 64)},
        ),
        WrongShapes(
            "lengths added",
            "adding two tensors does not put them end to end: axes of length 1 are stretched, and the "
            "numbers are added.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 250, 64)},
        ),
        WrongShapes(
            "hidden units forgotten",
            "there are 64 hidden numbers for each query with each key, and nothing has summed them yet.",
            {"asked.unsqueeze(-2) + offered.unsqueeze(-3)": (8, 50, 200)},
        ),
        WrongShapes(
            "last axis of length 1",
            "a vector has one axis, so `@` with it takes the last axis away, and leaves none of length 1.",
            {"hidden @ vector": (8, 50, 200, 1)},
        ),
        WrongShapes(
            "concat turned",
            "as with the two matrices it is made of, the hidden units are the rows.",
            {"concat_weight": (80, 64)},
        ),
        WrongShapes(
            "concat one above the other",
            "the query and the key are laid end to end, and so are the columns that read them.",
            {"concat_weight": (128, 32)},
        ),
        WrongShapes(
            "concat for one side",
            "this is one of the two matrices it is made of.",
            {"concat_weight": (64, 32)},
        ),
        WrongShapes(
            "the scores' gradient",
            "this is the gradient on the scores. A gradient has the shape of what it is a gradient on.",
            {"vector.grad": (8, 50, 200)},
        ),
        WrongShapes(
            "gradient of one number",
            "the loss is a single number, but it has a derivative for each component of the vector.",
            {"vector.grad": ()},
        ),
        WrongShapes(
            "a vector for each example",
            "all examples share one vector: its gradient is the sum over them.",
            {"vector.grad": (8, 64)},
        ),
    ),
)


def check_score_shapes(answers: object) -> Report:
    """`check_score_shapes(my_shapes)` tests a dictionary of expressions, with the shape of each.

    >>> check_score_shapes(SCORE_SHAPES.shapes | {"concat_weight": (80, 64)}).mistake
    'concat turned'
    """
    return check_shapes(SCORE_SHAPES, answers)


# --- repair: additive attention with a fault ------------------------------------------------------


def _attend(
    query: Queries, key: Keys, value: Values, query_weight: Tensor, key_weight: Tensor, vector: Tensor
) -> tuple[Tensor, Weights]:
    weights = additive(query, key, query_weight, key_weight, vector).softmax(-1)
    return weights @ value, weights


def _weighing_by(normalise: Callable[[Scores], Weights]) -> Callable[..., object]:
    """A mistake in how the right scores become weights."""

    def code(
        query: Queries, key: Keys, value: Values, query_weight: Tensor, key_weight: Tensor, vector: Tensor
    ) -> tuple[Tensor, Weights]:
        weights = normalise(additive(query, key, query_weight, key_weight, vector))
        return weights @ value, weights

    return code


def _attention_case(
    label: str,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    query_weight: Tensor,
    key_weight: Tensor,
    vector: Tensor,
) -> Case:
    names = ("query", "key", "value", "query_weight", "key_weight", "vector")
    tensors = (query, key, value, query_weight, key_weight, vector)
    return Case(label, dict(zip(names, tensors, strict=True)))


REPAIRED_ADDITIVE = Exercise(
    name="repaired_additive",
    difficulty=3,
    minutes=10,
    reference=_attend,
    returns=("output", "weights"),
    cases=(
        # The broken code passes the first of these, which is the clue: its scores are [[a, b], [b, a]].
        _attention_case(
            "right for two queries and two keys that mirror each other",
            _exact([1, 0], [0, 1]),
            _exact([1, 0], [0, 1]),
            _exact([1, 2, 3], [0, -1, 2]),
            _exact([1, 0], [0, 1]),
            _exact([1, 0], [0, 1]),
            torch.ones(2),
        ),
        _attention_case(
            "right for four queries and four keys",
            _draw(31, 4, 3), _draw(32, 4, 2), _draw(33, 4, 6), _draw(34, 5, 3) / 4, _draw(35, 5, 2) / 4,
            _draw(36, 5),
        ),
        _attention_case(
            "right for more keys than queries",
            _draw(37, 3, 5), _draw(38, 7, 2), _draw(39, 7, 6), _draw(40, 4, 5) / 4, _draw(41, 4, 2) / 4,
            _draw(42, 4),
        ),
        _attention_case(
            "right for a batch with heads",
            _draw(43, 2, 3, 5, 7), _draw(44, 2, 3, 6, 4), _draw(45, 2, 3, 6, 8), _draw(46, 9, 7) / 4,
            _draw(47, 9, 4) / 4, _draw(48, 9),
        ),
        _attention_case(
            "right in float64",
            *(_draw(seed, *shape, dtype=torch.float64) / 2
              for seed, shape in {
                  49: (4, 3, 8), 50: (4, 6, 5), 51: (4, 6, 2), 52: (7, 8), 53: (7, 5), 54: (7,)
              }.items()),
        ),
    ),
    mistakes=(
        Mistake(
            "still broken",
            "The fault that it came with is still there. Add up each query's weights: do they come to 1? "
            "Then say of each axis of `scores` what it counts.",
            _weighing_by(lambda scores: scores.softmax(-2)),
        ),
        Mistake(
            "softmax over dim=0",
            "The softmax runs over dim=0 of the scores, which is the batch as soon as there is one. Count "
            "from the end.",
            _weighing_by(lambda scores: scores.softmax(0)),
        ),
        Mistake(
            "softmax over dim=1",
            "The softmax runs over dim=1, which holds the keys of a single matrix only: with a batch in "
            "front the axes shift. Count from the end.",
            _weighing_by(lambda scores: scores.softmax(1)),
        ),
        Mistake(
            "softmax over both axes",
            "The softmax runs over all pairs at once. Each query has a weight of 1 of its own to share out.",
            _weighing_by(lambda scores: scores.flatten(-2).softmax(-1).view(scores.shape)),
        ),
        Mistake(
            "softmax over queries, then keys",
            "The softmax over the keys is there, but the one over the queries is still there before it.",
            _weighing_by(lambda scores: scores.softmax(-2).softmax(-1)),
        ),
        Mistake(
            "softmax over keys, then queries",
            "A softmax over the queries comes after the one over the keys, and undoes its sums.",
            _weighing_by(lambda scores: scores.softmax(-1).softmax(-2)),
        ),
        Mistake(
            "softmax twice",
            "The softmax over the keys is applied twice, so that every weight comes out much like the next.",
            _weighing_by(lambda scores: scores.softmax(-1).softmax(-1)),
        ),
        Mistake(
            "no softmax",
            "The softmax got lost: these weights are the scores themselves.",
            _weighing_by(lambda scores: scores),
        ),
        Mistake(
            "rows divided by their sum",
            "The rows of the broken weights are divided by their sums. They add up to 1 again, but are not "
            "the softmax of the scores.",
            _weighing_by(lambda scores: scores.softmax(-2) / scores.softmax(-2).sum(-1, keepdim=True)),
        ),
        Mistake(
            "sigmoid",
            "Sigmoid in place of softmax: each weight lies between 0 and 1, but a row does not sum to 1.",
            _weighing_by(torch.sigmoid),
        ),
        Mistake(
            "scaled",
            "Now the scores are divided by the root of the number of hidden units as well. The additive "
            "score has no divisor.",
            lambda query, key, value, query_weight, key_weight, vector: _weighing_by(
                lambda scores: (scores / math.sqrt(len(vector))).softmax(-1)
            )(query, key, value, query_weight, key_weight, vector),
        ),
        Mistake(
            "weights turned",
            "The output is right. The weights come back turned on their side: (…, m, n) in place of "
            "(…, n, m).",
            lambda *inputs: (_attend(*inputs)[0], _attend(*inputs)[1].mT),
        ),
        Mistake(
            "results swapped",
            "Both results are right, in the wrong order: return output, weights.",
            lambda *inputs: _attend(*inputs)[::-1],
        ),
    ),
)  # fmt: skip


def check_repaired_additive(function: object) -> Report:
    """`check_repaired_additive(my_function)` tests function(query, key, value, …) -> output, weights.

    >>> check_repaired_additive(REPAIRED_ADDITIVE.reference).passed
    True
    """
    return check(REPAIRED_ADDITIVE, function)


# --- count the memory -----------------------------------------------------------------------------


def _memory_case(label: str, batch: int, queries: int, keys: int, hidden: int, chunk: int) -> Case:
    inputs = {"batch": batch, "queries": queries, "keys": keys, "hidden": hidden, "chunk": chunk}
    return Case(label, inputs)


def _hidden_bytes(batch: int, queries: int, keys: int, hidden: int, chunk: int) -> int:
    return 4 * batch * min(chunk, queries) * keys * hidden


HIDDEN_BYTES = Exercise(
    name="hidden_bytes",
    difficulty=2,
    minutes=5,
    reference=_hidden_bytes,
    returns=("bytes",),
    cases=(
        _memory_case("right for one query at a time", 1, 5, 7, 3, 1),
        _memory_case("right for chunks that come out even", 3, 48, 50, 10, 16),
        _memory_case("right for chunks that do not", 2, 50, 9, 64, 16),
        _memory_case("right for a chunk larger than all queries", 8, 20, 30, 96, 256),
        _memory_case("right for a chunk of all queries", 2, 11, 13, 7, 11),
    ),
    mistakes=(
        Mistake(
            "numbers, not bytes",
            "This counts the numbers. One number of float32 takes four bytes.",
            lambda batch, queries, keys, hidden, chunk: batch * min(chunk, queries) * keys * hidden,
        ),
        Mistake(
            "float64",
            "This counts eight bytes for a number, which is float64. float32 takes half of that.",
            lambda *sizes: 2 * _hidden_bytes(*sizes),
        ),
        Mistake(
            "bits",
            "These are bits: float32 has 32 of them, which are four bytes.",
            lambda *sizes: 8 * _hidden_bytes(*sizes),
        ),
        Mistake(
            "two bytes",
            "This counts two bytes for a number, which is float16 or bfloat16.",
            lambda *sizes: _hidden_bytes(*sizes) / 2,
        ),
        Mistake(
            "chunk larger than all",
            "Right as long as there are queries to fill a chunk. A chunk of 256 takes no more than the 20 "
            "queries that there are.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * chunk * keys * hidden,
        ),
        Mistake(
            "all queries at once",
            "This is the whole tensor, of all queries. Only the queries of one chunk are there at a time.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * queries * keys * hidden,
        ),
        Mistake(
            "chunks of keys",
            "It is the queries that are taken chunk by chunk, and each of them meets all the keys.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * queries * min(chunk, keys) * hidden,
        ),
        Mistake(
            "number of chunks",
            "You multiply by the number of chunks. One of them is there at a time, and as large as "
            "its queries.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * math.ceil(queries / chunk) * keys * hidden
            ),
        ),
        Mistake(
            "batch forgotten",
            "The batch is missing: a chunk holds its queries of every example.",
            lambda batch, queries, keys, hidden, chunk: 4 * min(chunk, queries) * keys * hidden,
        ),
        Mistake(
            "keys forgotten",
            "The keys are missing: there is a row of hidden numbers for each query with each key.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * min(chunk, queries) * hidden,
        ),
        Mistake(
            "hidden units forgotten",
            "The hidden units are missing: these are the scores of one chunk, after the sum over them.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * min(chunk, queries) * keys,
        ),
        Mistake(
            "projections alone",
            "These are the two projections, (…, queries, hidden) and (…, keys, hidden). Their sum has an "
            "axis for each: the sizes are multiplied.",
            lambda batch, queries, keys, hidden, chunk: 4 * batch * (min(chunk, queries) + keys) * hidden,
        ),
        Mistake(
            "last chunk",
            "This is what the last chunk takes, where some queries are left over. The full ones take more.",
            lambda batch, queries, keys, hidden, chunk: (
                4 * batch * (queries % chunk or min(chunk, queries)) * keys * hidden
            ),
        ),
    ),
    trainable=False,
)


def check_hidden_bytes(function: object) -> Report:
    """`check_hidden_bytes(my_function)` tests function(batch, queries, keys, hidden, chunk) -> bytes.

    >>> check_hidden_bytes(lambda batch, queries, keys, hidden, chunk: 4 * queries * keys * hidden).passed
    False
    """
    return check(HIDDEN_BYTES, function)
