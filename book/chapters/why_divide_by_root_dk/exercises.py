"""The exercises of “Why divide by √dₖ?”."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.attention import attend
from attnlab.runtime import generator
from attnlab.scores import dot, scaled_dot
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checker import Case, Exercise, Mistake, Report, check
from bookkit.puzzle import ShapePuzzle, WrongShapes, check_shapes


def _draw(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -2 and 2, in eighths: exact in every dtype, and the same on every machine."""
    whole = torch.randint(-16, 17, shape, generator=generator(seed), device="cpu")
    return whole.to(dtype) / 8


def _exact(*rows: list[float]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float32, device="cpu")


# --- scaled scores --------------------------------------------------------------------------------


def _heads(query: Queries) -> int:
    return query.shape[-3] if query.dim() > 3 else 1


def _scores_case(label: str, query: Tensor, key: Tensor) -> Case:
    return Case(label, {"query": query, "key": key})


SCALED_SCORES = Exercise(
    name="scaled_scores",
    difficulty=1,
    minutes=5,
    reference=scaled_dot,
    returns=("scores",),
    # In each case all the sizes differ, so that no wrong one can pass for d_k.
    cases=(
        _scores_case(
            "right for one query", _exact([1, 2, 0, -1]), _exact([1, 1, 1, 0], [0, 2, 1, -1], [3, 0, 2, 2])
        ),
        _scores_case("right for more keys than queries", _draw(1, 3, 5), _draw(2, 7, 5)),
        _scores_case("right for more queries than keys", _draw(3, 7, 6), _draw(4, 3, 6)),
        _scores_case("right for a batch with heads", _draw(5, 2, 3, 5, 11), _draw(6, 2, 3, 7, 11)),
        _scores_case(
            "right in float64",
            _draw(7, 4, 3, 10, dtype=torch.float64),
            _draw(8, 4, 6, 10, dtype=torch.float64),
        ),
    ),
    mistakes=(
        Mistake(
            "not scaled",
            "These are the plain products q·k. What is left to do is the division by √d_k.",
            dot,
        ),
        Mistake(
            "multiplied",
            "These are the products q·k times √d_k: did you multiply where you meant to divide?",
            lambda query, key: dot(query, key) * math.sqrt(query.shape[-1]),
        ),
        Mistake(
            "divided by d_k",
            "These are the products divided by d_k itself, not by its root (dividing the query by √d_k and "
            "the key by √d_k as well comes to the same).",
            lambda query, key: dot(query, key) / query.shape[-1],
        ),
        Mistake(
            "divided by d_k squared",
            "These are the products divided by d_k²: a square where you meant the square root?",
            lambda query, key: dot(query, key) / query.shape[-1] ** 2,
        ),
        Mistake(
            "fourth root",
            "These are the products divided by the fourth root of d_k: if you meant to share the scaling "
            "between query and key, only one of them got its part.",
            lambda query, key: dot(query, key) / query.shape[-1] ** 0.25,
        ),
        Mistake(
            "root of the queries",
            "You divide by the root of the number of queries, query.shape[-2]. d_k is the length of one "
            "vector, the last axis.",
            lambda query, key: dot(query, key) / math.sqrt(query.shape[-2]),
        ),
        Mistake(
            "root of the keys",
            "You divide by the root of the number of keys, key.shape[-2]. d_k is the length of one vector, "
            "the last axis.",
            lambda query, key: dot(query, key) / math.sqrt(key.shape[-2]),
        ),
        Mistake(
            "root of the first axis",
            "You divide by the root of shape[0], which is the batch as soon as there is one. d_k is the "
            "last axis, shape[-1].",
            lambda query, key: dot(query, key) / math.sqrt(query.shape[0]),
        ),
        Mistake(
            "root of the second axis",
            "You divide by the root of shape[1]. That is d_k for a single matrix only: with a batch in "
            "front the axes shift. Count from the end: shape[-1].",
            lambda query, key: dot(query, key) / math.sqrt(query.shape[1]),
        ),
        Mistake(
            "root of d_model",
            "You divide by the root of d_model, the width of all heads together. Each product runs over one "
            "head's d_k numbers, so that is what it grows with.",
            lambda query, key: dot(query, key) / math.sqrt(query.shape[-1] * _heads(query)),
        ),
        Mistake(
            "root of every element",
            "You divide by the root of query.numel(), the number of all elements. d_k is the length of one "
            "vector, the last axis.",
            lambda query, key: dot(query, key) / math.sqrt(query.numel()),
        ),
        Mistake(
            "root of d_k + 1",
            "You divide by the root of d_k + 1: one too many.",
            lambda query, key: dot(query, key) / math.sqrt(query.shape[-1] + 1),
        ),
        Mistake(
            "rounded root",
            "You divide by √d_k without its decimals. `//`, `int` and `math.isqrt` round down.",
            lambda query, key: dot(query, key) / math.isqrt(query.shape[-1]),
        ),
        Mistake(
            "floor division",
            "The scores are right but for their decimals: `//` rounds down, `/` does not.",
            lambda query, key: dot(query, key) // math.sqrt(query.shape[-1]),
        ),
        Mistake(
            "root of the scores",
            "The root fell on the whole fraction: √(q·k / d_k) has no value where q·k is negative. Take the "
            "root of d_k alone.",
            lambda query, key: torch.sqrt(dot(query, key) / query.shape[-1]),
        ),
        Mistake(
            "8 for every width",
            "You divide by 8, the root of 64, whatever the width. Read d_k off the query: query.shape[-1].",
            lambda query, key: dot(query, key) / 8,
        ),
        Mistake(
            "query and key swapped",
            "These are the right scores with query and key swapped: row i, column j must hold query i and "
            "key j.",
            lambda query, key: scaled_dot(key, query),
        ),
        Mistake(
            "zeros",
            "These are all zeros, of the right shape. Is the product computed at all?",
            lambda query, key: dot(query, key) * 0,
        ),
        Mistake(
            "softmax as well",
            "These are the attention weights: softmax of the scores. Return the scores before the softmax.",
            lambda query, key: scaled_dot(query, key).softmax(-1),
        ),
        Mistake(
            "cosine",
            "You divide by the lengths of the vectors, which gives their cosine. The divisor is √d_k, the "
            "same for every pair.",
            lambda query, key: (
                dot(query, key) / dot(query.norm(dim=-1, keepdim=True), key.norm(dim=-1, keepdim=True))
            ),
        ),
        Mistake(
            "added",
            "You add the components of query and key and sum: the dot product multiplies them before it "
            "sums.",
            lambda query, key: (query.unsqueeze(-2) + key.unsqueeze(-3)).sum(-1) / math.sqrt(query.shape[-1]),
        ),
        Mistake(
            "summed over the keys",
            "There is one number for each query where there should be one for each query and key: a sum "
            "over the keys too many.",
            lambda query, key: scaled_dot(query, key).sum(-1),
        ),
        Mistake(
            "every axis turned",
            "Right for single matrices; but with a batch in front, key.T turns the batch axes as well. "
            "key.transpose(-2, -1) swaps just the last two.",
            lambda query, key: query @ key.T / math.sqrt(query.shape[-1]),
        ),
        Mistake(
            "first axes turned",
            "Right for single matrices; but transpose(0, 1) swaps the first two axes, which with a batch in "
            "front are not the ones you mean. Count from the end: transpose(-2, -1).",
            lambda query, key: query @ key.transpose(0, 1) / math.sqrt(query.shape[-1]),
        ),
        Mistake(
            "not transposed",
            "The key must be turned before `@`: (n, d_k) times (d_k, m). key.transpose(-2, -1) does it.",
            lambda query, key: query @ key,
        ),
        Mistake(
            "element by element",
            "`*` multiplies element by element. For every query with every key, it takes a matrix product: "
            "`@`.",
            lambda query, key: query * key,
        ),
    ),
)


