"""Name the layer in which the first NaN arises, by hooks that leave no trace."""

import contextlib
import math
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as every_module

from bookkit.checking.answers import UnwrittenError, WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

TOLD: dict[int, str] = {}  # what numbers stand for, since a check compares numbers
THROUGH = "the error that the model raises"


_KINDS: dict[str, Callable[[Tensor], Any]] = {
    "as it is": lambda inputs: inputs + 0,
    "root": lambda inputs: (-inputs.abs() - 1).sqrt(),
    "infinite": lambda inputs: inputs / 0,
    "less itself": lambda inputs: inputs - inputs,  # of what is infinite, NaN
    "two": lambda inputs: (inputs, inputs * math.nan),
    "two in one": lambda inputs: (inputs, (inputs, inputs * math.nan)),
    "one number": lambda inputs: inputs.masked_fill(inputs == inputs.max(), math.nan),
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
    `Stack.runs` counts the runs of all of them.
    """

    runs = 0

    def __init__(self, calls: str = "", **layers: nn.Module) -> None:
        super().__init__()
        for name, layer in layers.items():
            self.add_module(name, layer)
        self.calls = calls.split() or [*layers]

    def forward(self, stream: Any) -> Any:
        """`stack(inputs)` is what the last gives."""
        Stack.runs += 1
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
    with torch.random.fork_rng(devices=[]):
        layer = nn.Linear(4, 4, device="cpu")
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
    before, kept, runs = _hooks(model), [dict(each) for each in globally], Stack.runs
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
    if Stack.runs - runs > sum(isinstance(each, Stack) for each in model.modules()):
        raise WrongTypeError("It runs the model more than once. One run, with hooks, tells all.")
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


def _leaves(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    return ((name, each) for name, each in model.named_modules() if not [*each.children()])


def _at_the_end(handles: list[Any], run: Callable[[], object]) -> None:
    run()
    for handle in handles:
        handle.remove()


def _swallowed(handles: list[Any], run: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):
        _finally(handles, run)


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


def _shallow(value: Any) -> bool:
    """Of a tensor's rows, or of the tensors in a tuple, but not of those in a tuple in it."""
    return has_nan([each for each in value if isinstance(each, Tensor)])


MISTAKES: Mistakes = in_parts(
    first_nan,
    run={
        "hooks stay": (
            "Your hooks stay. Keep what `register_forward_hook` returns, and call its "
            "`remove()` at the end.",
            lambda handles, run: run(),
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
        "all numbers": (
            "You ask whether *all* numbers are NaN. One is enough: `isnan().any()`.",
            lambda given, output: any(each.isnan().all() for each in _tensors(output)) and not has_nan(given),
        ),
        "one tuple deep": (
            "A tuple may hold tuples, and you look into the outer one alone. A function that calls itself "
            "can look into all.",
            lambda inputs, output: _shallow(output) and not _shallow(inputs),
        ),
        "inf, too": (
            "It takes an infinite number for NaN. `isfinite` is False for both; `isnan` for NaN alone.",
            lambda inputs, output: _not_finite(output) and not _not_finite(inputs),
        ),
        "only one result": (
            "Where a layer returns several tensors, you look at the first alone, or at none: look into all.",
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
            "A NaN that the model's own code makes is not seen. Watch the model, too: its name is the empty "
            "text. And call it by `model(batch)`: `model.forward(batch)` passes its hooks by.",
            lambda model: ((name, each) for name, each in model.named_modules() if name),
        ),
    },
    chosen={
        "the last": (
            "You name the last that is found, which is the model around all others. The first to end is the "
            "innermost.",
            lambda found, model: found[-1],
        ),
        "the last of the loop": (
            "You always name the last layer of your loop: the hooks look up `name` when they run, and then "
            "the loop is over. Bind it: `def hook(module, inputs, output, name=name)`.",
            lambda found, model: [*model.named_modules()][-1][0],
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


def _case(label: str, model: nn.Module) -> Case:
    return Case(label, model, batch())


def _block(middle: str = "as it is", calls: str = "") -> Stack:
    return Stack(calls, norm=Step("as it is"), middle=Step(middle), write=linear(2))


check_first_nan = Exercise(
    "first_nan",
    difficulty=3,
    minutes=25,
    takes=("model", "batch"),
    returns=("layer", "hooks left"),
    reference=first_nan,
    ask=answered,
    cases=(
        _case("names the layer", Stack(read=linear(1), middle=Step("root"), write=linear(2))),
        _case("is None where no NaN arises", Stack(read=linear(1), write=linear(2))),
        _case(
            "names it with all that it stands in",
            Stack(read=linear(1), first=_block(), second=_block("root"), write=linear(3)),
        ),
        _case(
            "goes by the order of the calls",
            Stack("read second first", first=Step("root"), second=Step("root"), read=linear(1)),
        ),
        _case(
            "leaves infinite numbers alone",
            Stack(read=linear(1), far=Step("infinite"), less=Step("less itself"), write=linear(2)),
        ),
        _case(
            "finds what arises between layers",
            Stack(read=linear(1), first=_block(calls="norm root write"), write=linear(3)),
        ),
        _case(
            "finds what arises in the model's own code",
            Stack("read root write", read=linear(1), write=linear(2)),
        ),
        _case(
            "looks at all that a layer returns",
            Stack(read=linear(1), two=Step("two"), first=Step("first of two"), write=linear(2)),
        ),
        _case(
            "looks at all that a layer returns",
            Stack(read=linear(1), two=Step("two in one"), first=Step("first of two"), write=linear(2)),
        ),
        _case("finds a NaN among numbers", Stack(read=linear(1), middle=Step("one number"), write=linear(2))),
        _case("lets an error through, and clears up", Stack(read=linear(1), write=Step("error"))),
    ),
    mistakes=MISTAKES,
    meanings={"layer": TOLD, "hooks left": {0: "none", 1: "some"}},
    trainable=False,
)
