"""The exercises of “Why divide by √dₖ?”."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd.functional import jacobian
from torch.nn.functional import one_hot

from attnlab.scores import dot
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import but, in_answer, in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import DIVISORS, PRODUCTS, SCORES, WEIGHING, softmax
from bookkit.checking.puzzle import ShapePuzzle


def _scaled(
    query: Queries,
    key: Keys,
    *,
    compare: Callable[..., Scores] = dot,
    divisor: Callable[..., float | Tensor] = lambda query, key: math.sqrt(query.shape[-1]),
) -> Scores:
    """The scaled scores in parts, each of which can be mistaken."""
    return compare(query, key) / divisor(query, key)


# --- scaled scores --------------------------------------------------------------------------------


check_scaled_scores = Exercise(
    "scaled_scores",
    difficulty=1,
    minutes=5,
    takes=("query", "key"),
    returns=("scores",),
    reference=_scaled,
    # In each case all the sizes differ, so that no wrong one can pass for d_k.
    cases=(
        Case("right for one query", exact([1, 2, 0, -1]), exact([1, 1, 1, 0], [0, 2, 1, -1], [3, 0, 2, 2])),
        Case("right for more keys than queries", *draw(1, (3, 5), (7, 5))),
        Case("right for more queries than keys", *draw(3, (7, 6), (3, 6))),
        Case("right for a batch with heads", *draw(5, (2, 3, 5, 11), (2, 3, 7, 11))),
        Case("right in float64", *draw(7, (4, 3, 10), (4, 6, 10), dtype=torch.float64)),
    ),
    mistakes=in_parts(
        _scaled,
        divisor={
            "divided by the lengths": (
                "You divide by the lengths of the vectors, which gives their cosine. The divisor is √d_k, "
                "the same for every pair.",
                lambda query, key: query.norm(dim=-1).unsqueeze(-1) * key.norm(dim=-1).unsqueeze(-2),
            ),
        }
        | DIVISORS,
        compare={
            "added": (
                "You add the components of query and key and sum: the dot product multiplies them before it "
                "sums.",
                lambda query, key: (query.unsqueeze(-2) + key.unsqueeze(-3)).sum(-1),
            ),
        }
        | PRODUCTS,
    )
    | in_answer(_scaled, SCORES)
    | {
        "floor division": (
            "The scores are right but for their decimals: `//` rounds down, `/` does not.",
            lambda query, key: dot(query, key) // math.sqrt(query.shape[-1]),
        ),
        "root of the scores": (
            "The root fell on the whole fraction: √(q·k / d_k) has no value where q·k is negative. Take the "
            "root of d_k alone.",
            lambda query, key: torch.sqrt(dot(query, key) / query.shape[-1]),
        ),
    },
)

# --- say the shapes -------------------------------------------------------------------------------

# query is (8, 4, 50, 64), key (8, 4, 200, 64) and value (8, 4, 200, 32): batch, heads, length, width.
_SHAPES = {
    "query @ key.mT": (8, 4, 50, 200),
    "scores.std()": (),
    "scores.softmax(-1)": (8, 4, 50, 200),
    "weights.sum(-1)": (8, 4, 50),
    "weights @ value": (8, 4, 50, 32),
    "jacobian(softmax, one_row)": (200, 200),
    "query.grad": (8, 4, 50, 64),
}
_OF_HEADS = {expression: shape for expression, shape in _SHAPES.items() if len(shape) > 2}

check_attention_shapes = ShapePuzzle(
    "attention_shapes",
    difficulty=2,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "query and key swapped": (
            "the queries are the rows, and the keys the columns.",
            dict.fromkeys(("query @ key.mT", "scores.softmax(-1)"), (8, 4, 200, 50)),
        ),
        "d_k kept": (
            "a dot product sums over d_k, so that axis is gone. What is left is one number for each query "
            "with each key.",
            dict.fromkeys(("query @ key.mT", "scores.softmax(-1)"), (8, 4, 50, 64)),
        ),
        "heads forgotten": (
            "the axis of the heads is missing. Each head works for itself, and nothing here joins them.",
            {expression: (8, *sizes) for expression, (_, _, *sizes) in _OF_HEADS.items()},
        ),
        "batch forgotten": (
            "the axis of the batch is missing. `@` works on the last two axes and keeps those in front.",
            {expression: shape[1:] for expression, shape in _OF_HEADS.items()},
        ),
        "one head of one example": (
            "this is the shape for one head of one example. What became of the two axes in front?",
            {expression: shape[2:] for expression, shape in _OF_HEADS.items()},
        ),
        "spread of each row": (
            "without a dim, std() takes all the numbers together.",
            {"scores.std()": (8, 4, 50)},
        ),
        "a single number with an axis": (
            "a single number has no axis at all, where [3.0] has one of length 1.",
            {"scores.std()": (1,)},
        ),
        "softmax that sums": (
            "softmax makes a weight of every score: as many numbers come out as went in.",
            {"scores.softmax(-1)": (8, 4, 50)},
        ),
        "summed over the queries": (
            "-1 is the last axis, that of the keys. A sum over it leaves one number for each query.",
            {"weights.sum(-1)": (8, 4, 200)},
        ),
        "axis kept": (
            "a sum takes its axis away. Only with keepdim=True it stays, with length 1.",
            {"weights.sum(-1)": (8, 4, 50, 1)},
        ),
        "d_k for d_v": (
            "the output is a weighted sum of values, so it is as wide as a value, d_v, and not as a key.",
            {"weights @ value": (8, 4, 50, 64)},
        ),
        "an output for each key": (
            "there is one output for each query. The sum runs over the keys, so their axis is gone.",
            {"weights @ value": (8, 4, 200, 32)},
        ),
        "heads joined": (
            "this is what the heads make once they are joined. Here they are still apart.",
            {"weights @ value": (8, 50, 128)},
        ),
        "Jacobian as a vector": (
            "this is one derivative for each key. But every weight depends on every score.",
            {"jacobian(softmax, one_row)": (200,)},
        ),
        "Jacobian of all rows": (
            "this is the Jacobian of every row there is. Here it is that of one.",
            {"jacobian(softmax, one_row)": (8, 4, 50, 200, 200)},
        ),
        "Jacobian of queries and keys": (
            "one row holds the scores of a single query: every one of its axes belongs to the keys.",
            {"jacobian(softmax, one_row)": (50, 200)},
        ),
        "gradient of one number": (
            "the loss is a single number, but it has a derivative for each component of each query.",
            {"query.grad": ()},
        ),
        "the scores' gradient": (
            "this is the gradient on the scores. From there it goes back through `@`, to the queries.",
            {"query.grad": (8, 4, 50, 200)},
        ),
        "the keys' gradient": (
            "this is the gradient on the keys. A gradient has the shape of what it is a gradient on.",
            {"query.grad": (8, 4, 200, 64)},
        ),
    },
)

# --- the spread of a score ------------------------------------------------------------------------


def _spread(
    d_k: int,
    query_spread: float,
    key_spread: float,
    *,
    grow: Callable[[int], float] = math.sqrt,
    product: Callable[[float, float], float] = lambda query_spread, key_spread: query_spread * key_spread,
) -> float:
    """How much a single product spreads, and how that grows with their number."""
    return grow(d_k) * product(query_spread, key_spread)


check_score_spread = Exercise(
    "score_spread",
    difficulty=2,
    minutes=5,
    takes=("d_k", "query_spread", "key_spread"),
    returns=("spread",),
    reference=_spread,
    cases=(
        Case("right for spreads of 1", 4, 1.0, 1.0),
        Case("right for spreads of 1", 64, 1.0, 1.0),
        Case("right for other spreads", 16, 0.5, 3.0),
        Case("right for other spreads", 7, 2.0, 0.25),
        Case("right for a single component", 1, 2.0, 3.0),
        Case("right for small spreads", 512, 0.04, 1.5),
    ),
    mistakes=in_parts(
        _spread,
        grow={
            "d_k without its root": (
                "You multiply by d_k. It is the variances of the d_k products that add up, so the spread "
                "grows with the root of d_k.",
                lambda d_k: d_k,
            ),
            "no d_k": (
                "This is the spread of a single product q_i·k_i, which is also that of the scaled score. The "
                "score sums d_k of them.",
                lambda d_k: 1,
            ),
            "divided by the root": (
                "You divide by √d_k: the score sums d_k products, so it spreads more than one of them, not "
                "less.",
                lambda d_k: 1 / math.sqrt(d_k),
            ),
        },
        product={
            "no spreads": (
                "This is √d_k, which is right where both spreads are 1. How much does one product q_i·k_i "
                "spread?",
                lambda query_spread, key_spread: 1,
            ),
            "no key spread": (
                "key_spread is missing: a key twice as long makes every product twice as large.",
                lambda query_spread, key_spread: query_spread,
            ),
            "no query spread": (
                "query_spread is missing: a query twice as long makes every product twice as large.",
                lambda query_spread, key_spread: key_spread,
            ),
            "spreads added": (
                "You add the two spreads. q_i and k_i are multiplied, and so are their spreads.",
                lambda query_spread, key_spread: query_spread + key_spread,
            ),
            "variances added": (
                "You add the variances of q_i and k_i, which gives the variance of a sum. For a product of "
                "independent numbers of mean 0 they are multiplied.",
                math.hypot,
            ),
            "variances averaged": (
                "You take the mean of the variances of q_i and k_i. For a product of independent numbers of "
                "mean 0 they are multiplied.",
                lambda query_spread, key_spread: math.hypot(query_spread, key_spread) / math.sqrt(2),
            ),
            "spreads squared": (
                "The root was taken of d_k alone: the variance is d_k·σ_q²·σ_k², and its root is "
                "√d_k·σ_q·σ_k.",
                lambda query_spread, key_spread: query_spread**2 * key_spread**2,
            ),
            "root of the spreads": (
                "You take the root of the spreads, too. They are standard deviations already, not variances.",
                lambda query_spread, key_spread: math.sqrt(query_spread * key_spread),
            ),
        },
    )
    | {
        "the variance": (
            "This is the variance, d_k·σ_q²·σ_k². The standard deviation is its root.",
            lambda d_k, query_spread, key_spread: d_k * query_spread**2 * key_spread**2,
        ),
    },
)

# --- repair: attention with a fault ---------------------------------------------------------------


def _attention(
    query: Queries,
    key: Keys,
    value: Values,
    *,
    score: Callable[..., Scores] = _scaled,
    weigh: Callable[..., Weights] = softmax,
) -> tuple[Tensor, Weights]:
    return mixed(weigh(score(query, key)), value)


def _large() -> list[Tensor]:
    """Drawn inputs whose rows of scores lie thousands apart, and differ little within."""
    query, key, value = draw(35, (3, 6), (5, 6), (5, 4), dtype=torch.float64)
    # All keys agree in one component, and with it a query moves all of its scores alike.
    query[:, -1], key[:, -1] = torch.tensor([4096, 0, -4096], device="cpu"), 1
    return [query, key, value]


check_repaired_attention = Exercise(
    "repaired_attention",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value"),
    returns=("output", "weights"),
    reference=_attention,
    cases=(
        # The broken code passes the first of these, which is the clue.
        Case("right for 4 keys of width 4", *draw(21, (2, 4), (4, 4), (4, 3))),
        Case("right for 2 keys of width 4", exact([1, 2, 0, -1]), *draw(24, (2, 4), (2, 3))),
        Case("right for 9 keys of width 6", *draw(26, (5, 6), (9, 6), (9, 7))),
        Case("right for a batch with heads", *draw(29, (2, 3, 5, 8), (2, 3, 7, 8), (2, 3, 7, 6))),
        Case("right for large scores", *_large()),
        Case("right in float64", *draw(32, (4, 3, 10), (4, 6, 10), (4, 6, 5), dtype=torch.float64)),
    ),
    mistakes=in_parts(
        _attention,
        score=in_parts(
            _scaled,
            divisor={
                "still broken": (
                    "The fault that it came with is still there. The first case passes because one of its "
                    "sizes happens to be d_k: which one is it, and where does the code use it?",
                    lambda query, key: math.sqrt(key.shape[-2]),
                ),
                "both roots": (
                    "The root of d_k came beside the old divisor, not into its place: the number of keys "
                    "still counts.",
                    lambda query, key: math.sqrt(query.shape[-1] * key.shape[-2]),
                ),
            }
            | but(DIVISORS, "root of the keys"),
            compare=PRODUCTS,
        ),
        weigh=WEIGHING,
    )
    | {
        "root of d_v": (
            "Now the scores are divided by the root of value.shape[-1]. Values take no part in the scores.",
            lambda query, key, value: mixed(softmax(dot(query, key) / math.sqrt(value.shape[-1])), value),
        ),
        "divided after the softmax": (
            "You divide the weights by √d_k, after the softmax, so that they no longer sum to 1. Divide the "
            "scores, before it.",
            lambda query, key, value: mixed(softmax(dot(query, key)) / math.sqrt(query.shape[-1]), value),
        ),
    }
    | swapped(_attention, "output", "weights"),
)

# --- the Jacobian of softmax ----------------------------------------------------------------------


def _outer(p: Tensor, q: Tensor) -> Tensor:
    return p.unsqueeze(-1) * q.unsqueeze(-2)  # (…, m) and (…, m) -> (…, m, m)


def _jacobian(
    scores: Scores,
    *,
    weigh: Callable[..., Weights] = softmax,
    formula: Callable[[Weights], Tensor] = lambda p: torch.diag_embed(p) - _outer(p, p),
) -> Tensor:
    """A formula in the probabilities p, as a function of the scores."""
    return formula(weigh(scores))


check_softmax_jacobian = Exercise(
    "softmax_jacobian",
    difficulty=3,
    minutes=15,
    takes=("scores",),
    returns=("jacobian",),
    reference=_jacobian,
    cases=(
        Case("right for one row of scores", exact([0, 1, 2])[0]),
        Case("right for several rows", *draw(11, (2, 5))),
        Case("right for a batch with heads", *draw(12, (2, 3, 4, 6))),
        # e^100 is beyond float32, and e^-300 is 0; but softmax depends on differences alone.
        Case("right for large scores", draw(13, (3, 4))[0] + exact([100], [0], [-200])),
        Case("right in float64", *draw(14, (2, 3, 7), dtype=torch.float64)),
    ),
    mistakes=in_parts(
        _jacobian,
        formula={
            "no diagonal": (
                "This is -p·pᵀ alone. Score i raises its own probability, too: p stands on the diagonal, and "
                "p·pᵀ is taken from it.",
                lambda p: -_outer(p, p),
            ),
            "no outer product": (
                "This is p on the diagonal alone. What one key wins the others lose: take the outer product "
                "p·pᵀ away.",
                torch.diag_embed,
            ),
            "the sigmoid's": (
                "This is p(1 - p) on the diagonal and zeros elsewhere, as for separate sigmoids. Softmax "
                "ties the keys together: off the diagonal stands -p_i·p_j.",
                lambda p: torch.diag_embed(p * (1 - p)),
            ),
            "only the diagonal": (
                "These are the diagonal entries p(1 - p), one for each key. There is one for each pair: (…, "
                "m, m).",
                lambda p: p * (1 - p),
            ),
            "p_i(1 - p_j) everywhere": (
                "This is p_i(1 - p_j) in every place. The 1 belongs to the diagonal only: elsewhere it is 0.",
                lambda p: _outer(p, 1 - p),
            ),
            "plus for minus": (
                "You add the outer product where it must be taken away: each row has to sum to 0, because "
                "the probabilities sum to 1 whatever the scores.",
                lambda p: torch.diag_embed(p) + _outer(p, p),
            ),
            "identity for diag(p)": (
                "You take p·pᵀ from the identity. It is taken from diag(p), which has p on the diagonal and "
                "not 1.",
                lambda p: torch.diag_embed(torch.ones_like(p)) - _outer(p, p),
            ),
            "of log-softmax": (
                "This is the Jacobian of log-softmax, I - 1·pᵀ. Without the logarithm each row i is "
                "multiplied by p_i.",
                lambda p: torch.diag_embed(torch.ones_like(p)) - _outer(torch.ones_like(p), p),
            ),
            "gradient of the sum": (
                "These are zeros, one for each key: the gradient of the sum of the probabilities, which is 1 "
                "whatever the scores. The Jacobian keeps the probabilities apart: one row for each.",
                torch.zeros_like,
            ),
            "vectors only": (
                "Right for one row; but torch.diag and torch.outer work on vectors only. torch.diag_embed "
                "and p.unsqueeze(-1) * p.unsqueeze(-2) take any axes in front.",
                lambda p: torch.diag(p) - torch.outer(p, p),
            ),
        },
        weigh=but(WEIGHING, "hard", "plain mean", "weights turned"),
    )
    | {
        "every row by every row": (
            "Right for one row; but of several this is the derivative of every row by every row, (…, m, …, "
            "m). A row depends on its own scores alone: (…, m, m).",
            lambda scores: jacobian(softmax, scores),  # type: ignore[no-untyped-call]
        ),
    },
    # A Jacobian is an end in itself here; code that finds it by autograd is welcome, and cuts the path.
    trainable=False,
)

# --- an experiment: a start that needs no divisor --------------------------------------------------

_KEYS, _VALUES, _STARTS = 16, 8, 5


def _share_right(weights: Weights, value: Tensor) -> Tensor:
    """For each start, the share of queries whose own value weighs most in what they fetch."""
    return ((weights.unsqueeze(1) @ value).argmax(-1) == value.argmax(-1)).double().mean((-2, -1))


def _values(batch: int, source: torch.Generator) -> Tensor:
    chosen = torch.randint(_VALUES, (_STARTS, batch, _KEYS), generator=source, device="cpu")
    return one_hot(chosen, _VALUES).double()  # (starts, batch, 16, 8)


def _start(work: Callable[..., object], d_k: int, seed: int) -> list[Tensor]:
    made = work(d_k, torch.Generator("cpu").manual_seed(seed))
    parts = list(made) if isinstance(made, tuple | list | Tensor) else []
    if len(parts) != 2 or not all(isinstance(part, Tensor) and part.shape == (_KEYS, d_k) for part in parts):
        raise WrongTypeError(f"Return two tensors, queries and keys, each of shape (16, d_k) = (16, {d_k}).")
    return [part.detach().double() for part in parts]


def _trained(work: Callable[..., object], d_k: int) -> tuple[int, int, int]:
    """How far a start gets: components of size 1? Still much to learn? And is it learned, undivided?"""
    starts = [_start(work, d_k, seed) for seed in range(_STARTS)]
    query, key = (torch.stack(each) for each in zip(*starts, strict=True))  # (starts, 16, d_k)
    sizes = [each.square().mean().sqrt().item() for each in (query, key)]
    if not all(0.8 <= size <= 1.25 for size in sizes):
        return (0 if min(sizes) < 0.8 else 2), 0, 0  # too small, too large
    source = torch.Generator("cpu").manual_seed(2)
    if _share_right(dot(query, key).softmax(-1), _values(64, source)).mean() > 0.5:
        return 1, 0, 0
    with torch.enable_grad():
        leaves = [each.clone().requires_grad_() for each in (query, key)]
        optimizer = torch.optim.Adam(leaves, lr=0.015, fused=True)
        for _ in range(200):
            value = _values(4, source)
            fetched = dot(*leaves).softmax(-1).unsqueeze(1) @ value  # (starts, batch, 16, 8)
            optimizer.zero_grad()
            (fetched - value).square().sum(-1).mean((-2, -1)).sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    with torch.no_grad():
        right = _share_right(dot(*leaves).softmax(-1), _values(64, source)).mean()
    return 1, 1, int(right >= 0.9)


def _drawn(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Independent queries and keys with components of size 1: the start that the divisor is for."""
    query, key = torch.randn(2, _KEYS, d_k, generator=source, device="cpu")
    return query, key