def check_scaled_scores(function: object) -> Report:
    """`check_scaled_scores(my_function)` tests function(query, key) -> q·k / √d_k for every pair.

    >>> check_scaled_scores(lambda query, key: query @ key.mT / query.shape[-1] ** 0.5).passed
    True
    """
    return check(SCALED_SCORES, function)


# --- say the shapes ------------------------------------------------------------------------------

# query is (8, 4, 50, 64), key (8, 4, 200, 64) and value (8, 4, 200, 32): batch, heads, length, width.
ATTENTION_SHAPES = ShapePuzzle(
    name="attention_shapes",
    difficulty=2,
    minutes=5,
    shapes={
        "query @ key.mT": (8, 4, 50, 200),
        "scores.std()": (),
        "scores.softmax(-1)": (8, 4, 50, 200),
        "weights.sum(-1)": (8, 4, 50),
        "weights @ value": (8, 4, 50, 32),
        "jacobian(softmax, one_row)": (200, 200),
        "query.grad": (8, 4, 50, 64),
    },
    mistakes=(
        WrongShapes(
            "query and key swapped",
            "the queries are the rows, and the keys the columns.",
            {"query @ key.mT": (8, 4, 200, 50), "scores.softmax(-1)": (8, 4, 200, 50)},
        ),
        WrongShapes(
            "d_k kept",
            "a dot product sums over d_k, so that axis is gone. What is left is one number for each query "
            "with each key.",
            {"query @ key.mT": (8, 4, 50, 64), "scores.softmax(-1)": (8, 4, 50, 64)},
        ),
        WrongShapes(
            "heads forgotten",
            "the axis of the heads is missing. Each head works for itself, and nothing here joins them.",
            {
                "query @ key.mT": (8, 50, 200),
                "scores.softmax(-1)": (8, 50, 200),
                "weights.sum(-1)": (8, 50),
                "weights @ value": (8, 50, 32),
                "query.grad": (8, 50, 64),
            },
        ),
        WrongShapes(
            "batch forgotten",
            "the axis of the batch is missing. `@` turns the last two axes into new ones and keeps those in "
            "front.",
            {
                "query @ key.mT": (4, 50, 200),
                "scores.softmax(-1)": (4, 50, 200),
                "weights.sum(-1)": (4, 50),
                "weights @ value": (4, 50, 32),
                "query.grad": (4, 50, 64),
            },
        ),
        WrongShapes(
            "one head of one example",
            "this is the shape for one head of one example. What became of the two axes in front?",
            {
                "query @ key.mT": (50, 200),
                "scores.softmax(-1)": (50, 200),
                "weights.sum(-1)": (50,),
                "weights @ value": (50, 32),
                "query.grad": (50, 64),
            },
        ),
        WrongShapes(
            "spread of each row",
            "without a dim, std() takes all the numbers together.",
            {"scores.std()": (8, 4, 50)},
        ),
        WrongShapes(
            "a single number with an axis",
            "a single number has no axis at all, where [3.0] has one of length 1.",
            {"scores.std()": (1,)},
        ),
        WrongShapes(
            "softmax that sums",
            "softmax makes a weight of every score: as many numbers come out as went in.",
            {"scores.softmax(-1)": (8, 4, 50)},
        ),
        WrongShapes(
            "summed over the queries",
            "-1 is the last axis, that of the keys. A sum over it leaves one number for each query.",
            {"weights.sum(-1)": (8, 4, 200)},
        ),
        WrongShapes(
            "axis kept",
            "a sum takes its axis away. Only with keepdim=True it stays, with length 1.",
            {"weights.sum(-1)": (8, 4, 50, 1)},
        ),
        WrongShapes(
            "d_k for d_v",
            "the output is a weighted sum of values, so it is as wide as a value, d_v, and not as a key.",
            {"weights @ value": (8, 4, 50, 64)},
        ),
        WrongShapes(
            "an output for each key",
            "there is one output for each query. The sum runs over the keys, so their axis is gone.",
            {"weights @ value": (8, 4, 200, 32)},
        ),
        WrongShapes(
            "heads joined",
            "this is what the heads make once they are joined. Here they are still apart.",
            {"weights @ value": (8, 50, 128)},
        ),
        WrongShapes(
            "Jacobian as a vector",
            "this is one derivative for each key. But every weight depends on every score: there is one for "
            "each pair.",
            {"jacobian(softmax, one_row)": (200,)},
        ),
        WrongShapes(
            "Jacobian of all rows",
            "this is the Jacobian of every row there is. Here it is that of one.",
            {"jacobian(softmax, one_row)": (8, 4, 50, 200, 200)},
        ),
        WrongShapes(
            "Jacobian of queries and keys",
            "one row holds the scores of a single query: every one of its axes belongs to the keys.",
            {"jacobian(softmax, one_row)": (50, 200)},
        ),
        WrongShapes(
            "gradient of one number",
            "the loss is a single number, but it has a derivative for each component of each query.",
            {"query.grad": ()},
        ),
        WrongShapes(
            "the scores' gradient",
            "this is the gradient on the scores. From there it goes back through `@`, to the queries.",
            {"query.grad": (8, 4, 50, 200)},
        ),
        WrongShapes(
            "the keys' gradient",
            "this is the gradient on the keys. A gradient has the shape of what it is a gradient on.",
            {"query.grad": (8, 4, 200, 64)},
        ),
    ),
)


