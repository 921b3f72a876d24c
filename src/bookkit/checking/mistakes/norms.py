"""Mistakes of a layer norm: (x, norm) -> x, with gain and bias held by the norm, a module of PyTorch's."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bookkit.checking.mistakes import Mistakes


def normed(x: Tensor, norm: nn.LayerNorm) -> Tensor:
    """`normed(x, norm)` is the right way."""
    return F.layer_norm(x, x.shape[-1:], norm.weight, norm.bias)


def normed_by(
    spread: Callable[[Tensor], Tensor], mean: Callable[[Tensor], Tensor] = lambda x: x.mean(-1, keepdim=True)
) -> Callable[[Tensor, nn.LayerNorm], Tensor]:
    """`normed_by(spread)` is a norm that divides by this spread of the numbers."""
    return lambda x, norm: (x - mean(x)) / spread(x) * norm.weight + norm.bias


def variance(x: Tensor, unbiased: bool = False) -> Tensor:
    """`variance(x, unbiased=True)` takes the numbers of each vector for a sample."""
    return x.var(-1, keepdim=True, correction=int(unbiased))


NORMS: Mistakes = {
    "variance of a sample": (
        "The norm divides by d_model - 1, as torch.var and torch.std do unless told: these numbers are all "
        "there are, not a sample. correction=0.",
        normed_by(lambda x: (variance(x, unbiased=True) + 1e-5).sqrt()),
    ),
    "standard deviation of a sample": (
        "The norm divides by torch.std(…) + eps: that is the spread of a sample, with d_model - 1, and eps "
        "belongs inside the root.",
        normed_by(lambda x: variance(x, unbiased=True).sqrt() + 1e-5),
    ),
    "eps outside": (
        "The norm adds eps to the root. It belongs inside, to the variance: √(variance + eps).",
        normed_by(lambda x: variance(x).sqrt() + 1e-5),
    ),
    "RMS": (
        "This is an RMSNorm: the mean stays, and counts in the spread. A layer norm takes it away first.",
        normed_by(
            lambda x: (x.square().mean(-1, keepdim=True) + 1e-5).sqrt(), mean=lambda x: torch.zeros(())
        ),
    ),
    "no eps": (
        "The norm has no eps, or next to none. Add 1e-5 to the variance, inside the root.",
        normed_by(lambda x: variance(x).sqrt()),
    ),
    "another eps": (
        "The norm's eps is 1e-6. nn.LayerNorm has 1e-5, and where numbers lie close together it counts.",
        normed_by(lambda x: (variance(x) + 1e-6).sqrt()),
    ),
    "divided by the variance": (
        "The norm divides by the variance. It is its root.",
        normed_by(lambda x: variance(x) + 1e-5),
    ),
    "mean kept": (
        "The norm does not take the mean away.",
        normed_by(lambda x: (variance(x) + 1e-5).sqrt(), mean=lambda x: torch.zeros(())),
    ),
    "no gain": (
        "The norm leaves out its gain, `weight`.",
        lambda x, norm: F.layer_norm(x, x.shape[-1:], None, norm.bias),
    ),
    "no bias": (
        "The norm leaves out its bias.",
        lambda x, norm: F.layer_norm(x, x.shape[-1:], norm.weight),
    ),
    "norm over the whole text": (
        "The norm runs over all words of a text together, so that each hears of the later ones. It is over "
        "one word's numbers.",
        lambda x, norm: F.layer_norm(x, x.shape[-2:]) * norm.weight + norm.bias,
    ),
    "norm over the words": (
        "The norm runs over the words, dim=1. It is over one word's numbers: dim=-1.",
        lambda x, norm: F.layer_norm(x.mT, x.shape[1:2]).mT * norm.weight + norm.bias,
    ),
}
