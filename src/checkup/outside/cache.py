"""With a cache, word by word, a model must say what it says of the whole text."""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from checkup import sections
from checkup.calling import takes
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import Trace, traced

Result: TypeAlias = tuple[str, list[Finding]]
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
    start = _start(patient)
    if start is None:
        return "the model takes no cache that is known here", []
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
                        sections.CACHE)
            ]  # fmt: skip
        if logits.shape != wanted.shape or bool((logits - wanted).abs().max() > 1e-4 * wanted.abs().max()):
            where = _where(patient, traces, pieces) if text is ids else ""
            return f"{words}: something else", [
                Finding("cache", where, f"with a cache, {words}, it says something else than without",
                        WRONG, sections.CACHE)
            ]  # fmt: skip
        told.append(words)
    return f"the same {', '.join(told)}", []


def _start(patient: Patient) -> Callable[[], Step] | None:
    model = patient.exact
    if takes(model, "past_key_values") and takes(model, "use_cache"):

        def hugging_face() -> Step:
            past: list[Any] = [None]

            def step(ids: Tensor) -> Tensor:
                output = model(ids, past_key_values=past[0], use_cache=True)
                past[0] = output.past_key_values
                logits: Tensor = output.logits
                return logits

            return step

        return hugging_face
    if not takes(model, "caches"):
        return None
    for make in _caches(model):
        with torch.no_grad(), patient.precision():
            try:
                model(patient.slots[patient.calling.ids][:, :1], make())
            except (RuntimeError, ValueError, TypeError, IndexError, AttributeError):
                continue

        def ours(make: Callable[[], Any] = make) -> Step:
            caches = make()
            return partial(_step, model, caches)

        return ours
    return None


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