def check_attention_shapes(answers: object) -> Report:
    """`check_attention_shapes(my_shapes)` tests a dictionary of expressions, with the shape of each.

    >>> shapes = ATTENTION_SHAPES.shapes | {"weights @ value": (8, 4, 50, 64)}
    >>> check_attention_shapes(shapes).mistake
    'd_k for d_v'
    """
    return check_shapes(ATTENTION_SHAPES, answers)


# --- the spread of a score ------------------------------------------------------------------------


def _spread_case(label: str, d_k: int, query_spread: float, key_spread: float) -> Case:
    return Case(label, {"d_k": d_k, "query_spread": query_spread, "key_spread": key_spread})


SCORE_SPREAD = Exercise(
    name="score_spread",
    difficulty=2,
    minutes=5,
    reference=lambda d_k, query_spread, key_spread: math.sqrt(d_k) * query_spread * key_spread,
    returns=("spread",),
    cases=(
        _spread_case("right for spreads of 1", 4, 1.0, 1.0),
        _spread_case("right for spreads of 1", 64, 1.0, 1.0),
        _spread_case("right for other spreads", 16, 0.5, 3.0),
        _spread_case("right for other spreads", 7, 2.0, 0.25),
        _spread_case("right for a single component", 1, 2.0, 3.0),
        _spread_case("right for small spreads", 512, 0.04, 1.5),
    ),
    mistakes=(
        Mistake(
            "the variance",
            "This is the variance, d_k·σ_q²·σ_k². The standard deviation is its root.",
            lambda d_k, query_spread, key_spread: d_k * query_spread**2 * key_spread**2,
        ),
        Mistake(
            "d_k without its root",
            "You multiply by d_k. It is the variances of the d_k products that add up, so the spread grows "
            "with the root of d_k.",
            lambda d_k, query_spread, key_spread: d_k * query_spread * key_spread,
        ),
        Mistake(
            "no spreads",
            "This is √d_k, which is right where both spreads are 1. How much does one product q_i·k_i "
            "spread?",
            lambda d_k, query_spread, key_spread: math.sqrt(d_k),
        ),
        Mistake(
            "no key spread",
            "key_spread is missing: a key twice as long makes every product twice as large.",
            lambda d_k, query_spread, key_spread: math.sqrt(d_k) * query_spread,
        ),
        Mistake(
            "no query spread",
            "query_spread is missing: a query twice as long makes every product twice as large.",
            lambda d_k, query_spread, key_spread: math.sqrt(d_k) * key_spread,
        ),
        Mistake(
            "no d_k",
            "This is the spread of a single product q_i·k_i. The score sums d_k of them.",
            lambda d_k, query_spread, key_spread: query_spread * key_spread,
        ),
        Mistake(
            "spreads added",
            "You add the two spreads. q_i and k_i are multiplied, and so are their spreads.",
            lambda d_k, query_spread, key_spread: math.sqrt(d_k) * (query_spread + key_spread),
        ),
        Mistake(
            "variances added",
            "You add the variances of q_i and k_i, which gives the variance of a sum. For a product of "
            "independent numbers of mean 0 they are multiplied.",
            lambda d_k, query_spread, key_spread: math.sqrt(d_k * (query_spread**2 + key_spread**2)),
        ),
        Mistake(
            "spreads squared",
            "The root was taken of d_k alone: the variance is d_k·σ_q²·σ_k², and its root is √d_k·σ_q·σ_k.",
            lambda d_k, query_spread, key_spread: math.sqrt(d_k) * query_spread**2 * key_spread**2,
        ),
        Mistake(
            "root of the spreads",
            "You take the root of the spreads, too. They are standard deviations already, not variances.",
            lambda d_k, query_spread, key_spread: math.sqrt(d_k * query_spread * key_spread),
        ),
        Mistake(
            "divided by the root",
            "You divide by √d_k: the score sums d_k products, so it spreads more than one of them, not less.",
            lambda d_k, query_spread, key_spread: query_spread * key_spread / math.sqrt(d_k),
        ),
    ),
    trainable=False,
)


