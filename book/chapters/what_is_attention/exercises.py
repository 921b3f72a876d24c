"""The exercises of “What is attention?”."""

import math
from collections.abc import Callable
from functools import partial
from numbers import Real
from typing import Any

import torch
from torch import Tensor

from attnlab.runtime import generator
from attnlab.scores import dot
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_parts, mixed, swapped
from bookkit.checking.mistakes.weighing import PRODUCTS, WEIGHING, softmax
from bookkit.checking.puzzle import ShapePuzzle


def _squared_distance(query: Queries, key: Keys) -> Scores:
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)  # (…, n, m, d)
    return difference.square().sum(-1)


def _attention(
    query: Queries,
    key: Keys,
    value: Values,
    number: float | Tensor,
    *,
    compare: Callable[..., Scores],
    score: Callable[..., Scores],
    weigh: Callable[..., Weights] = softmax,
) -> tuple[Tensor, Weights]:
    """What both functions do, in parts that can be mistaken; the number is what the scores depend on."""
    return mixed(weigh(score(compare(query, key), number)), value)


# --- a soft dictionary ----------------------------------------------------------------------------


_lookup = partial(_attention, compare=dot, score=lambda scores, temperature: scores / temperature)

check_soft_lookup = Exercise(
    "soft_lookup",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value", "temperature"),
    returns=("output", "weights"),
    reference=_lookup,
    # In each case all the sizes differ, so that a wrong axis shows.
    cases=(
        Case(
            "right for one query",
            exact([2, 0]),
            exact([2, 0], [0, 2], [1, 0]),
            exact([1, 0, 0, 2], [0, 1, 0, 2], [0, 0, 1, 2]),
            2.0,
        ),
        Case("right for several queries", *draw(1, (3, 5), (7, 5), (7, 4)), 4.0),
        # A power of two, so that dividing by it rounds nothing; the scores reach far beyond exp's range.
        Case("right at a low temperature", *draw(4, (4, 6), (5, 6), (5, 3)), 1 / 32),
        Case("right for a batch", *draw(7, (2, 3, 8), (2, 5, 8), (2, 5, 7)), 0.5),
        Case("right in float64", *draw(10, (6, 3, 9), (6, 4, 9), (6, 4, 5), dtype=torch.float64), 3.0),
    ),
    mistakes=in_parts(
        _lookup,
        score={
            "no temperature": (
                "This is the look-up at temperature 1, whatever the temperature. Where do the scores meet "
                "it?",
                lambda scores, temperature: scores,
            ),
            "multiplied": (
                "The scores are multiplied by the temperature. A high temperature must bring them together: "
                "divide.",
                lambda scores, temperature: scores * temperature,
            ),
            "root of the temperature": (
                "The scores are divided by the root of the temperature. It is the temperature itself here.",
                lambda scores, temperature: scores / math.sqrt(temperature),
            ),
            "temperature twice": (
                "The scores are divided by the temperature twice.",
                lambda scores, temperature: scores / temperature**2,
            ),
        },
        compare={
            "root of d_k as well": (
                "The scores are also divided by the root of the vectors' length. Attention often does that, "
                "but here the temperature alone divides.",
                lambda query, key: dot(query, key) / math.sqrt(query.shape[-1]),
            ),
            "distances": (
                "You score by minus the squared distance, as kernel regression does. Here the score is q·k.",
                lambda query, key: -_squared_distance(query, key),
            ),
        }
        | PRODUCTS,
        weigh=WEIGHING,
    )
    | {
        "divided after the softmax": (
            "The weights are divided by the temperature, so they no longer sum to 1. Divide the scores, "
            "before the softmax.",
            lambda query, key, value, temperature: mixed(dot(query, key).softmax(-1) / temperature, value),
        ),
        "keys mixed": (
            "The weights are right, but they mix the keys. What is fetched is the values.",
            lambda query, key, value, temperature: _lookup(query, key, key, temperature),
        ),
    }
    | swapped(_lookup, "output", "weights"),
)

# --- gate or weighted sum: say the shapes ----------------------------------------------------------

