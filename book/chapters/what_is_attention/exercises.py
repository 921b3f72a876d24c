"""The exercises of “What is attention?”."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.scores import dot
from attnlab.shapes import Keys, Queries, Scores, Values, Weights
from bookkit.checker import Case, Exercise, Mistake, Report, check
from bookkit.puzzle import ShapePuzzle, WrongShapes, check_shapes


def _draw(seed: int, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Numbers between -2 and 2, in eighths: exact in every dtype, and the same on every machine."""
    whole = torch.randint(-16, 17, shape, generator=generator(seed), device="cpu")
    return whole.to(dtype) / 8


def _exact(*rows: list[float]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float32, device="cpu")


def _mix(weights: Weights, value: Values) -> tuple[Tensor, Weights]:
    return weights @ value, weights


def _over_all(scores: Scores) -> Weights:
    """One softmax over queries and keys together."""
    return scores.flatten(-2).softmax(-1).view_as(scores)


# --- a soft dictionary ----------------------------------------------------------------------------


def _lookup_case(label: str, query: Queries, key: Keys, value: Values, temperature: float) -> Case:
    return Case(label, {"query": query, "key": key, "value": value, "temperature": temperature})


def _lookup(weigh: Callable[[Scores, float], Weights]) -> Callable[..., object]:
    """A way to get from scores and temperature to weights, as a whole look-up."""
    return lambda query, key, value, temperature: _mix(weigh(dot(query, key), temperature), value)


