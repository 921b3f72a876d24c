"""The tests in their order, and what calls them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from checkup import copies
from checkup.calling import (
    KINDS,
    Adapter,
    Calling,
    Kind,
    find_slots,
    logits_in,
    with_decoder_ids,
    without_labels,
)
from checkup.inside import gradients, network, norms, numbers, parameters, scores, start, stream
from checkup.limits import Deadline, TimeUpError, limited
from checkup.outside import batch, cache, evaluation, order, output, padding, positions, sight
from checkup.patient import Patient
from checkup.report import Finding, Inquiry, Report, Tried
from checkup.trace import named_errors
from checkup.untouched import untouched


class Test(NamedTuple):
    """`Test("the future changed", "sight", sight.future)` has its name, and its line of inquiry."""

    name: str
    inquiry: Inquiry
    look: Callable[[Patient], tuple[str, list[Finding]]]


# What others build on stands first: a model that leaks fails later tests, too, and those name it worse.
TESTS = (
    Test("weights that PyTorch does not see", "parameters", parameters.unseen),
    Test("layers that stand twice", "parameters", parameters.shared),
    Test("weights that start alike", "start", parameters.drawn),
    Test("the first NaN", "numbers", numbers.finite),
    Test("two runs in eval mode", "evaluation", evaluation.twice),
    Test("another row changed", "batch", batch.other_rows),
    Test("places in norms", "network", norms.unmixed),
    Test("the future changed", "sight", sight.future),
    Test("the past changed", "sight", sight.past),
    Test("what is read changed", "sight", sight.source_seen),
    Test("filler exchanged", "padding", padding.filler),
    Test("a short row beside it", "padding", padding.kept_apart),
    Test("a shorter text", "positions", sight.shorter),
    Test("a row alone, and many rows", "batch", batch.alone),
    Test("one id, and two", "batch", batch.lengths),
    Test("the batch itself", "batch", batch.batch_kept),
    Test("two ids swapped", "positions", order.order),
    Test("one word everywhere", "positions", positions.one_word),
    Test("what the softmax sums over", "scores", scores.sums),
    Test("the divisor of scores", "scores", scores.scale),
    Test("what scores depend on", "scores", scores.informed),
    Test("the spread of scores", "scores", scores.sharpness),
    Test("what blocks pass on", "stream", stream.passes),
    Test("sizes of the stream", "stream", stream.sizes),
    Test("norms", "network", norms.norms),
    Test("activations", "network", network.bends),
    Test("units that are silent", "network", network.alive),
    Test("a gradient for each weight", "parameters", gradients.gradients),
    Test("plain tensors", "parameters", parameters.left_behind),
    Test("saved and loaded", "parameters", parameters.saved),
    Test("what comes out", "output", output.logits),
    Test("the same everywhere", "output", output.spread),
    Test("the loss that was given", "output", start.own_loss),
    Test("the first loss", "start", start.first_loss),
    Test("train against eval", "evaluation", evaluation.training),
    Test("with a cache", "cache", cache.cached),
    Test("half precision", "numbers", numbers.half),
    Test("one batch by heart", "start", start.by_heart),
)


def checkup(
    model: nn.Module,
    batch: Any,
    *,
    kind: Kind | None = None,
    logits: Adapter | None = None,
    loss: Callable[[nn.Module, Any], Any] | None = None,
    padding: int | None = None,
    seconds: float = 10.0,
) -> Report:
    """`report = checkup(model, batch)` tries on copies what can be tried, and tells what it found.

    batch is ids (B, T), or a tuple for `model(*batch)`, or a dict for `model(**batch)`. A model that "writes"
    predicts the next id at each place, one that "fills in" sees both sides, one that "classifies" gives
    logits (B, C). `logits(model, batch)` is needed where the model returns something else, the loss of
    `loss(model, batch)` is compared with the mean over next ids, and padding is the id that fills up rows.
    """
    _arguments_fit(model, batch, kind, logits, loss, padding, seconds)
    if type(model).__name__ == "OptimizedModule":  # compiled: what is in it is looked at as it was written
        model = model._orig_mod  # type: ignore[assignment]
    report, until = Report(), Deadline(seconds)

    def examine() -> None:
        torch.manual_seed(0)
        torch.backends.mha.set_fastpath_enabled(False)  # it packs rows without padding, unseen by hooks
        patient = _patient(model, batch, kind, logits, loss, padding, until, report)
        for test in TESTS:
            _try(test, patient, report)

    try:
        with untouched(model, batch), torch.random.fork_rng(devices=[]):
            limited(examine, until)
    except TimeUpError:
        done = {tried.test for tried in report.tried}
        report.untried = [test.name for test in TESTS if test.name not in done]
    return report


def assert_healthy(model: nn.Module, batch: Any, **options: Any) -> None:
    """`assert_healthy(model, batch)` raises AssertionError with what was found, or not tried in time."""
    report = checkup(model, batch, **options)
    if report.findings:
        told = "\n".join(f"  {finding}" for finding in report.findings)
        raise AssertionError(f"{len(report.findings)} found:\n{told}")
    if report.untried:
        names = ", ".join(report.untried)
        raise AssertionError(f"{report.asked()}: {names}. Give it more `seconds`, or a smaller model.")


def _try(test: Test, patient: Patient, report: Report) -> None:
    try:
        patient.ask_time()
        seen, found = test.look(patient)
    except Exception as error:  # a model may do anything: one test less, and it is said
        words = (str(error).splitlines() or [""])[0][:120]
        seen, found = f"could not be tried: {type(error).__name__}: {words}", []
    found = [replace(one, test=test.name) for one in found]
    report.findings += found
    report.tried.append(Tried(test.name, test.inquiry, seen, len(found)))


# ---- who comes in ----


def _arguments_fit(
    model: object, batch: Any, kind: Any, logits: Any, loss: Any, padding: Any, seconds: Any
) -> None:
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be an nn.Module, got {type(model).__name__}")
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(KINDS)}, got {kind!r}")
    for name, function in {"logits": logits, "loss": loss}.items():
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function of model and batch, got {type(function).__name__}")
    if padding is not None and (isinstance(padding, bool) or not isinstance(padding, int)):
        raise TypeError(f"padding must be an id, a whole number, got {type(padding).__name__}")
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise TypeError(f"seconds must be a number, got {type(seconds).__name__}")
    if not 0 < seconds < float("inf"):
        raise ValueError(f"seconds must be above 0, got {seconds}")
    parts = [*_parts(batch)]
    if not parts:
        raise TypeError(
            f"batch must be ids (B, T), or a tuple or dict with such a tensor, got {type(batch).__name__}"
        )
    unseen = [thing for _, thing in copies.plain_things(model) if isinstance(thing, nn.Module)]
    for name, weight in model.named_parameters():
        if isinstance(weight, nn.parameter.UninitializedParameter):
            raise ValueError(f"model must have weights with shapes, got {name} without: call it once before")
    weights = [*model.parameters(), *(weight for thing in unseen for weight in thing.parameters())]
    if not weights:
        raise ValueError("model must have parameters, got none")
    devices = sorted({str(weight.device) for weight in weights})
    if len(devices) > 1:
        raise ValueError(f"model must be on one device, got {' and '.join(devices)}")
    if devices == ["meta"]:
        raise ValueError("model must have numbers, got one on the device meta, which has only shapes")
    elsewhere = sorted({str(part.device) for part in parts} - set(devices))
    if elsewhere:
        raise ValueError(f"batch must be on {devices[0]}, where the model is, got {' and '.join(elsewhere)}")
    if any(not part.numel() for part in parts):
        raise ValueError(
            f"batch must hold at least one id, got shapes {[tuple(part.shape) for part in parts]}"
        )


def _parts(batch: Any) -> Iterator[Tensor]:
    given = batch.values() if isinstance(batch, dict) else batch if isinstance(batch, tuple) else [batch]
    yield from (part for part in given if isinstance(part, Tensor))


def _patient(
    model: nn.Module, batch: Any, kind: Kind | None, adapter: Adapter | None, loss: Any, padding: int | None,
    until: Deadline, report: Report,
) -> Patient:  # fmt: skip
    calling = Calling(with_decoder_ids(model, batch), adapter)
    first = copies.copied(model).eval()
    try:
        with torch.no_grad(), named_errors(first) as at_work:
            slots = calling.slots()
            raw = adapter(first, calling.batch(slots)) if adapter else calling.raw(first, slots)
    except TimeUpError:
        raise ValueError(
            f"seconds must be longer than one call takes, got {until.seconds:g}: "
            "model(batch) was still running"
        ) from None
    except Exception as error:
        where = f" in {at_work[-1]}" if at_work and at_work[-1] else ""
        words = (str(error).splitlines() or [""])[0][:200]
        raise ValueError(
            f"model must accept the batch, got {type(error).__name__}{where}: {words}"
        ) from error
    found = logits_in(raw)
    kind = kind or _kind(model, found)
    wanted = 2 if kind == "classifies" else 3
    if found.dim() != wanted or not found.is_floating_point() or not found.numel():
        axes = "(B, C)" if wanted == 2 else "(B, T, V)"
        raise ValueError(
            f"model must return logits {axes}, as one that {kind!r}, got {found.dtype} {tuple(found.shape)}"
        )
    find_slots(calling, found, kind)
    without_labels(calling, first, found, kind)
    patient = Patient(model, calling, kind, found.shape[-1], padding, loss, report, until)
    patient.finite = bool(found.isfinite().all())
    del first, raw  # what follows takes much memory
    patient.loose = not _says_the_same(patient, found)  # it asks for its own precision: that has to do
    return patient


def _says_the_same(patient: Patient, wanted: Tensor) -> bool:
    """Whether a copy in float64 says of the whole batch what the model says, but for rounding."""
    model = copies.exact(patient.model)
    try:
        with torch.no_grad(), patient.precision():
            slots = patient.in_precision_of(model, patient.calling.slots())
            found = patient.calling.logits(model, slots).double()
    except Exception:  # a model may do anything
        return False
    if found.shape != wanted.shape or not torch.equal(found.isfinite(), wanted.isfinite()):
        return False
    largest = float(wanted.detach().nan_to_num(0, 0, 0).abs().max())
    # On average: a router may send a word elsewhere for a trifle; a constant that is too large spoils all.
    return float((found - wanted.detach()).abs_().nan_to_num_(0, 0, 0).mean()) <= 0.1 * largest


def _kind(model: nn.Module, logits: Tensor) -> Kind:
    if logits.dim() == 2:
        return "classifies"
    return "fills in" if type(model).__name__.endswith("MaskedLM") else "writes"
