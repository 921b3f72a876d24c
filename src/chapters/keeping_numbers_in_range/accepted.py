"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import torch
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

# --- layer_norm ---


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


# --- norm_shapes ---


SHAPES = check_norm_shapes.shapes


# --- repaired_layer ---


def street(read):
    """A pre-norm layer that reads with `read`."""
    return lambda x, widen, narrow: x + F.linear(F.relu(read(x) @ widen), narrow.mT)


# --- clipped_gradients ---


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


ACCEPTED = {
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
