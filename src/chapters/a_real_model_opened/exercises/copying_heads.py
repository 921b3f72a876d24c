"""Find the heads that copy: by where they look in a text that comes twice."""

import torch
from torch import Tensor

from attnlab.runtime import generator
from attnlab.shapes import Weights
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts


def _looked_at(weights: Weights, n: int, behind: int = 1) -> Weights:
    """(layers, heads, n): what the places of the second copy give to the one so far `behind` the earlier."""
    queries = torch.arange(n, 2 * n, device=weights.device)
    return weights[..., queries, queries - n + behind]


def _copying_heads(
    weights: Weights, n: int, *,
    of: Part = lambda weights: weights,
    looks: Part = _looked_at,
    summed: Part = lambda found, n: found.mean(-1),
) -> Tensor:  # fmt: skip
    return summed(looks(of(weights), n), n)  # type: ignore[no-any-return]


MISTAKES: Mistakes = in_parts(
    _copying_heads,
    of={
        "queries and keys exchanged": (
            "Queries and keys have changed places. A row of the weights is a query, and looks at columns.",
            lambda weights: weights.mT,
        ),
    },
    looks={
        "the earlier copy itself": (
            "You read the weight on the earlier copy of the piece itself. A head that copies looks one place "
            "further, at what came next.",
            lambda weights, n: _looked_at(weights, n, 0),
        ),
        "two places behind": (
            "You read two places behind the earlier copy. What came next is one behind.",
            lambda weights, n: _looked_at(weights, n, 2),
        ),
        "the place before": (
            "You read the weight on the place right before the query. That finds the heads that look back by "
            "one, which serve those that copy.",
            lambda weights, n: _looked_at(weights, n, n - 1),
        ),
        "one query of the first copy": (
            "The last place of the first copy is among the queries. It has no earlier copy: that diagonal of "
            "the weights begins one row too early.",
            lambda weights, n: weights.diagonal(1 - n, -2, -1),
        ),
        "last query missing": (
            "The last place is missing. It has an earlier copy, too, the last of the first half, and what "
            "came behind that is place n.",
            lambda weights, n: _looked_at(weights, n)[..., :-1],
        ),
    },
    summed={
        "over all places": (
            "You divide by all 2n places. Only the n places of the second copy are asked.",
            lambda found, n: found.sum(-1) / (2 * n),
        ),
        "sum": (
            "This is the sum over the places. The score is their mean, a share from 0 to 1.",
            lambda found, n: found.sum(-1),
        ),
        "largest": (
            "This is the largest weight of a single place. One hit may be chance: take the mean of all.",
            lambda found, n: found.amax(-1),
        ),
    },
) | in_answer(
    _copying_heads,
    {
        "layers and heads exchanged": (
            "The scores are right, and layers and heads have changed places. A row is a layer.",
            lambda scores: scores.mT,
        ),
    },
)


def _weights(label: str, seed: int, layers: int, heads: int, n: int) -> Case:
    """Causal weights, of which some heads look mostly at what came next."""
    scores = torch.randn(layers, heads, 2 * n, 2 * n, generator=generator(seed), device="cpu")
    strength = torch.arange(layers * heads, device="cpu").view(layers, heads, 1) % 3 * 2.5
    queries = torch.arange(n, 2 * n, device="cpu")
    scores[..., queries, queries - n + 1] += strength
    hidden = torch.ones(2 * n, 2 * n, dtype=torch.bool, device="cpu").triu(1)
    return Case(label, scores.masked_fill(hidden, -torch.inf).softmax(-1), n)


check_copying_heads = Exercise(
    "copying_heads",
    difficulty=2,
    minutes=20,
    takes=("weights", "n"),
    returns=("scores",),
    reference=_copying_heads,
    cases=(
        _weights("right for three pieces", 21, 1, 2, 3),
        _weights("right for five", 22, 2, 3, 5),
        _weights("right for twelve", 23, 4, 2, 12),
    ),
    mistakes=MISTAKES,
    trainable=False,  # gradients would bring a remark on loops: one over heads or places is right
)