def _apart(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Queries in one half of the components and keys in the other, so that all scores are 0."""
    query, key = _drawn(d_k, source)
    half = torch.arange(d_k, device="cpu") < d_k // 2
    return math.sqrt(2) * query * half, math.sqrt(2) * key * ~half


def _one_query(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return query[:1].expand_as(query), key


def _slightly_apart(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """Keys that share most of themselves: what is their own still grows with the width."""
    query, key = _drawn(d_k, source)
    return query, math.sqrt(1 - 0.25**2) * key[:1] + 0.25 * key


def _tied(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, _ = _drawn(d_k, source)
    return query, query


def _large_components(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return math.sqrt(d_k) * query, key


def _small(d_k: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    query, key = _drawn(d_k, source)
    return query / math.sqrt(d_k), key


check_start_without_divisor = Exercise(
    "start_without_divisor",
    difficulty=4,
    minutes=40,
    takes=("d_k",),
    returns=("components of size 1", "still to be learned", "learned"),
    reference=_apart,
    cases=(
        Case("learned without a divisor at d_k = 16", 16),
        Case("learned without a divisor at d_k = 64", 64),
        Case("learned without a divisor at d_k = 256", 256),
    ),
    mistakes={
        "small components": (
            "The components of your queries or keys do not have a root mean square near 1. With small "
            "ones the scores are small, which is the divisor by another name. Keep the size, and find "
            "another way.",
            _small,
        ),
        "large components": (
            "The components of your queries or keys have a root mean square well above 1, which pulls the "
            "scores still further apart. Keep it near 1.",
            _large_components,
        ),
        "tied": (
            "This start has most answers right before anything is learned, like the tied queries and keys "
            "above. Find one that knows nothing at first.",
            _tied,
        ),
        "independent": (
            "At every width some queries never find their key. Look at the scores your start gives: how far "
            "apart are those of one query? That is all the softmax sees.",
            _drawn,
        ),
        "grows with the width": (
            "It learns at 16, and no longer at 64: the scores of one query still move apart as d_k grows. "
            "What would hold them together at every width?",
            _one_query,
        ),
        "grows slowly": (
            "It learns at 16 and 64, and no longer at 256. What holds the scores together must not wear off "
            "as d_k grows.",
            _slightly_apart,
        ),
    },
    trainable=False,
    ask=_trained,
)