SOFT_LOOKUP = Exercise(
    name="soft_lookup",
    difficulty=2,
    minutes=10,
    reference=_lookup(lambda scores, temperature: (scores / temperature).softmax(-1)),
    returns=("output", "weights"),
    # In each case all the sizes differ, so that a wrong axis shows.
    cases=(
        _lookup_case(
            "right for one query",
            _exact([2, 0]),
            _exact([2, 0], [0, 2], [1, 0]),
            _exact([1, 0, 0, 2], [0, 1, 0, 2], [0, 0, 1, 2]),
            2.0,
        ),
        _lookup_case("right for several queries", _draw(1, 3, 5), _draw(2, 7, 5), _draw(3, 7, 4), 4.0),
        # A power of two, so that dividing by it rounds nothing; the scores reach far beyond exp's range.
        _lookup_case("right at a low temperature", _draw(4, 4, 6), _draw(5, 5, 6), _draw(6, 5, 3), 1 / 32),
        _lookup_case("right for a batch", _draw(7, 2, 3, 8), _draw(8, 2, 5, 8), _draw(9, 2, 5, 7), 0.5),
        _lookup_case(
            "right in float64",
            _draw(10, 6, 3, 9, dtype=torch.float64),
            _draw(11, 6, 4, 9, dtype=torch.float64),
            _draw(12, 6, 4, 5, dtype=torch.float64),
            3.0,
        ),
    ),
    mistakes=(
        Mistake(
            "no temperature",
            "This is the look-up at temperature 1, whatever the temperature. Where do the scores meet it?",
            _lookup(lambda scores, temperature: scores.softmax(-1)),
        ),
        Mistake(
            "multiplied",
            "The scores are multiplied by the temperature. A high temperature must bring them together: "
            "divide.",
            _lookup(lambda scores, temperature: (scores * temperature).softmax(-1)),
        ),
        Mistake(
            "root of the temperature",
            "The scores are divided by the root of the temperature. It is the temperature itself here.",
            _lookup(lambda scores, temperature: (scores / math.sqrt(temperature)).softmax(-1)),
        ),
        Mistake(
            "temperature twice",
            "The scores are divided by the temperature twice.",
            _lookup(lambda scores, temperature: (scores / temperature**2).softmax(-1)),
        ),
        Mistake(
            "divided after the softmax",
            "The weights are divided by the temperature, so they no longer sum to 1. Divide the scores, "
            "before the softmax.",
            _lookup(lambda scores, temperature: scores.softmax(-1) / temperature),
        ),
        Mistake(
            "root of d_k as well",
            "The scores are also divided by the root of the vectors' length. Attention often does that, but "
            "here the temperature alone divides.",
            lambda query, key, value, temperature: _mix(
                (dot(query, key) / math.sqrt(query.shape[-1]) / temperature).softmax(-1), value
            ),
        ),
        Mistake(
            "no softmax",
            "These weights are the scores over the temperature. The softmax is missing.",
            _lookup(lambda scores, temperature: scores / temperature),
        ),
        Mistake(
            "no exponential",
            "You divide each score by the sum of the scores. Scores may be negative and may cancel: take exp "
            "of them first.",
            _lookup(lambda scores, temperature: scores / scores.sum(-1, keepdim=True)),
        ),
        Mistake(
            "not normalised",
            "You take exp of the scores, and leave out the division by their sum.",
            _lookup(lambda scores, temperature: (scores / temperature).exp()),
        ),
        Mistake(
            "overflow",
            "Right, but for a low temperature: there exp is infinite, and infinity divided by infinity is "
            "NaN. Take each row's largest score away first, or let torch.softmax do it.",
            _lookup(
                lambda scores, temperature: (
                    (scores / temperature).exp() / (scores / temperature).exp().sum(-1, keepdim=True)
                )
            ),
        ),
        Mistake(
            "sigmoid",
            "Sigmoid in place of softmax: that makes gates, which do not sum to 1.",
            _lookup(lambda scores, temperature: (scores / temperature).sigmoid()),
        ),
        Mistake(
            "hard",
            "This is the hard look-up: one key gets everything. At a temperature above 0 each key gets its "
            "share.",
            _lookup(
                lambda scores, temperature: F.one_hot(scores.argmax(-1), scores.shape[-1]).to(scores.dtype)
            ),
        ),
        Mistake(
            "plain mean",
            "This is the mean of all values, as at an infinite temperature: the query plays no part.",
            _lookup(lambda scores, temperature: torch.full_like(scores, 1 / scores.shape[-1])),
        ),
        Mistake(
            "shared out over the queries",
            "The softmax runs over the queries (dim=-2). Each query shares its weight out over the keys: "
            "dim=-1.",
            _lookup(lambda scores, temperature: (scores / temperature).softmax(-2)),
        ),
        Mistake(
            "softmax over the first axis",
            "The softmax runs over dim=0, the queries or, where there is one, the batch. The keys are "
            "dim=-1.",
            _lookup(lambda scores, temperature: (scores / temperature).softmax(0)),
        ),
        Mistake(
            "one softmax for all",
            "All the weights together sum to 1. There is one softmax for each query.",
            _lookup(lambda scores, temperature: _over_all(scores / temperature)),
        ),
        Mistake(
            "distances",
            "You score by minus the squared distance, as kernel regression does. Here the score is q·k.",
            lambda query, key, value, temperature: _mix(
                (-_squared_distance(query, key) / temperature).softmax(-1), value
            ),
        ),
        Mistake(
            "keys mixed",
            "The weights are right, but they mix the keys. What is fetched is the values.",
            lambda query, key, value, temperature: _mix((dot(query, key) / temperature).softmax(-1), key),
        ),
        Mistake(
            "results swapped",
            "Both results are right, in the wrong order: return output, weights.",
            lambda query, key, value, temperature: _mix((dot(query, key) / temperature).softmax(-1), value)[
                ::-1
            ],
        ),
    ),
    # The temperature is a plain number, through which no gradient could flow.
    trainable=False,
)


def check_soft_lookup(function: object) -> Report:
    """`check_soft_lookup(my_function)` tests function(query, key, value, temperature) -> output, weights.

    >>> check_soft_lookup(SOFT_LOOKUP.reference).passed
    True
    """
    return check(SOFT_LOOKUP, function)


# --- gate or weighted sum: say the shapes ----------------------------------------------------------