# features and attention are (8, 64); query is (8, 1, 16), key (8, 10, 16), value (8, 10, 64) and weights
# (8, 1, 10): 8 examples, 10 items each.
check_gate_shapes = ShapePuzzle(
    "gate_shapes",
    difficulty=2,
    minutes=5,
    shapes={
        "attention * features": (8, 64),
        "attention.sum(-1)": (8,),
        "query @ key.mT": (8, 1, 10),
        "weights.sum(-1)": (8, 1),
        "weights @ value": (8, 1, 64),
        "weights.mT * value": (8, 10, 64),
        "(weights.mT * value).sum(-2)": (8, 64),
    },
    mistakes={
        "gate that sums": (
            "a gate multiplies number by number. As many come out as went in: nothing is summed.",
            {"attention * features": (8,)},
        ),
        "gate as a matrix product": (
            "`*` multiplies number by number. It is `@` that would join every row with every row.",
            {"attention * features": (8, 8), "weights.mT * value": (8, 10, 10)},
        ),
        "summed over the examples": (
            "dim=-1 is the last axis; that is the one that goes, and the examples stay.",
            {"attention.sum(-1)": (64,), "weights.sum(-1)": (1, 10)},
        ),
        "axis kept": (
            "a sum takes its axis away, unless keepdim=True asks for it to stay with length 1.",
            {
                "attention.sum(-1)": (8, 1),
                "weights.sum(-1)": (8, 1, 1),
                "(weights.mT * value).sum(-2)": (8, 1, 64),
            },
        ),
        "axis of the query lost": (
            "the axis of the queries has length 1, and `@` keeps it.",
            {"query @ key.mT": (8, 10), "weights @ value": (8, 64)},
        ),
        "width kept": (
            "a dot product sums over the width 16, so that axis is gone: what is left is one number for each "
            "query with each key.",
            {"query @ key.mT": (8, 10, 16)},
        ),
        "one weight for each feature": (
            "a weighted sum has one weight for each item, 10 of them, and the items are what it sums over.",
            {"weights @ value": (8, 10, 64), "(weights.mT * value).sum(-2)": (8, 10, 64)},
        ),
        "summed over the features": (
            "the sum must run over the items. Here the features went away and the items stayed.",
            {"(weights.mT * value).sum(-2)": (8, 10), "weights @ value": (8, 1, 10)},
        ),
        "gate that mixes": (
            "weights.mT is (8, 10, 1): its last axis is stretched to the 64 features, so that each item "
            "keeps its row.",
            {"weights.mT * value": (8, 1, 64)},
        ),
    },
)

# --- the temperature that a share takes ------------------------------------------------------------


def _odds(keys: int, share: float) -> float:
    """The weight of the best key, over that of each other one."""
    return share * (keys - 1) / (1 - share)


check_needed_temperature = Exercise(
    "needed_temperature",
    difficulty=3,
    minutes=10,
    takes=("gap", "keys", "share"),
    returns=("temperature",),
    reference=lambda gap, keys, share: gap / math.log(_odds(keys, share)),
    cases=(
        Case("right for two keys", 1.0, 2, 0.99),
        Case("right for two keys", 2.0, 2, 0.8),
        Case("right for three keys", 1.0, 3, 0.99),
        Case("right for many keys", 1.0, 50, 0.9),
        Case("right for many keys", 10.0, 100_000, 0.18),
        Case("right for a small lead", 0.25, 8, 0.6),
    ),
    mistakes={
        "two keys only": (
            "Right for two keys. With more, the others add up: there are keys - 1 of them.",
            lambda gap, keys, share: gap / math.log(share / (1 - share)),
        ),
        "the best key counted among the others": (
            "You count all the keys as others. The best key is one of them, so the others are keys - 1.",
            lambda gap, keys, share: gap / math.log(share * keys / (1 - share)),
        ),
        "upside down": (
            "This is 1 over the temperature: what you would multiply the scores by.",
            lambda gap, keys, share: math.log(_odds(keys, share)) / gap,
        ),
        "gap multiplied": (
            "The logarithm belongs under the gap: from e^(gap / T) = odds follows gap / T = log(odds).",
            lambda gap, keys, share: gap * math.log(_odds(keys, share)),
        ),
        "gap forgotten": (
            "This is right for a gap of 1. A lead that is twice as long allows twice the temperature.",
            lambda gap, keys, share: 1 / math.log(_odds(keys, share)),
        ),
        "log of base 10": (
            "The logarithm is of base 10. Softmax raises e, so it takes math.log.",
            lambda gap, keys, share: gap / math.log10(_odds(keys, share)),
        ),
        "log of base 2": (
            "The logarithm is of base 2. Softmax raises e, so it takes math.log.",
            lambda gap, keys, share: gap / math.log2(_odds(keys, share)),
        ),
        "negative": (
            "The sign is wrong: a temperature is positive. The odds are the best key's weight over "
            "another's, not the other way round.",
            lambda gap, keys, share: -gap / math.log(_odds(keys, share)),
        ),
        "no logarithm": (
            "You divide the gap by the odds themselves. They are e^(gap / T): take their logarithm.",
            lambda gap, keys, share: gap / _odds(keys, share),
        ),
        "the best key's own share forgotten": (
            "You set the others' share to (keys - 1)·e^(-gap / T). That is measured against the best key's "
            "weight, which is the share and not 1.",
            lambda gap, keys, share: gap / math.log((keys - 1) / (1 - share)),
        ),
        "others divided, not multiplied": (
            "You divide the odds by the number of the others. Each other key has (1 - share) / (keys - 1), "
            "and that stands below.",
            lambda gap, keys, share: gap / math.log(share / (1 - share) / (keys - 1)),
        ),
    },
)

