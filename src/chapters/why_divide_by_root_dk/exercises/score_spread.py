"""Say how far scores get from zero, for components of any spread."""

import math
from collections.abc import Callable

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import in_parts


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