# features and attention are (8, 64); query is (8, 1, 16), key (8, 10, 16), value (8, 10, 64) and weights
# (8, 1, 10): 8 examples, 10 items each.
GATE_SHAPES = ShapePuzzle(
    name="gate_shapes",
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
    mistakes=(
        WrongShapes(
            "gate that sums",
            "a gate multiplies number by number. As many come out as went in: nothing is summed.",
            {"attention * features": (8,)},
        ),
        WrongShapes(
            "gate as a matrix product",
            "`*` multiplies number by number. It is `@` that would join every row with every row.",
            {"attention * features": (8, 8), "weights.mT * value": (8, 10, 10)},
        ),
        WrongShapes(
            "summed over the examples",
            "dim=-1 is the last axis; that is the one that goes, and the examples stay.",
            {"attention.sum(-1)": (64,), "weights.sum(-1)": (1, 10)},
        ),
        WrongShapes(
            "axis kept",
            "a sum takes its axis away, unless keepdim=True asks for it to stay with length 1.",
            {
                "attention.sum(-1)": (8, 1),
                "weights.sum(-1)": (8, 1, 1),
                "(weights.mT * value).sum(-2)": (8, 1, 64),
            },
        ),
        WrongShapes(
            "axis of the query lost",
            "the axis of the queries has length 1, and `@` keeps it.",
            {"query @ key.mT": (8, 10), "weights @ value": (8, 64)},
        ),
        WrongShapes(
            "width kept",
            "a dot product sums over the width 16, so that axis is gone: what is left is one number for each "
            "query with each key.",
            {"query @ key.mT": (8, 10, 16)},
        ),
        WrongShapes(
            "one weight for each feature",
            "a weighted sum has one weight for each item, 10 of them, and the items are what it sums over.",
            {"weights @ value": (8, 10, 64), "(weights.mT * value).sum(-2)": (8, 10, 64)},
        ),
        WrongShapes(
            "summed over the features",
            "the sum must run over the items. Here the features went away and the items stayed.",
            {"(weights.mT * value).sum(-2)": (8, 10), "weights @ value": (8, 1, 10)},
        ),
        WrongShapes(
            "gate that mixes",
            "weights.mT is (8, 10, 1): its last axis is stretched to the 64 features, so that each item "
            "keeps its row.",
            {"weights.mT * value": (8, 1, 64)},
        ),
    ),
)


def check_gate_shapes(answers: object) -> Report:
    """`check_gate_shapes(my_shapes)` takes a dictionary from each expression to the shape you say it has.

    >>> check_gate_shapes({"attention * features": (8, 8)}).mistake
    'gate as a matrix product'
    """
    return check_shapes(GATE_SHAPES, answers)


# --- the temperature that a share takes ------------------------------------------------------------


def _temperature_case(label: str, gap: float, keys: int, share: float) -> Case:
    return Case(label, {"gap": gap, "keys": keys, "share": share})


def _odds(keys: int, share: float) -> float:
    """The weight of the best key, over that of each other one."""
    return share * (keys - 1) / (1 - share)