def check_score_spread(function: object) -> Report:
    """`check_score_spread(my_function)` tests function(d_k, query_spread, key_spread) -> the spread of q·k.

    >>> check_score_spread(lambda d_k, query_spread, key_spread: d_k * query_spread * key_spread).mistake
    'd_k without its root'
    """
    return check(SCORE_SPREAD, function)


# --- repair: attention with a fault ---------------------------------------------------------------


def _attention_case(label: str, query: Queries, key: Keys, value: Values) -> Case:
    return Case(label, {"query": query, "key": key, "value": value})


def _weigh(weights: Weights, value: Values) -> tuple[Tensor, Weights]:
    return weights @ value, weights


def _attention_dividing_by(divisor: Callable[[Queries, Keys, Values], float]) -> Callable[..., object]:
    """A mistake in what the scores are divided by."""

    def attention(query: Queries, key: Keys, value: Values) -> tuple[Tensor, Weights]:
        return _weigh((dot(query, key) / divisor(query, key, value)).softmax(-1), value)

    return attention


def _attention_weighing_by(normalise: Callable[[Scores], Weights]) -> Callable[..., object]:
    """A mistake in how the right scores become weights."""
    return lambda query, key, value: _weigh(normalise(scaled_dot(query, key)), value)


REPAIRED_ATTENTION = Exercise(
    name="repaired_attention",
    difficulty=2,
    minutes=10,
    reference=attend,
    returns=("output", "weights"),
    cases=(
        # The broken code passes the first of these, which is the clue.
        _attention_case("right for 4 keys of width 4", _draw(21, 2, 4), _draw(22, 4, 4), _draw(23, 4, 3)),
        _attention_case(
            "right for 2 keys of width 4", _exact([1, 2, 0, -1]), _draw(24, 2, 4), _draw(25, 2, 3)
        ),
        _attention_case("right for 9 keys of width 6", _draw(26, 5, 6), _draw(27, 9, 6), _draw(28, 9, 7)),
        _attention_case(
            "right for a batch with heads",
            _draw(29, 2, 3, 5, 8),
            _draw(30, 2, 3, 7, 8),
            _draw(31, 2, 3, 7, 6),
        ),
        _attention_case(
            "right in float64",
            _draw(32, 4, 3, 10, dtype=torch.float64),
            _draw(33, 4, 6, 10, dtype=torch.float64),
            _draw(34, 4, 6, 5, dtype=torch.float64),
        ),
    ),
    mistakes=(
        Mistake(
            "still broken",
            "The fault that it came with is still there. The first case passes because one of its sizes "
            "happens to be d_k: which one is it, and where does the code use it?",
            _attention_dividing_by(lambda query, key, value: math.sqrt(key.shape[-2])),
        ),
        Mistake(
            "root of the queries",
            "Now the scores are divided by the root of the number of queries. The products run over the "
            "components of one query and one key.",
            _attention_dividing_by(lambda query, key, value: math.sqrt(query.shape[-2])),
        ),
        Mistake(
            "root of d_v",
            "Now the scores are divided by the root of value.shape[-1]. Values take no part in the scores.",
            _attention_dividing_by(lambda query, key, value: math.sqrt(value.shape[-1])),
        ),
        Mistake(
            "root of the first axis",
            "Now the scores are divided by the root of shape[0], the batch as soon as there is one.",
            _attention_dividing_by(lambda query, key, value: math.sqrt(query.shape[0])),
        ),
        Mistake(
            "root of d_model",
            "Now the scores are divided by the root of the width of all heads together. Each product runs "
            "over one head's components.",
            _attention_dividing_by(lambda query, key, value: math.sqrt(query.shape[-1] * _heads(query))),
        ),
        Mistake(
            "not scaled",
            "Now the scores are not divided at all: the fault is gone, and so is the scaling.",
            _attention_dividing_by(lambda query, key, value: 1.0),
        ),
        Mistake(
            "divided by d_k",
            "The right number, d_k, but without its root.",
            _attention_dividing_by(lambda query, key, value: query.shape[-1]),
        ),
        Mistake(
            "multiplied",
            "The right number, √d_k, but the scores are multiplied by it.",
            _attention_dividing_by(lambda query, key, value: 1 / math.sqrt(query.shape[-1])),
        ),
        Mistake(
            "divided after the softmax",
            "You divide the weights by √d_k, after the softmax, so that they no longer sum to 1. Divide the "
            "scores, before it.",
            lambda query, key, value: _weigh(dot(query, key).softmax(-1) / math.sqrt(query.shape[-1]), value),
        ),
        Mistake(
            "softmax over the queries",
            "The softmax runs over the queries, dim=-2. Each query shares its weight out over the keys: "
            "dim=-1.",
            _attention_weighing_by(lambda scores: scores.softmax(-2)),
        ),
        Mistake(
            "softmax over dim=0",
            "The softmax runs over dim=0, which holds the queries or, where there is one, the batch. The "
            "keys are dim=-1.",
            _attention_weighing_by(lambda scores: scores.softmax(0)),
        ),
        Mistake(
            "softmax over dim=1",
            "The softmax runs over dim=1. Those are the keys of a single matrix only: with a batch in front "
            "the axes shift. Count from the end: dim=-1.",
            _attention_weighing_by(lambda scores: scores.softmax(1)),
        ),
        Mistake(
            "softmax twice",
            "The softmax is applied twice, so that every weight comes out much like the next.",
            _attention_weighing_by(lambda scores: scores.softmax(-1).softmax(-1)),
        ),
        Mistake(
            "no softmax",
            "The softmax got lost: these weights are the scores themselves.",
            _attention_weighing_by(lambda scores: scores),
        ),
        Mistake(
            "sigmoid",
            "Sigmoid in place of softmax: each weight lies between 0 and 1, but a row does not sum to 1.",
            _attention_weighing_by(torch.sigmoid),
        ),
        Mistake(
            "results swapped",
            "Both results are right, in the wrong order: return output, weights.",
            lambda query, key, value: attend(query, key, value)[::-1],
        ),
    ),
)


