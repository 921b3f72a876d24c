"""What `check_first_nan` asks with: models in which a NaN arises, and a search in parts."""

import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as every_module

from bookkit.checking.answers import UnwrittenError, WrongTypeError
from bookkit.checking.mistakes import Part

TOLD: dict[int, str] = {}  # what numbers stand for, since a check compares numbers
THROUGH = "the error that the model raises"


_KINDS: dict[str, Callable[[Tensor], Any]] = {
    "as it is": lambda inputs: inputs + 0,
    "root": lambda inputs: (-inputs.abs() - 1).sqrt(),
    "infinite": lambda inputs: inputs / 0,
    "less itself": lambda inputs: inputs - inputs,  # of what is infinite, NaN
    "two": lambda inputs: (inputs, inputs * math.nan),
    "first of two": lambda inputs: inputs[0],
}


class Step(nn.Module):
    """`Step("root")(torch.ones(1))` is NaN: each kind does one thing to what it is given."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind = kind

    def forward(self, inputs: Any) -> Any:
        """`step(inputs)` does it."""
        if self.kind == "error":
            raise RuntimeError("the matrices do not fit")
        return _KINDS[self.kind](inputs)

    def extra_repr(self) -> str:
        """`Step("root").extra_repr()` is "root"."""
        return self.kind


class Stack(nn.Module):
    """`Stack(one=nn.Linear(4, 4), two=Step("root"))(inputs)` calls one after the other.

    `calls` are the names in the order of the calls, "root" for a root that no layer of its own takes.
    """

    def __init__(self, calls: str = "", **layers: nn.Module) -> None:
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.calls = calls.split() or [*layers]

    def forward(self, stream: Any) -> Any:
        """`stack(inputs)` is what the last gives."""
        for name in self.calls:
            stream = (-stream.abs() - 1).sqrt() if name == "root" else getattr(self, name)(stream)
        return stream

    def __repr__(self) -> str:
        layers = ", ".join(
            f"{name}: {layer if isinstance(layer, Stack) else getattr(layer, 'kind', 'linear')}"
            for name, layer in self.named_children()
        )
        return f"[{layers}; called: {', '.join(self.calls)}]"


def linear(seed: int) -> nn.Linear:
    """`linear(1)` is of width 4; it draws nothing from PyTorch's own dice."""
    layer = nn.Linear(4, 4, device="meta").to_empty(device="cpu")
    source = torch.Generator("cpu").manual_seed(seed)
    with torch.no_grad():
        for weight in layer.parameters():
            weight.copy_(torch.randn(weight.shape, generator=source, device="cpu"))
    return layer


def batch() -> Tensor:
    """`batch()` is (2, 4)."""
    return torch.arange(1.0, 9.0, device="cpu").view(2, 4) / 8


def _hooks(model: nn.Module) -> int:
    """How many hooks there are, on the model and on all modules of the world."""
    names = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
    own = sum(len(getattr(each, name)) for each in model.modules() for name in names)
    return own + len(every_module._global_forward_hooks) + len(every_module._global_forward_pre_hooks)


def answered(work: Callable[..., Any], model: nn.Module, inputs: Tensor) -> tuple[int, int]:
    """`answered(my_first_nan, model, batch())` is the name that it gives, and how many hooks it leaves."""
    globally = every_module._global_forward_hooks, every_module._global_forward_pre_hooks
    before, kept = _hooks(model), [dict(each) for each in globally]
    try:
        found = work(model, inputs)
    except RuntimeError as error:
        if str(error) != "the matrices do not fit":
            raise
        found = THROUGH
    finally:
        left = _hooks(model) - before
        for each, own in zip(globally, kept, strict=True):  # else other models would have them, too
            each.clear()
            each.update(own)
    if found is ...:
        raise UnwrittenError
    if isinstance(found, nn.Module):
        raise WrongTypeError("It returns the layer. Return its name, as `model.named_modules()` has it.")
    if found is not None and not isinstance(found, str):
        raise WrongTypeError(f"It returns {type(found).__name__}, where a name or None is expected.")
    if isinstance(found, str) and found.casefold() == "none":
        found = "none"
    words = THROUGH if found is THROUGH else repr(found)
    number = zlib.crc32(words.encode(errors="surrogatepass"))
    TOLD[number] = words
    return number, int(left > 0)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors(part)


def has_nan(value: Any) -> bool:
    """`has_nan((torch.ones(1), torch.tensor(math.nan)))` is True."""
    return any(bool(tensor.isnan().any()) for tensor in _tensors(value))


def _finally(handles: list[Any], run: Callable[[], object]) -> None:
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()


def first_nan(
    model: nn.Module,
    batch: Tensor,
    *,
    layers: Part = lambda model: model.named_modules(),
    arises: Part = lambda inputs, output: has_nan(output) and not has_nan(inputs),
    chosen: Part = lambda found, model: found[0],
    none: Part = lambda: None,
    called: Part = lambda name, module: name,
    run: Part = _finally,
) -> str | None:
    """`first_nan(model, batch)` is the name of the layer in which the first NaN arises, or None."""
    found: list[str] = []

    def watch(name: str) -> Callable[..., None]:
        def hook(module: nn.Module, inputs: Any, output: Any) -> None:
            if arises(inputs, output):
                found.append(called(name, module))

        return hook

    handles = [module.register_forward_hook(watch(name)) for name, module in layers(model)]
    with torch.no_grad():
        run(handles, lambda: model(batch))
    return chosen(found, model) if found else none()  # type: ignore[no-any-return]
