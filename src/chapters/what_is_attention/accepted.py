"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math
from collections import namedtuple

import numpy as np
import torch
from torch import distributions
from torch.nn import functional as F

from bookkit.other_words import PRODUCTS, SOFTMAXES, combined, fused, in_other_words, shifted_exp, weighing_by
from chapters.what_is_attention.exercises import (
    check_learned_bandwidth,
    check_needed_temperature,
    check_repaired_regression,
    check_soft_lookup,
)

# --- shared ---


regression = check_repaired_regression.reference


# --- soft_lookup ---


lookup = check_soft_lookup.reference


def lookup_by(product, softmax):
    return weighing_by(lambda query, key, temperature: softmax(product(query, key) / temperature))


Lookup = namedtuple("Lookup", "output weights")


class FusedLookup(torch.nn.Module):
    def forward(self, query, key, value, temperature):
        return Lookup(*fused(query, key, value, scale=1 / temperature))


LOOKUPS = (
    combined(lookup_by, PRODUCTS, SOFTMAXES)
    | in_other_words(lookup)
    | {
        "fused, a module, a namedtuple": FusedLookup(),
        "cooled query": lambda query, key, value, temperature: lookup(query / temperature, key, value, 1),
    }
)


# --- needed_temperature ---


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


# --- repaired_regression ---


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


# --- learned_bandwidth ---


def predicted(key, value, asked, width):
    return regression(asked, key, value, torch.tensor(width))[0]


WIDTHS = [0.01 * 1.3**step for step in range(20)]


def by_folds(folds, best=min):
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

        return best(WIDTHS, key=missed)

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
ACCEPTED = {
    check_soft_lookup: LOOKUPS,
    check_needed_temperature: TEMPERATURES,
    check_repaired_regression: combined(regression_by, DISTANCES, KERNELS)
    | in_other_words(regression)
    | {"bells": weighing_by(bells)},
    check_learned_bandwidth: BANDWIDTHS,
}
