"""The exercise `learned_bandwidth`, tried as readers would."""

import math

import torch
from exercise_cases import judged_as
from torch.nn import functional as F
from what_is_attention_answers import regression

from chapters.what_is_attention.exercises import (
    check_learned_bandwidth,
)


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


def on_its_own_points(key, value):
    errors = [F.mse_loss(predicted(key, value, key, width), value) for width in WIDTHS]
    return WIDTHS[int(torch.stack(errors).argmin())]


RIGHT = {check_learned_bandwidth: BANDWIDTHS}


NAMED = {
    check_learned_bandwidth: {
        "chosen on its own points": on_its_own_points,
        "much too wide": lambda key, value: key.std(),
        "a compromise, or the worst": by_folds(5, best=max),
        "fits the slow wave alone": lambda key, value: 0.4,
        "fits the fast wave alone": lambda key, value: 0.05,
    }
}


UNKNOWN = {
    check_learned_bandwidth: {
        "zero": lambda key, value: torch.tensor(0.0),
        "not a number": lambda key, value: math.nan,
        "in words": lambda key, value: "narrow",
        "wide for the slow wave alone": lambda key, value: (
            5.0 if value.std() > 1 else by_folds(5)(key, value)
        ),
        "a width for each point": lambda key, value: value,
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
