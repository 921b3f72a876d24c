"""The right way to cut words into heads and to join what they found."""

from torch import Tensor, nn


def _split(x: Tensor, heads: int) -> Tensor:
    return x.view(*x.shape[:2], heads, x.shape[-1] // heads).transpose(1, 2)  # (B, heads, T, d_k)


def _join(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)  # (B, T, heads, d_k), then (B, T, d_model)


_NAMES = ("W_Q", "W_K", "W_V", "W_O")


def _projected(layer: nn.Module, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    return layer.W_Q(query), layer.W_K(key), layer.W_V(value)  # type: ignore[operator]
