"""The exercise `clipped_gradients`, tried as readers would."""

import math

import torch
from exercise_cases import judged_as
from torch import nn

from chapters.keeping_numbers_in_range.exercises import (
    check_clipped_gradients,
)


def by_pytorch(weight, bias, limit):
    parameters = [nn.Parameter(torch.zeros_like(each)) for each in (weight, bias)]
    for parameter, gradient in zip(parameters, (weight, bias), strict=True):
        parameter.grad = gradient.clone()
    length = torch.cat([weight.flatten(), bias.flatten()]).norm()
    if length > limit:  # its own divides by length + 1e-6
        for parameter in parameters:
            parameter.grad *= limit / length
    return [parameter.grad for parameter in parameters]


def only_if_long(weight, bias, limit):
    together = torch.cat([weight.flatten(), bias.flatten()])
    if together.norm() <= limit:
        return weight, bias
    together = together / together.norm() * limit
    return together[: weight.numel()].view_as(weight), together[weight.numel() :].view_as(bias)


clipped = check_clipped_gradients.reference


RIGHT = {
    check_clipped_gradients: {
        "by parameters": by_pytorch,
        "only if long": only_if_long,
        "get_total_norm": lambda weight, bias, limit: [
            each * (limit / nn.utils.get_total_norm([weight, bias])).clamp(max=1) for each in (weight, bias)
        ],
    }
}


NAMED = {
    check_clipped_gradients: {
        "number by number": lambda weight, bias, limit: [
            torch.clip(each, min=-limit, max=limit) for each in (weight, bias)
        ],
        "always": lambda weight, bias, limit: [
            each * limit / (weight.norm() ** 2 + bias.norm() ** 2).sqrt() for each in (weight, bias)
        ],
        "each by itself": lambda weight, bias, limit: [
            each * min(1, limit / each.norm()) for each in (weight, bias)
        ],
        "divided by 0": lambda weight, bias, limit: [
            each * min(1, limit / math.hypot(weight.norm().item(), bias.norm().item()))
            for each in (weight, bias)
        ],
        "nothing": lambda weight, bias, limit: (weight, bias),
        "the wrong way round": lambda weight, bias, limit: [
            each * max(1, limit / torch.cat([weight.flatten(), bias.flatten()]).norm())
            for each in (weight, bias)
        ],
        "the bias left out": lambda weight, bias, limit: (
            weight * min(1, limit / torch.cat([weight.flatten(), bias.flatten()]).norm()),
            bias,
        ),
        "weights only": lambda weight, bias, limit: [
            each * min(1, limit / weight.norm()) for each in (weight, bias)
        ],
        "lengths added": lambda weight, bias, limit: [
            each * min(1, limit / (weight.norm() + bias.norm())) for each in (weight, bias)
        ],
    }
}


UNKNOWN = {
    check_clipped_gradients: {
        "twice the limit": lambda weight, bias, limit: clipped(weight, bias, 2 * limit),
        "turned": lambda weight, bias, limit: [-each for each in clipped(weight, bias, limit)],
        "swapped lengths": lambda weight, bias, limit: (weight, clipped(weight, bias, limit)[1]),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