def check_repaired_attention(function: object) -> Report:
    """`check_repaired_attention(my_function)` tests function(query, key, value) -> output, weights.

    >>> check_repaired_attention(attend).passed
    True
    """
    return check(REPAIRED_ATTENTION, function)


# --- the Jacobian of softmax ----------------------------------------------------------------------


def _diagonal(p: Tensor) -> Tensor:
    return torch.diag_embed(p)  # (…, m) -> (…, m, m)


def _outer(p: Tensor, q: Tensor) -> Tensor:
    return p.unsqueeze(-1) * q.unsqueeze(-2)  # (…, m) and (…, m) -> (…, m, m)


def _jacobian_at(p: Tensor) -> Tensor:
    return _diagonal(p) - _outer(p, p)


def _from_p(formula: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """A formula in the probabilities p, as a function of the scores."""
    return lambda scores: formula(scores.softmax(-1))


SOFTMAX_JACOBIAN = Exercise(
    name="softmax_jacobian",
    difficulty=3,
    minutes=15,
    reference=_from_p(_jacobian_at),
    returns=("jacobian",),
    cases=(
        Case("right for one row of scores", {"scores": _exact([0, 1, 2])[0]}),
        Case("right for several rows", {"scores": _draw(11, 2, 5)}),
        Case("right for a batch with heads", {"scores": _draw(12, 2, 3, 4, 6)}),
        # e^100 is beyond float32; but softmax depends on differences alone.
        Case("right for large scores", {"scores": _draw(13, 3, 4) + 100}),
        Case("right in float64", {"scores": _draw(14, 2, 3, 7, dtype=torch.float64)}),
    ),
    mistakes=(
        Mistake(
            "no diagonal",
            "This is -p·pᵀ alone. Score i raises its own probability, too: p stands on the diagonal, and "
            "p·pᵀ is taken from it.",
            _from_p(lambda p: -_outer(p, p)),
        ),
        Mistake(
            "no outer product",
            "This is p on the diagonal alone. What one key wins the others lose: take the outer product "
            "p·pᵀ away.",
            _from_p(_diagonal),
        ),
        Mistake(
            "the sigmoid's",
            "This is p(1 - p) on the diagonal and zeros elsewhere, as for separate sigmoids. Softmax ties "
            "the keys together: off the diagonal stands -p_i·p_j.",
            _from_p(lambda p: _diagonal(p * (1 - p))),
        ),
        Mistake(
            "only the diagonal",
            "These are the diagonal entries p(1 - p), one for each key. There is one for each pair: (…, m, "
            "m).",
            _from_p(lambda p: p * (1 - p)),
        ),
        Mistake(
            "p_i(1 - p_j) everywhere",
            "This is p_i(1 - p_j) in every place. The 1 belongs to the diagonal only: elsewhere it is 0.",
            _from_p(lambda p: _outer(p, 1 - p)),
        ),
        Mistake(
            "sign reversed",
            "Every sign is reversed: a score that grows raises its own probability, so the diagonal is "
            "positive.",
            _from_p(lambda p: _outer(p, p) - _diagonal(p)),
        ),
        Mistake(
            "plus for minus",
            "You add the outer product where it must be taken away: each row has to sum to 0, because the "
            "probabilities sum to 1 whatever the scores.",
            _from_p(lambda p: _diagonal(p) + _outer(p, p)),
        ),
        Mistake(
            "identity for diag(p)",
            "You take p·pᵀ from the identity. It is taken from diag(p), which has p on the diagonal and not "
            "1.",
            _from_p(lambda p: _diagonal(torch.ones_like(p)) - _outer(p, p)),
        ),
        Mistake(
            "of log-softmax",
            "This is the Jacobian of log-softmax, I - 1·pᵀ. Without the logarithm each row i is multiplied "
            "by p_i.",
            _from_p(lambda p: _diagonal(torch.ones_like(p)) - _outer(torch.ones_like(p), p)),
        ),
        Mistake(
            "gradient of the sum",
            "These are zeros, one for each key: the gradient of the sum of the probabilities, which is 1 "
            "whatever the scores. The Jacobian keeps the probabilities apart: one row for each.",
            torch.zeros_like,
        ),
        Mistake(
            "no softmax",
            "The formula is applied to the scores themselves: p must be softmax(scores).",
            _jacobian_at,
        ),
        Mistake(
            "softmax twice",
            "The formula is right, but softmax was applied twice before it.",
            _from_p(lambda p: _jacobian_at(p.softmax(-1))),
        ),
        Mistake(
            "softmax over the first axis",
            "Right for one row; but with several, softmax runs over dim=0, from row to row. Use dim=-1: one "
            "softmax for each row.",
            lambda scores: _jacobian_at(scores.softmax(0)),
        ),
        Mistake(
            "overflow",
            "Right, but for large scores, where exp(scores) is infinite and the division gives NaN. Take "
            "the largest score away first, or let torch.softmax do it.",
            lambda scores: _jacobian_at(scores.exp() / scores.exp().sum(-1, keepdim=True)),
        ),
        Mistake(
            "vectors only",
            "Right for one row; but torch.diag and torch.outer work on vectors only. torch.diag_embed and "
            "p.unsqueeze(-1) * p.unsqueeze(-2) take any axes in front.",
            _from_p(lambda p: torch.diag(p) - torch.outer(p, p)),
        ),
    ),
    # A Jacobian is an end in itself here; code that finds it by autograd is welcome, and cuts the path.
    trainable=False,
)


def check_softmax_jacobian(function: object) -> Report:
    """`check_softmax_jacobian(my_function)` tests function(scores) -> the matrix of all ∂p_i/∂scores_j.

    >>> check_softmax_jacobian(lambda scores: scores.softmax(-1).diag_embed()).mistake
    'no outer product'
    """
    return check(SOFTMAX_JACOBIAN, function)
