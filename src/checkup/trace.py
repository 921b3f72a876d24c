"""Every layer watched: what went in, what came out, and which layer is the first to differ."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

Differs: TypeAlias = Callable[[Tensor, Tensor], bool]


@dataclass(frozen=True, eq=False)
class LayerCall:
    """`call.outputs` are what the layer `call.name` gave for `call.inputs`: copies, as they were then."""

    name: str
    module: nn.Module
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]


@dataclass
class Trace:
    """`trace.calls` are in the order in which layers were done: parts stand before their whole."""

    calls: list[LayerCall] = field(default_factory=list)
    running: list[str] = field(default_factory=list)  # the layers that are at work now, the innermost last
    arguments: dict[str, tuple[Any, dict[str, Any]]] = field(
        default_factory=dict
    )  # what layers were called with

    def numbered(self) -> dict[tuple[str, int], LayerCall]:
        """`trace.numbered()[name, 2]` is the third call to the layer of that name."""
        times: dict[str, int] = {}
        numbered = {}
        for call in self.calls:
            numbered[call.name, times.get(call.name, 0)] = call
            times[call.name] = times.get(call.name, 0) + 1
        return numbered


def tensors(thing: Any) -> Iterator[Tensor]:
    """`tensors((a, {"b": b}))` are the tensors of real numbers in it, however deep."""
    if isinstance(thing, Tensor):
        if thing.is_floating_point():
            yield thing
    elif isinstance(thing, dict):
        for part in thing.values():
            yield from tensors(part)
    elif isinstance(thing, list | tuple):
        for part in thing:
            yield from tensors(part)


class _Copies:
    """One copy of each tensor as it stands: what a layer gives is what the next is given."""

    def __init__(self) -> None:
        self.known: dict[int, tuple[weakref.ref[Tensor], int, Tensor]] = {}

    def of(self, tensor: Tensor) -> Tensor:
        """`copies.of(vectors)` is a copy, made once unless something was written to vectors since."""
        if tensor.is_inference():
            return tensor.detach().clone()
        known = self.known.get(id(tensor))
        if known is not None and known[0]() is tensor and known[1] == tensor._version:
            return known[2]
        copy = tensor.detach().clone()
        self.known[id(tensor)] = weakref.ref(tensor), tensor._version, copy
        return copy


@contextmanager
def traced(model: nn.Module, keep_arguments: bool = False) -> Iterator[Trace]:
    """`with traced(model) as trace: model(ids)` keeps what each layer was given, and what it gave."""
    trace = Trace()
    hooks: list[Any] = []
    kept = _Copies().of

    def watch(name: str, module: nn.Module) -> None:
        inputs: list[tuple[Tensor, ...]] = []  # a stack: a layer may call itself

        def before(_: nn.Module, given: Any, options: dict[str, Any]) -> None:
            trace.running.append(name)
            # Copies: what is added to in place later would otherwise show what came after.
            inputs.append(tuple(map(kept, tensors([given, options]))))
            if keep_arguments:
                trace.arguments.setdefault(name, (given, options))

        def after(_: nn.Module, __: Any, outputs: Any) -> None:
            if trace.running and trace.running[-1] == name:
                trace.running.pop()
            given = inputs.pop() if inputs else ()
            trace.calls.append(LayerCall(name, module, given, tuple(map(kept, tensors(outputs)))))

        hooks.append(module.register_forward_pre_hook(before, with_kwargs=True))
        hooks.append(module.register_forward_hook(after))

    for name, module in model.named_modules():
        watch(name, module)
    try:
        yield trace
    except Exception as error:
        if trace.running and not hasattr(error, "layer"):
            error.layer = trace.running[-1]  # type: ignore[attr-defined]
        raise
    finally:
        for hook in hooks:
            hook.remove()


def differ(one: Tensor, other: Tensor, tolerance: float = 1e-10) -> Tensor:
    """`differ(one, other)` says of each number whether it differs by more than rounding; NaN is like NaN."""
    largest = one.nan_to_num(0, 0, 0).abs().amax() if one.numel() else torch.zeros(())
    same = (one == other) | (one.isnan() & other.isnan())
    return ~same & ~((one - other).abs() <= tolerance * largest)


def places_first(tensor: Tensor, places: int, row: int | None = None, rows: int = 0) -> Tensor | None:
    """`places_first(vectors, places=7)` is (7, …), of (B, 7, …), (7, B, …) or (B, heads, 7, …); else None.

    With a row, of that row of the batch alone.
    """
    for axis in (1, 0, 2):
        if axis < tensor.dim() and tensor.shape[axis] == places:
            moved = tensor.movedim(axis, 0)  # (places, …), the rows next
            if row is not None and moved.dim() > 1 and moved.shape[1] == rows:
                moved = moved[:, row]
            return moved.flatten(1) if moved.dim() > 1 else moved[:, None]  # (places, all others)
    return None


def changed_places(
    one: Tensor, other: Tensor, places: int, row: int | None = None, rows: int = 0, tolerance: float = 1e-10
) -> Tensor | None:
    """`changed_places(one, other, places=7)` says of each place whether it differs; None without places."""
    if one.shape != other.shape:
        return None
    first, second = (places_first(tensor, places, row, rows) for tensor in (one, other))
    if first is None or second is None:
        return None
    return differ(first, second, tolerance).any(-1)  # (places,)


def first_to_differ(one: Trace, other: Trace, differs: Differs) -> str | None:
    """`first_to_differ(one, other, differs)` names the first layer that differs though its inputs do not."""
    others = other.numbered()
    for key, call in one.numbered().items():
        twin = others.get(key)
        if twin is None:
            continue
        if _any(differs, call.outputs, twin.outputs) and not _any(differs, call.inputs, twin.inputs):
            return call.name
    return None


def first_bad(trace: Trace) -> str:
    """`first_bad(trace)` names the first layer that gives NaN or infinity though it was given none."""
    for call in trace.calls:
        if all(bool(t.isfinite().all()) for t in call.outputs):
            continue
        # A mask that is added may hold -inf: it is no vectors (B, T, d).
        if all(bool(t.isfinite().all()) for t in call.inputs if t.dim() == 3):
            return call.name
    return ""


def _any(differs: Differs, ones: tuple[Tensor, ...], others: tuple[Tensor, ...]) -> bool:
    return any(differs(one, other) for one, other in zip(ones, others, strict=False))


@contextmanager
def named_errors(model: nn.Module) -> Iterator[list[str]]:
    """`with named_errors(model) as running: model(ids)`: after an error, running[-1] is where it was."""
    running: list[str] = []
    hooks: list[Any] = []
    for name, module in model.named_modules():
        hooks.append(module.register_forward_pre_hook(lambda *_, name=name: running.append(name)))
        hooks.append(module.register_forward_hook(lambda *_: _forget(running)))
    try:
        yield running
    finally:
        for hook in hooks:
            hook.remove()


def _forget(running: list[str]) -> None:
    running.pop()
