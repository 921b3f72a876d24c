"""The mistakes that `check_first_nan` knows by name."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.fourteen_patients.exercises.first_nan_parts import _finally, first_nan, has_nan


def _leaves(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    return ((name, each) for name, each in model.named_modules() if not [*each.children()])


def _at_the_end(handles: list[Any], run: Callable[[], object]) -> None:
    run()
    for handle in handles:
        handle.remove()


def _swallowed(handles: list[Any], run: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):
        _finally(handles, run)


def _never(handles: list[Any], run: Callable[[], object]) -> None:
    run()


def _listed_first(found: list[str], model: nn.Module) -> str:
    """Of the leaves that gave a NaN, the one that was registered first."""
    return next(name for name, _ in _leaves(model) if name in found)


def _given_first(model: nn.Module, batch: Tensor) -> str | None:
    """Of those that are given a NaN, the first."""
    found: list[str] = []

    def watch(name: str) -> Callable[..., None]:
        return lambda module, inputs: found.append(name) if has_nan(inputs) else None

    handles = [module.register_forward_pre_hook(watch(name)) for name, module in model.named_modules()]
    with torch.no_grad():
        _finally(handles, lambda: model(batch))
    return found[0] if found else None


def _weights_alone(model: nn.Module, batch: Tensor) -> str | None:
    with torch.no_grad():
        model(batch)
    return next((name for name, each in model.named_modules() if has_nan([*each.parameters()])), None)


def _of_patient_8(model: nn.Module, batch: Tensor) -> str:
    """As the chapter has it."""
    found: list[str] = []

    def look(name: str, inputs: Any, output: Tensor) -> None:
        if output.isnan().any() and not inputs[0].isnan().any():
            found.append(name)

    def watch(name: str) -> Callable[..., None]:
        return lambda module, inputs, output: look(name, inputs, output)

    for name, module in model.named_modules():
        module.register_forward_hook(watch(name))
    model(batch)
    return found[0] if found else "none"


def _plain(value: Any) -> bool:
    """Of a tensor alone, or the first of several results."""
    return has_nan(value[0] if isinstance(value, (tuple, list)) else value)


def _not_finite(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return any(map(_not_finite, value))
    return not bool(value.isfinite().all())


MISTAKES: Mistakes = in_parts(
    first_nan,
    run={
        "hooks stay": (
            "Your hooks stay. Keep what `register_forward_hook` returns, and call its "
            "`remove()` at the end.",
            _never,
        ),
        "hooks stay after an error": (
            "If the model raises, your hooks stay. Put `remove()` into the `finally` of a `try`, which runs "
            "whatever happens.",
            _at_the_end,
        ),
        "error swallowed": (
            "If the model raises, nobody hears of it. Let its error through: a `finally` does, an `except` "
            "does not.",
            _swallowed,
        ),
    },
    arises={
        "given away": (
            "A layer that is given a NaN gives one, too, and yours is named for that. Look at what goes in: "
            "it must hold none.",
            lambda inputs, output: has_nan(output),
        ),
        "inf, too": (
            "It takes an infinite number for NaN. `isfinite` is False for both; `isnan` for NaN alone.",
            lambda inputs, output: _not_finite(output) and not _not_finite(inputs),
        ),
        "only one result": (
            "Where a layer returns several tensors, you look at the first alone, and the NaN is in another.",
            lambda inputs, output: _plain(output) and not _plain(inputs),
        ),
    },
    layers={
        "only the outermost": (
            "You watch the model's own children, and not what stands in them. `named_modules()` has them "
            "all, `named_children()` the outermost.",
            lambda model: model.named_children(),
        ),
        "only the innermost": (
            "You watch only layers that have none inside. A NaN can arise between them, in the code of the "
            "layer that calls them.",
            _leaves,
        ),
        "not the model itself": (
            "The model's own code can make a NaN, too. Watch it as well: its name is the empty text.",
            lambda model: ((name, each) for name, each in model.named_modules() if name),
        ),
    },
    chosen={
        "the last": (
            "You name the last that is found, which is the model around all others. The first to end is the "
            "innermost.",
            lambda found, model: found[-1],
        ),
    },
    none={
        "empty where none is": (
            'Where no NaN arises, return None. An empty name is the name of the model itself, as in `""`.',
            lambda: "",
        ),
        "a word for none": (
            "Where no NaN arises, return None itself. A layer could be called as your word is.",
            lambda: "none",
        ),
    },
    called={
        "its class": (
            "You give the name of the layer's class. There are many of a class: give the name that "
            "`named_modules()` has for it.",
            lambda name, module: type(module).__name__,
        ),
        "without its place": (
            "You give only the last part of the name. The whole, with its dots, says where the layer stands.",
            lambda name, module: name.rpartition(".")[2],
        ),
    },
) | {
    "as it is above": (
        "This is the one of patient 8. Its hooks stay, a tuple stops it, and it has a word where None is "
        "asked for.",
        _of_patient_8,
    ),
    "in the order of the list": (
        "You name the layer that comes first in `named_modules()`. The order of the calls may be another: "
        "the hooks run in it.",
        lambda model, batch: first_nan(
            model, batch, layers=_leaves, arises=lambda _, output: has_nan(output), chosen=_listed_first
        ),
    ),
    "the next one": (
        "You name the first that is *given* a NaN. It arose in the one before: ask what each gives.",
        _given_first,
    ),
    "never any": (
        "You never find any. (The weights can all be in order, and still a root, a logarithm or inf - inf "
        "makes a NaN on the way.)",
        _weights_alone,
    ),
}  # fmt: skip
