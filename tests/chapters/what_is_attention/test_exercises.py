"""“What is attention?”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import functools
import math
from collections import namedtuple

import exercise_cases
import numpy as np
import pytest
import torch
from exercise_cases import changed, combined, judged_as, shifted_exp, weighing_by
from torch import distributions
from torch.nn import functional as F

from chapters.what_is_attention.exercises import (
    check_gate_shapes,
    check_learned_bandwidth,
    check_needed_temperature,
    check_repaired_regression,
    check_soft_lookup,
)

lookup, temperature_of = check_soft_lookup.reference, check_needed_temperature.reference
regression, SHAPES = check_repaired_regression.reference, check_gate_shapes.shapes


def broken_regression(query, key, value, bandwidth):
    weights = (-torch.cdist(query, key) / (2 * bandwidth**2)).softmax(-1)
    return weights @ value, weights


def test_the_shapes_are_what_pytorch_says():
    query, key, value = torch.rand(8, 1, 16), torch.rand(8, 10, 16), torch.rand(8, 10, 64)
    names = {"query": query, "key": key, "value": value, "weights": (query @ key.mT).softmax(-1)}
    names |= {"features": torch.rand(8, 64), "attention": torch.rand(8, 64)}
    exercise_cases.assert_right_shapes(check_gate_shapes, names)


def test_the_temperature_gives_the_share():
    for gap, keys, share in [(1.0, 2, 0.99), (0.3, 7, 0.5), (10.0, 1000, 0.9)]:
        scores = torch.zeros(keys, dtype=torch.float64)
        scores[0] = gap
        weights = (scores / temperature_of(gap, keys, share)).softmax(-1)
        assert weights[0].item() == pytest.approx(share)


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_regression, broken_regression, "✓✗✗✗✗✗")


def test_the_broken_code_learns_its_bandwidth_anyway():
    generator = torch.Generator().manual_seed(0)
    key, query = (6 * torch.rand(40, 1, generator=generator) for _ in range(2))
    bandwidth = torch.tensor(3.0, requires_grad=True)
    exercise_cases.assert_trains(
        lambda: F.mse_loss(broken_regression(query, key, key.sin(), bandwidth)[0], query.sin()), bandwidth
    )


# --- right, in other words ---


def lookup_by(product, softmax):
    return weighing_by(lambda query, key, temperature: softmax(product(query, key) / temperature))


Lookup = namedtuple("Lookup", "output weights")


class FusedLookup(torch.nn.Module):
    def forward(self, query, key, value, temperature):
        return Lookup(*exercise_cases.fused(query, key, value, scale=1 / temperature))


LOOKUPS = (
    combined(lookup_by, exercise_cases.PRODUCTS, exercise_cases.SOFTMAXES)
    | exercise_cases.in_other_words(lookup)
    | {
        "fused, a module, a namedtuple": FusedLookup(),
        "cooled query": lambda query, key, value, temperature: lookup(query / temperature, key, value, 1),
    }
)


def bisected(gap, keys, share):
    low, high = 1e-6, 1e6
    for _ in range(200):
        middle = math.sqrt(low * high)
        held = 1 / (1 + (keys - 1) * math.exp(-gap / middle))
        low, high = (middle, high) if held > share else (low, middle)
    return low


TEMPERATURES = {
    "log of one other": lambda gap, keys, share: gap / math.log(share / ((1 - share) / (keys - 1))),
    "tensor": lambda gap, keys, share: gap / (torch.tensor(share).double().logit() + math.log(keys - 1)),
    "numpy": lambda gap, keys, share: gap / (np.log(share) - np.log1p(-share) + np.log(keys - 1)),
    "bisected": bisected,
}


def expanded_square(query, key):
    squares = query.square().sum(-1).unsqueeze(-1) + key.square().sum(-1).unsqueeze(-2)
    return squares - 2 * query @ key.mT


DISTANCES = {
    "cdist squared": lambda query, key: torch.cdist(query, key) ** 2,
    "differences": lambda query, key: (query.unsqueeze(-2) - key.unsqueeze(-3)).square().sum(-1),
    "expanded": expanded_square,
    # Without the query's own square, which the softmax does not see.
    "key's square alone": lambda query, key: key.square().sum(-1).unsqueeze(-2) - 2 * query @ key.mT,
}
KERNELS = {
    "half outside": lambda squared, width: (-0.5 * squared / width.square()).softmax(-1),
    "softmin": lambda squared, width: F.softmin(squared / (2 * width**2), dim=-1),
    "shifted": lambda squared, width: shifted_exp(-squared / (2 * width**2)),
}


def regression_by(distance, kernel):
    return weighing_by(lambda query, key, width: kernel(distance(query, key), width))


def bells(query, key, width):
    """Of log densities, the bell's height cancels."""
    log_density = distributions.Normal(key.unsqueeze(-3), width.abs()).log_prob(query.unsqueeze(-2))
    return log_density.sum(-1).softmax(-1)


