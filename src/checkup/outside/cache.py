"""With a cache, word by word, a model must say what it says of the whole text."""

import inspect
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from checkup import sections
from checkup.calling import logits_in, takes
from checkup.patient import Patient
from checkup.report import Finding, Severity
from checkup.trace import Trace, tensors, traced

Result: TypeAlias = tuple[str, list[Finding]]
NAMES = ("cache", "past", "kv", "state", "memory", "mems")  # in those of arguments
SURE = ("cache", "past", "kv")  # what is called so is no other thing
Step: TypeAlias = Callable[[Tensor], Tensor]  # ids (B, t), behind those before, to logits (B, t, V)
WRONG = (
    "What a cache holds is joined, masked or placed otherwise than in one go: new words stand at the wrong "
    "place, see too little, or share what is another's."
)


def cached(patient: Patient) -> Result:
    """`cached(patient)`: in one piece, in pieces and word by word, and a second text after a first."""
    if (
        patient.kind != "writes"
        or patient.calling.sources
        or len(patient.slots) > 1 + len(patient.calling.masks)
    ):
        return "not asked of this kind of model", []
    key = patient.calling.ids
    started = _start(patient)
    if started is None:
        return "the model takes no cache that is known here", []
    start, severity = started
    ids, wanted = patient.slots[key], patient.base[0]
    other = patient.filled(patient.slots, seed=5)[key]
    told = []
    for words, text, pieces in (
        ("in one piece", ids, [patient.places]),
        ("word by word", ids, [1] * patient.places),
        ("in pieces", ids, [2, patient.places - 2]),
        ("a second text", other, [1] * patient.places),
    ):
        if words == "a second text":
            wanted = patient.run(patient.slots | {key: other})[0]
        try:
            logits, traces = _read(patient, start, text, pieces)
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError) as error:
            return f"{words}: an error", [
                Finding("cache", getattr(error, "layer", ""), f"with a cache, {words}, it raises "
                        f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:140]}", WRONG,
                        sections.CACHE, severity)
            ]  # fmt: skip
        if logits.shape != wanted.shape or bool((logits - wanted).abs().max() > 1e-4 * wanted.abs().max()):
            where = _where(patient, traces, pieces) if text is ids else ""
            return f"{words}: something else", [
                Finding("cache", where, f"with a cache, {words}, it says something else than without",
                        WRONG, sections.CACHE, severity)
            ]  # fmt: skip
        told.append(words)
    return f"the same {', '.join(told)}", []


def _start(patient: Patient) -> tuple[Callable[[], Step], Severity] | None:
    model = patient.exact
    for make in _caches(model) if takes(model, "caches") else ():
        if _runs(patient, partial(_step_from_new, model, make)):

            def ours(make: Callable[[], Any] = make) -> Step:
                return partial(_step, model, make())

            return ours, "wrong"
    options = inspect.signature(model.forward).parameters
    for name in filter(_is_of_a_cache, options):
        if name not in patient.slots and options[name].default in (None, ()):
            start = partial(_Returned, patient, name)
            if _runs(patient, start(), start().takes_what_it_gave):
                # A memory may be meant to go on otherwise than text in one piece does.
                return start, "wrong" if _is_sure(name) else "doubtful"
    return None


def _is_of_a_cache(name: str) -> bool:
    name = name.lower()
    return any(word in name for word in NAMES) and not any(word in name for word in ("hidden", "encoder"))


def _are_weights(kept: Any) -> bool:
    """Whether it is what attention shared out, which some models return to be looked at."""
    found = [*tensors(kept)]
    return bool(found) and all(bool(((one.sum(-1) - 1).abs() < 1e-4).all()) for one in found if one.dim())


def _is_sure(name: str) -> bool:
    return any(word in name.lower() for word in SURE)


def _runs(patient: Patient, step: Step, more: Callable[[], bool] = lambda: True) -> bool:
    """Whether it reads one id at all: what a model calls so may be no cache."""
    with torch.no_grad(), patient.precision():
        try:
            step(patient.slots[patient.calling.ids][:, :1])
            return more()
        except (RuntimeError, ValueError, TypeError, IndexError, AttributeError, KeyError):
            return False