NEEDED_TEMPERATURE = Exercise(
    name="needed_temperature",
    difficulty=3,
    minutes=10,
    reference=lambda gap, keys, share: gap / math.log(_odds(keys, share)),
    returns=("temperature",),
    cases=(
        _temperature_case("right for two keys", 1.0, 2, 0.99),
        _temperature_case("right for two keys", 2.0, 2, 0.8),
        _temperature_case("right for three keys", 1.0, 3, 0.99),
        _temperature_case("right for many keys", 1.0, 50, 0.9),
        _temperature_case("right for many keys", 10.0, 100_000, 0.18),
        _temperature_case("right for a small lead", 0.25, 8, 0.6),
    ),
    mistakes=(
        Mistake(
            "two keys only",
            "Right for two keys. With more, the others add up: there are keys - 1 of them.",
            lambda gap, keys, share: gap / math.log(share / (1 - share)),
        ),
        Mistake(
            "the best key counted among the others",
            "You count all the keys as others. The best key is one of them, so the others are keys - 1.",
            lambda gap, keys, share: gap / math.log(share * keys / (1 - share)),
        ),
        Mistake(
            "upside down",
            "This is 1 over the temperature: what you would multiply the scores by.",
            lambda gap, keys, share: math.log(_odds(keys, share)) / gap,
        ),
        Mistake(
            "gap multiplied",
            "The logarithm belongs under the gap: from e^(gap / T) = odds follows gap / T = log(odds).",
            lambda gap, keys, share: gap * math.log(_odds(keys, share)),
        ),
        Mistake(
            "gap forgotten",
            "This is right for a gap of 1. A lead that is twice as long allows twice the temperature.",
            lambda gap, keys, share: 1 / math.log(_odds(keys, share)),
        ),
        Mistake(
            "log of base 10",
            "The logarithm is of base 10. Softmax raises e, so it takes math.log.",
            lambda gap, keys, share: gap / math.log10(_odds(keys, share)),
        ),
        Mistake(
            "log of base 2",
            "The logarithm is of base 2. Softmax raises e, so it takes math.log.",
            lambda gap, keys, share: gap / math.log2(_odds(keys, share)),
        ),
        Mistake(
            "negative",
            "The sign is wrong: a temperature is positive. The odds are the best key's weight over "
            "another's, not the other way round.",
            lambda gap, keys, share: -gap / math.log(_odds(keys, share)),
        ),
        Mistake(
            "no logarithm",
            "You divide the gap by the odds themselves. They are e^(gap / T): take their logarithm.",
            lambda gap, keys, share: gap / _odds(keys, share),
        ),
        Mistake(
            "the best key's own share forgotten",
            "You set the others' share to (keys - 1)·e^(-gap / T). That is measured against the best key's "
            "weight, which is the share and not 1.",
            lambda gap, keys, share: gap / math.log((keys - 1) / (1 - share)),
        ),
        Mistake(
            "others divided, not multiplied",
            "You divide the odds by the number of the others. Each other key has (1 - share) / (keys - 1), "
            "and that stands below.",
            lambda gap, keys, share: gap / math.log(share / (1 - share) / (keys - 1)),
        ),
    ),
    trainable=False,
)


def check_needed_temperature(function: object) -> Report:
    """`check_needed_temperature(my_function)` tests function(gap, keys, share) -> the temperature for it.

    >>> import math
    >>> check_needed_temperature(lambda gap, keys, share: gap / math.log(share / (1 - share))).mistake
    'two keys only'
    """
    return check(NEEDED_TEMPERATURE, function)


# --- repair: kernel regression with a fault -------------------------------------------------------


def _squared_distance(query: Queries, key: Keys) -> Scores:
    difference = query.unsqueeze(-2) - key.unsqueeze(-3)  # (…, n, m, d)
    return difference.square().sum(-1)


def _distance(query: Queries, key: Keys) -> Scores:
    return torch.cdist(query, key)


def _regression(score: Callable[[Tensor, Tensor], Scores]) -> Callable[..., object]:
    """A score from the squared distances and the bandwidth, as a whole regression."""
    return lambda query, key, value, bandwidth: _mix(
        score(_squared_distance(query, key), bandwidth).softmax(-1), value
    )


def _weighing(normalise: Callable[[Scores], Weights]) -> Callable[..., object]:
    """A mistake in how the right scores become weights."""
    return lambda query, key, value, bandwidth: _mix(
        normalise(-_squared_distance(query, key) / (2 * bandwidth**2)), value
    )


def _regression_case(label: str, query: Queries, key: Keys, value: Values, bandwidth: float) -> Case:
    width = torch.tensor(bandwidth, dtype=query.dtype, device="cpu")
    return Case(label, {"query": query, "key": key, "value": value, "bandwidth": width})