# --- the bandwidth: any honest way to choose it ---


def predicted(key, value, asked, width):
    return regression(asked, key, value, torch.tensor(width))[0]


WIDTHS = [0.01 * 1.3**step for step in range(20)]


def by_folds(folds):
    def choose(key, value):
        places = torch.arange(len(key)) % folds

        def missed(width):
            return sum(
                (
                    predicted(key[places != fold], value[places != fold], key[places == fold], width)
                    - value[places == fold]
                )
                .square()
                .sum()
                .item()
                for fold in range(folds)
            )

        return min(WIDTHS, key=missed)

    return choose


def by_holding_out_a_third(key, value):
    kept, held_out = slice(133, None), slice(133)
    errors = [
        F.mse_loss(predicted(key[kept], value[kept], key[held_out], width), value[held_out])
        for width in WIDTHS
    ]
    return torch.tensor(WIDTHS[int(torch.stack(errors).argmin())])


def by_gradient(key, value):
    """On points left out one at a time, from a narrow bandwidth on."""
    log_width = torch.tensor(-3.0, requires_grad=True)
    optimizer = torch.optim.Rprop([log_width], lr=0.2)
    for _ in range(40):
        scores = -torch.cdist(key, key).square() / (2 * log_width.exp() ** 2)
        output = scores.masked_fill(torch.eye(len(key)).bool(), -math.inf).softmax(-1) @ value
        optimizer.zero_grad()
        F.mse_loss(output, value).backward()
        optimizer.step()
    return log_width.exp().item()


BANDWIDTHS = {
    "left out one at a time": check_learned_bandwidth.reference,
    "five folds": by_folds(5),
    "two folds": by_folds(2),
    "a third held out": by_holding_out_a_third,
    "gradient descent": by_gradient,
}


def on_its_own_points(key, value):
    errors = [F.mse_loss(predicted(key, value, key, width), value) for width in WIDTHS]
    return WIDTHS[int(torch.stack(errors).argmin())]


RIGHT = {
    check_soft_lookup: LOOKUPS,
    check_needed_temperature: TEMPERATURES,
    check_learned_bandwidth: BANDWIDTHS,
    check_repaired_regression: combined(regression_by, DISTANCES, KERNELS)
    | exercise_cases.in_other_words(regression)
    | {"bells": weighing_by(bells)},
}

# --- as learners got it wrong ---


def lookup_weighing(weigh):
    return weighing_by(lambda query, key, temperature: weigh(query @ key.mT / temperature))


def without_keepdim(scores):
    powers = (scores - scores.amax(-1, keepdim=True)).exp()
    return powers / powers.sum(-1)


def regression_scoring(score):
    return weighing_by(lambda query, key, width: score(query, key, width).softmax(-1))