# --- repair: kernel regression with a fault -------------------------------------------------------


_regression = partial(
    _attention,
    compare=_squared_distance,
    score=lambda squared, bandwidth: -squared / (2 * bandwidth**2),
)


def _on_a_line(
    queries: list[float], keys: list[float], bandwidth: float, dtype: torch.dtype = torch.float32
) -> list[Tensor]:
    """Three keys, as points of a line."""
    points = [exact(*([place] for place in places)) for places in (queries, keys)]
    inputs = (*points, exact([3, 0], [1, 4], [0, 2]), exact([bandwidth])[0, 0])
    return [tensor.to(dtype) for tensor in inputs]


check_repaired_regression = Exercise(
    "repaired_regression",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value", "bandwidth"),
    returns=("output", "weights"),
    reference=_regression,
    cases=(
        # The broken code passes the first of these, which is the clue: all its distances are 0 or 1.
        Case("right for keys at 0, 1 and 2, from 1", *_on_a_line([1.0], [0.0, 1.0, 2.0], 0.5)),
        Case("right for keys at 0, 1 and 3, from 1", *_on_a_line([1.0], [0.0, 1.0, 3.0], 1.5)),
        Case("right for vectors", *draw(21, (5, 2), (7, 2), (7, 3)), exact([0.75])[0, 0]),
        Case("right for a batch", *draw(24, (2, 3, 4), (2, 6, 4), (2, 6, 5)), exact([3])[0, 0]),
        # There each kernel is 0, even in float64.
        Case("right far from all keys", *_on_a_line([40.0, 60.0], [0.0, 1 / 64, 3 / 64], 1.0, torch.float64)),
        Case(
            "right in float64",
            *draw(27, (4, 3, 2), (4, 6, 2), (4, 6, 5), dtype=torch.float64),
            torch.tensor(0.5, dtype=torch.float64),
        ),
    ),
    mistakes=in_parts(
        _regression,
        score={
            "still broken": (
                "The fault that it came with is still there. The first case passes because each of its "
                "distances is 0 or 1: which operation leaves just these two numbers as they are?",
                lambda squared, bandwidth: -squared.sqrt() / (2 * bandwidth**2),
            ),
            "whole score squared": (
                "The square fell on the whole fraction, so the 2 below is squared as well.",
                lambda squared, bandwidth: -squared / (2 * bandwidth**2) ** 2,
            ),
            "nearest gets least": (
                "The minus sign got lost: now the farthest key gets the most weight. (-a)**2 is a**2.",
                lambda squared, bandwidth: squared / (2 * bandwidth**2),
            ),
            "no 2": (
                "The 2 below the fraction is gone.",
                lambda squared, bandwidth: -squared / bandwidth**2,
            ),
            "bandwidth without its square": (
                "The distance is squared now, but the bandwidth no longer is.",
                lambda squared, bandwidth: -squared / (2 * bandwidth),
            ),
            "neither squared": (
                "Neither distance nor bandwidth is squared. That is a kernel, too: Laplace's, not Gauss's.",
                lambda squared, bandwidth: -squared.sqrt() / (2 * bandwidth),
            ),
            "2 squared with the bandwidth": (
                "The 2 is squared together with the bandwidth: (2h)² is 4h².",
                lambda squared, bandwidth: -squared / (2 * bandwidth) ** 2,
            ),
            "multiplied by the bandwidth": (
                "The bandwidth stands above: a / 2 * b is (a / 2) * b. Put 2 * bandwidth**2 in brackets.",
                lambda squared, bandwidth: -squared / 2 * bandwidth**2,
            ),
            "squared twice": (
                "The distance is squared twice.",
                lambda squared, bandwidth: -(squared**2) / (2 * bandwidth**2),
            ),
            "root of the distance": (
                "You take the root of the distance, where its square was asked for.",
                lambda squared, bandwidth: -(squared**0.25) / (2 * bandwidth**2),
            ),
        },
        compare={
            "dot products": (
                "You score by q·k / h². Without the lengths of the keys, a long one gets a bonus here.",
                lambda query, key: -2 * dot(query, key),
            ),
            "distance of city blocks": (
                "The differences are added and then squared. Each is squared, and then they are added.",
                lambda query, key: torch.cdist(query, key, p=1).square(),
            ),
        },
        weigh=WEIGHING,
    )
    | swapped(_regression, "output", "weights"),
)

