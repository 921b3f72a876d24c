"""Whatever is tried on a model: afterwards it is as it was, and so is the machine's chance."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn


@contextmanager
def untouched(model: nn.Module, batch: Any = None) -> Iterator[None]:
    """`with untouched(model, batch): …` puts back whatever was changed inside, also after an error.

    That is: weights, buffers, gradients (also that there are none), what requires one, the mode of every
    layer, hooks, plain attributes of layers, the tensors of the batch, the state of chance of Python, NumPy
    and PyTorch, the default dtype, and whether gradients and PyTorch's fast path are on.

    >>> model = nn.Linear(2, 2)
    >>> with untouched(model):
    ...     _ = nn.init.zeros_(model.eval().weight)
    >>> model.training, bool(model.weight.any())
    (True, True)
    """
    held = [(tensor, tensor.detach().clone()) for tensor in _tensors(model, batch)]
    learned = [(weight, weight.requires_grad, weight.grad) for weight in model.parameters()]
    gradients = [
        (weight.grad, weight.grad.clone()) for weight in model.parameters() if weight.grad is not None
    ]
    layers = [(module, dict(vars(module))) for module in model.modules()]
    drawers = [(drawer, drawer.copy()) for _, held_by in layers for drawer in _drawers(held_by)]
    chance = _chance()
    dtype, enabled = torch.get_default_dtype(), torch.is_grad_enabled()
    fast = torch.backends.mha.get_fastpath_enabled()
    try:
        yield
    finally:
        torch.backends.mha.set_fastpath_enabled(fast)
        torch.set_default_dtype(dtype)
        torch.set_grad_enabled(enabled)
        _give_back(chance)
        for module, attributes in layers:
            vars(module).clear()
            vars(module).update(attributes)
        for drawer, contents in drawers:  # weights, buffers, parts and hooks
            drawer.clear()
            drawer.update(contents)
        with torch.no_grad():
            for tensor, before in held + gradients:
                # Only what differs is written: a tensor that others share may not be written at all.
                if not _same(tensor, before):
                    tensor.copy_(before)
        for weight, required, gradient in learned:
            weight.requires_grad_(required)
            weight.grad = gradient


def _tensors(model: nn.Module, batch: Any) -> Iterator[Tensor]:
    yield from model.parameters()
    yield from model.buffers()
    for module in model.modules():
        yield from (thing for thing in vars(module).values() if isinstance(thing, Tensor))
    parts = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, tuple) else [batch]
    yield from (part for part in parts if isinstance(part, Tensor))


def _drawers(attributes: dict[str, Any]) -> list[Any]:
    return [
        value for name, value in attributes.items() if name.startswith("_") and isinstance(value, dict | set)
    ]


def _same(one: Tensor, other: Tensor) -> bool:
    if one.shape != other.shape or one.is_meta:
        return one.is_meta
    return torch.equal(one, other) or bool(((one == other) | ((one != one) & (other != other))).all())


def _chance() -> dict[str, Any]:
    chance: dict[str, Any] = {"python": random.getstate(), "torch": torch.get_rng_state()}
    if torch.cuda.is_available() and torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        chance["cuda"] = torch.cuda.get_rng_state_all()
    try:
        import numpy as np
    except ImportError:  # PyTorch runs without it
        return chance
    return chance | {"numpy": np.random.get_state()}


def _give_back(chance: dict[str, Any]) -> None:
    random.setstate(chance["python"])
    torch.set_rng_state(chance["torch"])
    if "cuda" in chance:
        torch.cuda.set_rng_state_all(chance["cuda"])
    if "numpy" in chance:
        import numpy as np

        np.random.set_state(chance["numpy"])
