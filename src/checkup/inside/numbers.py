"""Precision: where the first NaN or infinity comes from, and whether the model runs in half precision."""

from typing import TypeAlias

import torch

from checkup import copies, sections
from checkup.patient import Patient
from checkup.report import Finding, Severity
from checkup.trace import first_bad

Result: TypeAlias = tuple[str, list[Finding]]
EMPTY = "Often a softmax over no key at all, a division by 0, or the root of a number below 0."


def finite(patient: Patient) -> Result:
    """`finite(patient)`: in float32 no logit is NaN or infinite."""
    logits, trace = patient.run(patient.slots, patient.plain)
    if bool(logits.isfinite().all()):
        if patient.finite:
            return "all logits are finite", []
        logits, trace = patient.run(patient.calling.slots(), patient.plain)  # as with the filler that it has
    if bool(logits.isfinite().all()):
        return "in its own precision only some are NaN or infinite", []
    return "NaN or infinity", [
        Finding("numbers", first_bad(trace), f"{int((~logits.isfinite()).sum())} of {logits.numel()} "
                "logits are NaN or infinite, and this layer is the first that gives such a number", EMPTY,
                sections.HIDDEN_SCORE)
    ]  # fmt: skip


def half(patient: Patient) -> Result:
    """`half(patient)`: bfloat16 and float16 give what float32 gives, more coarsely, and no NaN.

    Where the model's own tables stay float32 it may run under autocast only: that is told, and no fault.
    """
    wanted, _ = patient.run(patient.slots, patient.plain)
    told: list[str] = []
    for dtype in (torch.bfloat16, torch.float16):
        name = str(dtype).removeprefix("torch.")
        # Plain tensors stay, as for whoever does it.
        model = copies.converted(copies.copied(patient.model).eval(), dtype)
        try:
            logits, trace = patient.run(patient.slots, model)
        except (RuntimeError, ValueError, TypeError) as error:
            words = (str(error).splitlines() or [""])[0]
            if "not implemented for" in words:  # this processor can't, whatever the model
                told.append(f"{name} can't be tried here")
                continue
            if _runs_under_autocast(patient, dtype):
                told.append(f"{name} is fine under autocast only")
                continue
            where = getattr(error, "layer", "")
            if "without overflow" in words:  # as -1e9 where a score is hidden, which most tutorials write
                return f"{name}: a number too large", [
                    Finding("numbers", where, f"in {name} a number that it writes down is too large",
                            "It runs in float32 and bfloat16 only: hide scores with -inf, or with the "
                            "least number of their own dtype.", sections.HIDDEN_SCORE, "doubtful")
                ]  # fmt: skip
            return f"{name}: an error", [
                Finding("numbers", where, f"in {name} it raises {type(error).__name__}: {words[:140]}",
                        "Two precisions meet: cast back what was computed in float32.",
                        sections.HIDDEN_SCORE)
            ]  # fmt: skip
        if not bool(logits.isfinite().all()) and float(wanted.abs().max()) < 1e4:
            only_here = dtype == torch.float16 and next(patient.model.parameters()).dtype != dtype
            severity: Severity = "doubtful" if only_here else "wrong"
            return f"{name}: NaN or infinity", [
                Finding("numbers", first_bad(trace), f"in {name} it gives NaN or infinity, and in "
                        "float32 it does not", "A number is too large for this precision.",
                        sections.HIDDEN_SCORE, severity)
            ]  # fmt: skip
        told.append(f"{name} is fine")
    return ", ".join(told), []


def _runs_under_autocast(patient: Patient, dtype: torch.dtype) -> bool:
    """A float32 model of which autocast lowers what can be lowered: how most are trained."""
    device = next(patient.plain.parameters()).device.type
    try:
        with torch.autocast(device, dtype=dtype):
            logits, _ = patient.run(patient.slots, patient.plain)
    except (RuntimeError, ValueError, TypeError):
        return False
    return bool(logits.isfinite().all())