# --- experiment: learn the bandwidth ---------------------------------------------------------------

# What a bandwidth may miss the wave by, over what the best one does. Choosing by leaving points out, one
# or a fold or half of them at a time, came to 1.6 at most, in twenty ways to divide each case.
ALLOWED = 1.8
WIDTHS = [0.005 * 1.15**step for step in range(50)]  # to 4.7


def _noisy_wave(seed: int, speed: float, noise: float) -> list[Any]:
    """400 points of sin(speed · x) between 0 and 6, and the speed, which only the check is told."""
    source = generator(seed)
    key = 6 * torch.rand(400, 1, generator=source, device="cpu")
    value = (speed * key).sin() + noise * torch.randn(400, 1, generator=source, device="cpu")
    return [key, value, speed]


def _missed(key: Keys, value: Values, speed: float, bandwidth: float) -> float:
    """How far the answers are from the wave itself, without the noise."""
    query = torch.linspace(0, 6, 301, device="cpu").unsqueeze(-1)
    output, _ = _regression(query, key, value, bandwidth)
    return (output - (speed * query).sin()).square().mean().sqrt().item()


def _side(choose: Callable[..., Any], key: Keys, value: Values, speed: float) -> Any:
    """-1 where the bandwidth that `choose(key, value)` returns is too narrow, 1 where it is too wide."""
    chosen = choose(key, value)
    if not (isinstance(chosen, Real) or (isinstance(chosen, Tensor) and chosen.numel() == 1)):
        return chosen
    if not 0 < float(chosen) < math.inf:
        raise WrongTypeError(f"A bandwidth is a positive number, and this is {float(chosen):g}.")
    misses = {width: _missed(key, value, speed, width) for width in WIDTHS}
    best = min(misses, key=lambda width: misses[width])
    if _missed(key, value, speed, float(chosen)) <= ALLOWED * misses[best]:
        return 0
    return -1 if float(chosen) < best else 1


def _left_out(key: Keys, value: Values) -> float:
    """The bandwidth at which the points best predict each other."""
    oneself = torch.eye(len(key), device="cpu").bool()

    def missed(bandwidth: float) -> float:
        scores = -_squared_distance(key, key) / (2 * bandwidth**2)
        output = scores.masked_fill(oneself, -math.inf).softmax(-1) @ value
        return (output - value).square().mean().item()

    return min(WIDTHS, key=missed)


check_learned_bandwidth = Exercise(
    "learned_bandwidth",
    difficulty=3,
    minutes=40,
    takes=("key", "value", "speed"),
    returns=("too narrow (-1) or too wide (1)",),
    reference=_left_out,
    ask=_side,
    trainable=False,
    cases=(
        Case("right for a slow wave under much noise", *_noisy_wave(31, 0.5, 1.0)),
        Case("right for a fast wave", *_noisy_wave(52, 8.0, 0.6)),
    ),
    mistakes={
        "chosen on its own points": (
            "Your bandwidth is far too narrow each time. A point that is asked for its own value always "
            "finds it, the better the narrower. Let a point be predicted by the others alone.",
            lambda key, value: 1e-3,
        ),
        "much too wide": (
            "Your bandwidth is far too wide each time: it flattens every wave. Compare the error of several, "
            "down to a hundredth.",
            lambda key, value: 6.0,
        ),
        "fits the slow wave alone": (
            "Your bandwidth suits the slow wave and is too wide for the others. It has to be chosen anew "
            "from each set of points, down to narrow ones.",
            lambda key, value: 0.5,
        ),
        "fits the fast wave alone": (
            "Your bandwidth suits a fast wave and is too narrow for a slow one. Choose it anew from each set "
            "of points; and if each point has a say in its own answer, narrow always looks better.",
            lambda key, value: 0.04,
        ),
        "a compromise": (
            "Your bandwidth is too narrow for the slow wave and too wide for the fast one. One number can't "
            "suit both: choose it anew from each set of points.",
            lambda key, value: 0.17,
        ),
        "with its error": (
            "You return two things, as min does with pairs. The bandwidth alone is asked for.",
            lambda key, value: (0.5, 1.0),
        ),
    },
)
