"""Write the scores of scaled dot-product attention."""

import math

import torch

from attnlab.scores import dot
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_answer, in_parts
from bookkit.checking.mistakes.weighing import DIVISORS, PRODUCTS, SCORES
from chapters.why_divide_by_root_dk.exercises.scaled import _scaled

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
