"""Norms: do they divide by the size of what they are given, place by place, and in every precision?"""

import math
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from checkup import copies, sections
from checkup.inside.network import called
from checkup.patient import Patient
from checkup.report import Finding, Severity
from checkup.trace import changed_places

Result: TypeAlias = tuple[str, list[Finding]]


def norms(patient: Patient) -> Result:
    """`norms(patient)`: ten times the input gives the same; each place is by itself; numbers have size 1."""
    looked, findings = 0, []
    calls = {
        v.name: v for v in patient.run(patient.slots, patient.plain)[1].calls if copies.is_norm(v.module)
    }
    for name, call in calls.items():
        if "batchnorm" in type(call.module).__name__.lower() or not call.inputs:
            continue
        entered = call.inputs[0]
        if not bool(entered.any()) or float(entered.abs().max()) < 1e-2:
            continue
        looked += 1
        with torch.no_grad():
            large, larger = (called(call.module, times * _unit(entered)) for times in (1, 1000))
        if large is None or larger is None or not bool(large.isfinite().all()):
            continue
        if bool((large - larger).abs().max() > 0.02 * large.abs().max()):
            findings.append(
                Finding("network", name, "a thousand times the input gives something else",
                        "A norm divides by the size of what it is given, so that only the direction is "
                        "left: the root is missing, or eps is too large.", sections.NORM)
            )  # fmt: skip
        elif _gain_is_one(call.module) and not 0.8 < float(large.square().mean().sqrt()) < 1.25:
            findings.append(
                Finding("network", name, f"with gains of 1, its numbers have size {_rms(large):.3g}, not "
                        "1", "It divides by a sum in place of a mean, or by too many numbers.",
                        sections.NORM)
            )  # fmt: skip
        else:
            findings += _half(patient, name, call.module, entered)
    return f"{looked} norms looked at", findings[:1]


def _half(patient: Patient, name: str, module: nn.Module, entered: Tensor) -> list[Finding]:
    """In float16 the square of 256 is infinite: a norm must compute in float32."""
    own = next(patient.model.parameters()).dtype
    if own == torch.float64:  # nobody who wants so many digits takes fewer than most
        return []
    severity: Severity = "doubtful" if own == torch.float32 else "wrong"  # float32 may be all it is meant for
    narrow = copies.in_dtype(module, torch.float16)
    with torch.no_grad():
        try:
            small = called(narrow, _unit(entered).half())
            large = called(narrow, (1000 * _unit(entered)).half())
        except RuntimeError:  # the CPU may lack a kernel for float16
            return []
    if small is None or large is None or not bool(small.isfinite().all()):
        return []
    if small.dtype == torch.float32:
        return [
            Finding("numbers", name, "in float16 it is given float16, and gives float32",
                    "The next layer gets another precision than its weights have: cast back what was "
                    "computed in float32.", sections.NORM)
        ]  # fmt: skip
    if not bool(large.isfinite().all()) or bool((large - small).abs().max() > 0.1 * small.abs().max()):
        return [
            Finding("numbers", name, "in float16, numbers of size 1000 come out otherwise than those of "
                    "size 1", "Their squares are too large for float16: a norm should compute in "
                    "float32.", sections.NORM, severity)
        ]  # fmt: skip
    return []


def _unit(tensor: Tensor) -> Tensor:
    return tensor / tensor.square().mean(-1, keepdim=True).sqrt().clamp_min(1e-12)


def _rms(tensor: Tensor) -> float:
    return math.sqrt(float(tensor.square().mean()))


def _gain_is_one(module: nn.Module) -> bool:
    weight: Any = getattr(module, "weight", None)
    bias: Any = getattr(module, "bias", None)
    return (
        isinstance(weight, Tensor)
        and bool((weight == 1).all())
        and (not isinstance(bias, Tensor) or not bool(bias.any()))
    )


def unmixed(patient: Patient) -> Result:
    """`unmixed(patient)`: a norm treats each place by itself."""
    if not patient.can_change or patient.places < 2:
        return "not tried", []
    base = patient.base[1].numbered()
    trace = patient.one_changed[patient.calling.ids, 0][1].numbered()
    looked = 0
    for key, call in base.items():
        twin = trace.get(key)
        if twin is None or not copies.is_norm(call.module):
            continue
        looked += 1
        for entered, other, left, right in zip(
            call.inputs, twin.inputs, call.outputs, twin.outputs, strict=False
        ):
            before = changed_places(entered, other, patient.places, 0, patient.rows, 0.0)
            after = changed_places(left, right, patient.places, 0, patient.rows, patient.tolerance)
            if before is not None and after is not None and bool((after & ~before).any()):
                return "places are mixed", [
                    Finding("network", call.name, "one place changes, and what others get does, too",
                            "It should treat each place by itself: an axis is taken for another.",
                            sections.NORM)
                ]  # fmt: skip
    return f"{looked} norms treat each place by itself", []