NAMED = {
    check_soft_lookup: {
        "overflow": lookup_weighing(lambda scores: scores.exp() / scores.exp().sum(-1, keepdim=True)),
        "one maximum for all": lookup_weighing(
            lambda scores: F.normalize((scores - scores.max()).exp(), p=1, dim=-1, eps=0)
        ),
        "softmax over dim=1": lookup_weighing(functools.partial(torch.softmax, dim=1)),
        "multiplied": lambda query, key, value, temperature: lookup(query, key, value, 1 / temperature),
        "changes its inputs": lambda query, key, value, temperature: lookup(
            query.div_(temperature), key, value, 1
        ),
        "sum without keepdim": lookup_weighing(without_keepdim),
    },
    check_gate_shapes: {
        "axis kept": SHAPES | {"attention.sum(-1)": (8, 1), "weights.sum(-1)": (8, 1, 1)},
        "axis of the query lost": SHAPES | {"query @ key.mT": (8, 10), "weights.sum(-1)": (8,)},
        "gate that sums": SHAPES | {"attention * features": (8,), "weights.mT * value": (8, 1, 64)},
        "summed over the features": SHAPES | {"(weights.mT * value).sum(-2)": (8, 10)},
    },
    check_needed_temperature: {
        "the best key counted among the others": lambda gap, keys, share: (
            gap / math.log(keys * share / (1 - share))
        ),
        "two keys only": lambda gap, keys, share: gap / math.log(share / (1 - share)),
        "the best key's own share forgotten": lambda gap, keys, share: (
            gap / math.log((keys - 1) / (1 - share))
        ),
        "upside down": lambda gap, keys, share: math.log(share * (keys - 1) / (1 - share)) / gap,
        "others divided, not multiplied": lambda gap, keys, share: (
            gap / math.log(share / ((1 - share) * (keys - 1)))
        ),
        "negative": lambda gap, keys, share: gap / math.log((1 - share) / (keys - 1) / share),
    },
    check_repaired_regression: {
        "2 squared with the bandwidth": regression_scoring(
            lambda query, key, width: -((torch.cdist(query, key) / (2 * width)) ** 2)
        ),
        "bandwidth without its square": regression_scoring(
            lambda query, key, width: -torch.cdist(query, key).square() / (2 * width)
        ),
        "dot products": regression_scoring(lambda query, key, width: query @ key.mT / width**2),
        "distance of city blocks": regression_scoring(
            lambda query, key, width: (
                -(query.unsqueeze(-2) - key.unsqueeze(-3)).abs().sum(-1).square() / (2 * width**2)
            )
        ),
        "no gradient": lambda query, key, value, width: regression(query, key, value, float(width)),
        "overflow": weighing_by(
            lambda query, key, width: F.normalize(
                (-torch.cdist(query, key).square() / (2 * width**2)).exp(), p=1, dim=-1, eps=0
            )
        ),
    },
    check_learned_bandwidth: {
        "chosen on its own points": on_its_own_points,
        "much too wide": lambda key, value: key.std(),
        "fits the slow wave alone": lambda key, value: 0.4,
        "fits the fast wave alone": lambda key, value: 0.05,
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_soft_lookup: exercise_cases.faults_of_attention(lookup)
    | {
        "weights before the softmax": lambda query, key, value, temperature: (
            lookup(query, key, value, temperature)[0],
            query @ key.mT / temperature,
        ),
        "temperature plus one": lambda query, key, value, temperature: lookup(
            query, key, value, temperature + 1
        ),
    },
    check_needed_temperature: {
        "one key too many": lambda gap, keys, share: temperature_of(gap, keys + 2, share),
        "log1p": lambda gap, keys, share: gap / math.log1p(share * (keys - 1) / (1 - share)),
        "share squared": lambda gap, keys, share: temperature_of(gap, keys, share**2),
        "rounded": changed(temperature_of, lambda temperature: round(temperature, 1)),
    },
    check_repaired_regression: exercise_cases.faults_of_trainable_attention(regression)
    | {
        "Epanechnikov's kernel": weighing_by(
            lambda query, key, width: (1 - torch.cdist(query, key) / width).clamp(min=0)
        ),
        "largest component": regression_scoring(
            lambda query, key, width: -(torch.cdist(query, key, p=math.inf) ** 2) / (2 * width**2)
        ),
    },
    check_learned_bandwidth: {
        "zero": lambda key, value: torch.tensor(0.0),
        "not a number": lambda key, value: math.nan,
        "in words": lambda key, value: "narrow",
        "wide for the slow wave alone": lambda key, value: (
            5.0 if value.std() > 1 else by_folds(5)(key, value)
        ),
        "a width for each point": lambda key, value: value,
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