class _Returned:
    """`step = _Returned(patient, "past")` gives a model, at each step, what it returned at the one before.

    That is what stands under the same name, or a like one, in what it returns, or behind the logits.
    """

    def __init__(self, patient: Patient, name: str) -> None:
        self.patient, self.name = patient, name
        self.kept: Any = None
        options = inspect.signature(patient.exact.forward).parameters.values()
        asks = [one.name for one in options if _is_of_a_cache(one.name)]
        self.flags = {one: True for one in asks if one.lower().startswith(("use_", "return_"))}

    def __call__(self, ids: Tensor) -> Tensor:
        given = {} if self.kept is None else {self.name: self.kept}
        output = self.patient.exact(ids, **given, **self.flags)
        self.kept = self._in(output)
        return logits_in(output)

    def _in(self, output: Any) -> Any:
        if isinstance(output, list | tuple) and not hasattr(output, "_fields"):
            kept = output[1] if len(output) > 1 else None
            return None if _are_weights(kept) else kept
        named = {name: getattr(output, name) for name in getattr(output, "_fields", ())}
        parts = output if isinstance(output, dict) else named or getattr(output, "__dict__", {})
        likely = [key for key in parts if key == self.name] or [
            key for key in parts if _is_of_a_cache(str(key))
        ]
        return next((parts[key] for key in likely if parts[key] is not None), None)

    def takes_what_it_gave(self) -> bool:
        """`step.takes_what_it_gave()`: what only looks like a cache, as weights, is not taken back."""
        ids = self.patient.slots[self.patient.calling.ids][:, :1]
        self(ids)
        if self.kept is None:
            return False
        if not _is_sure(self.name) or isinstance(self.kept, Tensor):
            self(ids)
        return True


def _caches(model: nn.Module) -> Iterator[Callable[[], Any]]:
    """Ways to make caches: the model's own, or one for each layer of its longest list."""
    own: Any = getattr(model, "caches", None)
    if callable(own):
        yield own
    # The class that the model's own file knows, where it has one.
    kind = getattr(sys.modules.get(type(model).__module__), "Cache", None)
    kind = kind or getattr(model.forward, "__globals__", {}).get("Cache")
    kind = kind or getattr(sys.modules.get("attnlab.attention"), "Cache", None)
    if kind is None:
        return
    lists = [len(module) for module in model.modules() if isinstance(module, nn.ModuleList)]
    for count in sorted(set(lists), reverse=True):
        yield partial(_some, kind, count)


def _step(model: nn.Module, caches: Any, ids: Tensor) -> Tensor:
    logits: Tensor = model(ids, caches)
    return logits


def _step_from_new(model: nn.Module, make: Callable[[], Any], ids: Tensor) -> Tensor:
    return _step(model, make(), ids)


def _some(kind: Callable[[], Any], count: int) -> list[Any]:
    return [kind() for _ in range(count)]


def _read(
    patient: Patient, start: Callable[[], Step], ids: Tensor, pieces: list[int]
) -> tuple[Tensor, list[Trace]]:
    found, traces = [], []
    with torch.no_grad(), patient.precision():
        step = start()
        for piece in torch.split(ids, pieces, dim=1):
            patient.ask_time()
            with traced(patient.exact) as trace:
                found.append(step(piece))
            traces.append(trace)
    return torch.cat(found, dim=1), traces


def _where(patient: Patient, traces: list[Trace], pieces: list[int]) -> str:
    """The first layer that gives something else for what it is given, in the first piece that differs."""
    base, begin = patient.base[1].numbered(), 0
    for piece, trace in zip(pieces, traces, strict=True):
        for key, call in trace.numbered().items():
            whole = base.get(key)
            if whole is None:
                continue
            given = _pieces_differ(patient, whole.inputs, call.inputs, begin, piece)
            if not given and _pieces_differ(patient, whole.outputs, call.outputs, begin, piece):
                return call.name
        begin += piece
    return ""


def _pieces_differ(
    patient: Patient, wholes: tuple[Tensor, ...], parts: tuple[Tensor, ...], begin: int, piece: int
) -> bool:
    for whole, part in zip(wholes, parts, strict=False):
        if whole.dim() != 3 or part.dim() != 3 or whole.shape[1] != patient.places or part.shape[1] != piece:
            continue
        same_place = whole[:, begin : begin + piece]
        if same_place.shape == part.shape and bool(
            (same_place - part).abs().max() > 1e-5 * whole.abs().max()
        ):
            return True
    return False
