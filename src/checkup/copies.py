"""Copies of a model, on which anything can be tried."""

import copy
from collections.abc import Iterator
from typing import Any, cast

import torch
from torch import Tensor, nn

HIDING = (list, tuple, dict, set)  # where modules and weights go unseen


def copied(model: nn.Module) -> nn.Module:
    """`copied(model)` shares nothing with the model."""
    # PyTorch refuses to copy what autograd made. Such a tensor in a drawer is copied as it stands.
    made = [thing for _, thing in plain_things(model) if isinstance(thing, Tensor) and not thing.is_leaf]
    return copy.deepcopy(model, {id(tensor): tensor.detach().clone() for tensor in made})


def in_dtype(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    """`in_dtype(model, torch.float64)` is a copy in that precision, that does not train, without dropout."""
    model = converted(copied(model), dtype).eval()
    for _, thing in plain_things(model):  # PyTorch would leave these behind: that is found by another test
        if isinstance(thing, nn.Module):
            converted(thing, dtype).eval()
        elif (thing.is_floating_point() or thing.is_complex()) and thing.is_leaf:
            thing.data = _with_precision(thing.data, dtype)
    return model


def converted(model: nn.Module, dtype: torch.dtype) -> nn.Module:
    """`converted(model, torch.float64)` is the model itself in that precision, complex numbers complex.

    `model.to(dtype)` makes them real, which turns a rotation into a mere factor.
    """
    model._apply(lambda tensor: _with_precision(tensor, dtype))  # type: ignore[no-untyped-call]
    return model


def _with_precision(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    if tensor.is_complex():
        return tensor.to(torch.complex128 if dtype == torch.float64 else torch.complex64)
    return tensor.to(dtype) if tensor.is_floating_point() else tensor


def exact(model: nn.Module) -> nn.Module:
    """`exact(model)` is a copy in float64, so that what changes nothing changes exactly nothing."""
    return in_dtype(model, torch.float64)


@torch.no_grad()
def shaken(model: nn.Module, source: torch.Generator) -> nn.Module:
    """`shaken(model, generator(0))` has had a little chance added to its weights: it is returned itself.

    A matrix that starts at zero lets nothing through, so that a sound model would look as if it did not
    attend, and a faulty one as if it did not leak.
    """
    hidden = [thing for _, thing in plain_things(model)]
    unseen = [weight for thing in hidden if isinstance(thing, nn.Module) for weight in thing.parameters()]
    each = {id(weight): weight for weight in [*model.parameters(), *unseen]}
    for weight in each.values():
        if weight.is_floating_point():
            size = 0.05 * float(weight.detach().float().square().mean().sqrt()) + 0.02
            noise = torch.randn(weight.shape, generator=source, dtype=torch.float32)
            weight.add_((size * noise).to(weight))
    return model


def plain_things(model: nn.Module) -> Iterator[tuple[str, Any]]:
    """`plain_things(model)` are tensors, modules and parameters that PyTorch does not know of, with names.

    >>> model = nn.Linear(2, 2)
    >>> model.more = [nn.Linear(2, 2)]
    >>> [name for name, _ in plain_things(model)]
    ['more[0]']
    """
    for name, module in model.named_modules():
        for attribute, value in vars(module).items():
            if attribute.startswith("_") and isinstance(value, dict | set):
                continue  # PyTorch's own drawers
            yield from _within(f"{name}.{attribute}".lstrip("."), value, depth=3)


def _within(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Tensor | nn.Module):
        yield name, value
    elif isinstance(value, HIDING) and depth and len(value) < 1000:
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, part in pairs:
            yield from _within(f"{name}[{key!r}]", part, depth - 1)


def is_untrained(model: nn.Module) -> bool | None:
    """`is_untrained(model)`: are the gains of its norms exactly 1 still? None where that can't be told."""
    if type(model).__module__.startswith("transformers."):
        return None  # how Hugging Face starts its models is theirs: an untied T5, for one, is sure of itself
    gains = [
        cast(Tensor, module.weight)
        for module in model.modules()
        if is_norm(module) and isinstance(getattr(module, "weight", None), Tensor)
    ]
    if not gains:
        return None
    return all(bool((gain.detach() - 1).abs().max() == 0 or not gain.any()) for gain in gains)


def is_norm(module: nn.Module) -> bool:
    """`is_norm(nn.LayerNorm(8))`: it is called a norm, and has no parts."""
    return "norm" in type(module).__name__.lower() and not any(module.children())