REPAIRED_REGRESSION = Exercise(
    name="repaired_regression",
    difficulty=2,
    minutes=10,
    reference=_regression(lambda squared, bandwidth: -squared / (2 * bandwidth**2)),
    returns=("output", "weights"),
    cases=(
        # The broken code passes the first of these, which is the clue: all its distances are 0 or 1.
        _regression_case(
            "right for keys at 0, 1 and 2, from 1",
            _exact([1.0]),
            _exact([0.0], [1.0], [2.0]),
            _exact([3, 0], [1, 4], [0, 2]),
            0.5,
        ),
        _regression_case(
            "right for keys at 0, 1 and 3, from 1",
            _exact([1.0]),
            _exact([0.0], [1.0], [3.0]),
            _exact([3, 0], [1, 4], [0, 2]),
            1.5,
        ),
        _regression_case("right for vectors", _draw(21, 5, 2), _draw(22, 7, 2), _draw(23, 7, 3), 0.75),
        _regression_case(
            "right for a batch", _draw(24, 2, 3, 4), _draw(25, 2, 6, 4), _draw(26, 2, 6, 5), 3.0
        ),
        _regression_case(
            "right in float64",
            _draw(27, 4, 3, 2, dtype=torch.float64),
            _draw(28, 4, 6, 2, dtype=torch.float64),
            _draw(29, 4, 6, 5, dtype=torch.float64),
            0.5,
        ),
    ),
    mistakes=(
        Mistake(
            "still broken",
            "The fault that it came with is still there. The first case passes because each of its distances "
            "is 0 or 1: which operation leaves just these two numbers as they are?",
            lambda query, key, value, bandwidth: _mix(
                (-_distance(query, key) / (2 * bandwidth**2)).softmax(-1), value
            ),
        ),
        Mistake(
            "whole score squared",
            "The square fell on the whole fraction, so the 2 below is squared as well.",
            _regression(lambda squared, bandwidth: -squared / (2 * bandwidth**2) ** 2),
        ),
        Mistake(
            "nearest gets least",
            "The minus sign got lost: now the farthest key gets the most weight. (-a)**2 is a**2.",
            _regression(lambda squared, bandwidth: squared / (2 * bandwidth**2)),
        ),
        Mistake(
            "no 2",
            "The 2 below the fraction is gone.",
            _regression(lambda squared, bandwidth: -squared / bandwidth**2),
        ),
        Mistake(
            "bandwidth without its square",
            "The distance is squared now, but the bandwidth no longer is.",
            _regression(lambda squared, bandwidth: -squared / (2 * bandwidth)),
        ),
        Mistake(
            "neither squared",
            "Now neither the distance nor the bandwidth is squared. That is a kernel too (Laplace's), but "
            "not the Gaussian one.",
            lambda query, key, value, bandwidth: _mix(
                (-_distance(query, key) / (2 * bandwidth)).softmax(-1), value
            ),
        ),
        Mistake(
            "2 squared with the bandwidth",
            "The 2 is squared together with the bandwidth: (2h)² is 4h².",
            _regression(lambda squared, bandwidth: -squared / (2 * bandwidth) ** 2),
        ),
        Mistake(
            "multiplied by the bandwidth",
            "The bandwidth stands above the fraction: a / 2 * b is (a / 2) * b. Put 2 * bandwidth**2 in "
            "brackets.",
            _regression(lambda squared, bandwidth: -squared / 2 * bandwidth**2),
        ),
        Mistake(
            "squared twice",
            "The distance is squared twice.",
            _regression(lambda squared, bandwidth: -(squared**2) / (2 * bandwidth**2)),
        ),
        Mistake(
            "root of the distance",
            "You take the root of the distance, where its square was asked for.",
            lambda query, key, value, bandwidth: _mix(
                (-_distance(query, key).sqrt() / (2 * bandwidth**2)).softmax(-1), value
            ),
        ),
        Mistake(
            "not normalised",
            "These are the kernels themselves, exp of the scores: they do not sum to 1 over the keys.",
            _weighing(torch.exp),
        ),
        Mistake(
            "softmax of the kernel",
            "You take exp and then softmax, which takes exp once more. One of them is enough.",
            _weighing(lambda scores: scores.exp().softmax(-1)),
        ),
        Mistake(
            "softmax over the queries",
            "The softmax runs over the queries, dim=-2. Each query shares its weight out over the keys: "
            "dim=-1.",
            _weighing(lambda scores: scores.softmax(-2)),
        ),
        Mistake(
            "results swapped",
            "Both results are right, in the wrong order: return output, weights.",
            lambda query, key, value, bandwidth: _mix(
                (-_squared_distance(query, key) / (2 * bandwidth**2)).softmax(-1), value
            )[::-1],
        ),
    ),
)


def check_repaired_regression(function: object) -> Report:
    """`check_repaired_regression(my_function)` tests (query, key, value, bandwidth) -> output, weights.

    >>> check_repaired_regression(None).state
    'not written yet'
    """
    return check(REPAIRED_REGRESSION, function)
