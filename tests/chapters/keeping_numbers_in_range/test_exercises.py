"""“Keeping numbers in range”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as
from torch import nn
from torch.nn import functional as F

from chapters.keeping_numbers_in_range.exercises import (
    check_clipped_gradients,
    check_deep_without_norm,
    check_layer_norm,
    check_norm_shapes,
    check_repaired_layer,
    check_rms_norm,
)

SHAPES = check_norm_shapes.shapes


def broken_layer(x, widen, narrow):
    x = F.layer_norm(x, x.shape[-1:])
    return x + (x @ widen).relu() @ narrow


def test_the_shapes_are_what_pytorch_says():
    exercise_cases.assert_right_shapes(check_norm_shapes, {"x": torch.ones(2, 10, 5), "nn": nn})


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_layer, broken_layer, "✓✗✗✗")


# --- right, in other words ---


def by_moments(x, gain, bias, eps):
    mean = x.mean(-1, keepdim=True)
    variance = x.square().mean(-1, keepdim=True) - mean.square()
    return (x - mean) * torch.rsqrt(variance + eps) * gain + bias


def row_by_row(x, gain, bias, eps):
    rows = [
        gain * (row - row.mean()) / (row.var(correction=0) + eps).sqrt() + bias
        for row in x.reshape(-1, x.shape[-1])
    ]
    return torch.stack(rows).view(x.shape)


def by_module(x, gain, bias, eps):
    norm = nn.LayerNorm(x.shape[-1], eps=eps, dtype=x.dtype)
    return torch.func.functional_call(norm, {"weight": gain, "bias": bias}, x)


def street(read):
    """A pre-norm layer that reads with `read`."""
    return lambda x, widen, narrow: x + F.linear(F.relu(read(x) @ widen), narrow.mT)


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


RIGHT = {
    check_layer_norm: {
        "by moments": by_moments,
        "row by row": row_by_row,
        "nn.LayerNorm": by_module,
        "functional": lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], gain, bias, eps),
        "correction": lambda x, gain, bias, eps: (
            (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) ** 0.5 * gain
            + bias
        ),
    },
    check_norm_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size": {expression: torch.Size(shape) for expression, shape in SHAPES.items()},
        "a function": lambda: dict(SHAPES),
    },
    check_rms_norm: {
        "functional": lambda x, gain, eps: F.rms_norm(x, x.shape[-1:], gain, eps),
        "rsqrt": lambda x, gain, eps: x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps) * gain,
        "by the length": lambda x, gain, eps: (
            gain * x / (x.norm(dim=-1, keepdim=True) ** 2 / x.shape[-1] + eps).sqrt()
        ),
    },
    check_repaired_layer: {
        "functional": street(lambda x: F.layer_norm(x, x.shape[-1:])),
        "by hand": street(
            lambda x: (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + 1e-5).sqrt()
        ),
        "module": street(lambda x: nn.LayerNorm(x.shape[-1], dtype=x.dtype)(x)),
    },
    check_clipped_gradients: {
        "by parameters": by_pytorch,
        "only if long": only_if_long,
        "get_total_norm": lambda weight, bias, limit: [
            each * (limit / nn.utils.get_total_norm([weight, bias])).clamp(max=1) for each in (weight, bias)
        ],
    },
    check_deep_without_norm: {
        "a fifth": lambda x, block: x + 0.15 * block(x),
        "a hundredth part more": lambda x, block: 0.05 * block(x) + x,
        "less": lambda x, block: x - 0.1 * block(x),
        "twelfth": lambda x, block: torch.add(x, block(x), alpha=1 / 12),
    },
}

# --- as learners got it wrong ---

NAMED = {
    check_layer_norm: {
        "unbiased": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, keepdim=True) + eps).sqrt() + bias
        ),
        "eps outside": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, correction=0, keepdim=True) + eps) + bias
        ),
        "no root": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True) + eps) + bias
        ),
        "mean not taken away": lambda x, gain, bias, eps: F.rms_norm(x, x.shape[-1:], gain, eps) + bias,
        "squares around 0": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / ((x**2).mean(-1, keepdim=True) + eps) ** 0.5 + bias
        ),
        "std() and eps": lambda x, gain, bias, eps: (
            gain * (x - x.mean(-1, keepdim=True)) / (x.std(-1, keepdim=True) + eps) + bias
        ),
        "no bias": lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], gain, None, eps),
        "no gain": lambda x, gain, bias, eps: F.layer_norm(x, x.shape[-1:], None, bias, eps),
    },
    check_norm_shapes: {
        "keepdim forgotten": SHAPES | {"x.mean(-1, keepdim=True)": (2, 10)},
        "last axis alone": SHAPES | {"nn.LayerNorm((10, 5)).weight": (5,)},
        "a norm that averages": SHAPES | {"nn.LayerNorm(5)(x)": (2, 10)},
        "turned back": SHAPES | {"nn.BatchNorm1d(5)(x.mT)": (2, 10, 5)},
        "the axes that go": SHAPES | {"x.mean(-1)": (5,), "x.mean((0, 1))": (2, 10)},
        "a mean for each example": SHAPES | {"nn.BatchNorm1d(5).running_mean": (2, 5)},
    },
    check_rms_norm: {
        "mean taken away": lambda x, gain, eps: F.layer_norm(x, x.shape[-1:], gain, None, eps),
        "length": lambda x, gain, eps: gain * x / (x.square().sum(-1, keepdim=True) + eps).sqrt(),
        "no root": lambda x, gain, eps: gain * x / (x.square().mean(-1, keepdim=True) + eps),
        "no gain": lambda x, gain, eps: F.rms_norm(x, x.shape[-1:], None, eps),
        "size over all": lambda x, gain, eps: gain * x / (x.square().mean() + eps).sqrt(),
        "eps outside": lambda x, gain, eps: gain * x / (x.square().mean(-1, keepdim=True).sqrt() + eps),
        "variance": lambda x, gain, eps: (
            gain * x * torch.rsqrt(x.std(-1, keepdim=True, correction=0).square() + eps)
        ),
    },
    check_repaired_layer: {
        "still broken": broken_layer,
        "no norm": lambda x, widen, narrow: x + (x @ widen).relu() @ narrow,
        "post-norm": lambda x, widen, narrow: F.layer_norm(x + (x @ widen).relu() @ narrow, x.shape[-1:]),
        "no road": lambda x, widen, narrow: (F.layer_norm(x, x.shape[-1:]) @ widen).relu() @ narrow,
        "both norms": lambda x, widen, narrow: F.layer_norm(
            x + (F.layer_norm(x, x.shape[-1:]) @ widen).relu() @ narrow, x.shape[-1:]
        ),
        "norm over everything": lambda x, widen, narrow: (
            x + ((x - x.mean()) / (x.var(correction=0) + 1e-5).sqrt() @ widen).relu() @ narrow
        ),
        "norm on the road only": lambda x, widen, narrow: (
            F.layer_norm(x, x.shape[-1:]) + (x @ widen).relu() @ narrow
        ),
    },
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
    },
    check_deep_without_norm: {
        "residual alone": lambda x, block: block(x) + x,
        "plain": lambda x, block: 1.0 * block(x),
        "block left out": lambda x, block: x.clone(),
        "post-norm": lambda x, block: F.normalize(x + block(x), dim=-1),
        "pre-norm": lambda x, block: x + 0.1 * block(x / x.norm(dim=-1, keepdim=True)),
        "squashed": lambda x, block: torch.clamp(x + 0.1 * block(x), -2, 2),
        "averaged": lambda x, block: torch.lerp(x, block(x), 0.5),
        "fading": lambda x, block: torch.lerp(x, block(x), 0.1),
        "hardly heard": lambda x, block: x + block(0.1 * x),
        "multiplied by each other": lambda x, block: x + x * block(x),
        "from nothing": lambda x, block: x + 1,
    },
}

# --- wrong, in ways that the catalogue does not hold ---

layer_norm, rms_norm = check_layer_norm.reference, check_rms_norm.reference
layer, clipped = check_repaired_layer.reference, check_clipped_gradients.reference
UNKNOWN = {
    check_layer_norm: {
        "halved": changed(layer_norm, lambda normal: normal / 2),
        "turned": changed(layer_norm, torch.neg),
        "rounded": changed(layer_norm, lambda normal: normal.round(decimals=1)),
        "one place less": lambda x, gain, bias, eps: layer_norm(x, gain, bias, eps)[..., :-1],
        "zeros": changed(layer_norm, torch.zeros_like),
    },
    check_rms_norm: {
        "halved": changed(rms_norm, lambda normal: normal / 2),
        "sign lost": changed(rms_norm, torch.abs),
        "largest": lambda x, gain, eps: gain * x / (x.abs().amax(-1, keepdim=True) + eps),
    },
    check_repaired_layer: {
        "no relu": lambda x, widen, narrow: x + F.layer_norm(x, x.shape[-1:]) @ widen @ narrow,
        "halved": changed(layer, lambda outputs: outputs / 2),
        "detached": changed(layer, torch.detach),
    },
    check_clipped_gradients: {
        "twice the limit": lambda weight, bias, limit: clipped(weight, bias, 2 * limit),
        "turned": lambda weight, bias, limit: [-each for each in clipped(weight, bias, limit)],
        "swapped lengths": lambda weight, bias, limit: (weight, clipped(weight, bias, limit)[1]),
    },
    check_deep_without_norm: {
        "the block alone": lambda x, block: block,
        "one token": lambda x, block: x[:, :1],
        "raises": lambda x, block: x + block(x, x),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
