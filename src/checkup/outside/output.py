"""What comes out: logits, that is, any numbers; no probabilities, and not the same for everything."""

import math
from typing import TypeAlias

import torch

from checkup import sections
from checkup.patient import Patient
from checkup.report import Finding

Result: TypeAlias = tuple[str, list[Finding]]
LARGE = 1024
TWICE = "Cross-entropy makes the softmax itself: of probabilities its gradient is flat. Return the scores."


def logits(patient: Patient) -> Result:
    """`logits(patient)`: what comes out is neither probabilities nor their logarithms, nor cut off at 0."""
    given = patient.base[0].double()
    last = patient.base[1].calls[-2].name if len(patient.base[1].calls) > 1 else ""
    sums = given.sum(-1)
    if patient.classes > 1 and bool((given >= 0).all()) and bool(((sums - 1).abs() < 1e-4).all()):
        return "they are probabilities", [
            Finding("output", "", "all numbers lie above 0 and sum to 1: they are probabilities", TWICE,
                    sections.SOFTMAX)
        ]  # fmt: skip
    if bool((given >= 0).all()) and float((given == 0).double().mean()) > 0.2:
        return "none is below 0", [
            Finding("output", last, "no logit is below 0, and many are exactly 0",
                    "An activation stands behind the last matrix: what is unlikely can't be said.",
                    sections.NETWORK)
        ]  # fmt: skip
    if patient.classes > 1 and bool((given - given[..., :1]).abs().max() < 1e-12):
        return "all are equal", [
            Finding("output", last, "all logits of a place are equal", "Nothing is told.", sections.WEIGHTS)
        ]  # fmt: skip
    axes = [axis for axis in range(given.dim() - 1) if given.shape[axis] > 2]
    for axis in axes:
        if bool(((given.exp().sum(axis) - 1).abs() < 1e-4).all()) or (
            bool((given >= 0).all()) and bool(((given.sum(axis) - 1).abs() < 1e-4).all())
        ):
            return "they sum to 1 over another axis", [
                Finding("output", "", f"over axis {axis} they sum to 1: a softmax over places or rows",
                        TWICE, sections.SOFTMAX)
            ]  # fmt: skip
    found = _narrow(patient, last) + _beyond(patient)
    if found:
        return "not all ids can be said, or none for sure", found
    # Of log-probabilities cross-entropy makes what it makes of logits: some models give them on purpose.
    what = "logits"
    if patient.classes > 1 and bool(((given.exp().sum(-1) - 1).abs() < 1e-4).all()):
        what = "logarithms of probabilities"
    return f"{what} {tuple(given.shape)}, from {float(given.min()):.3g} to {float(given.max()):.3g}", []


def _narrow(patient: Patient, last: str) -> list[Finding]:
    """Tables and matrices of ids made a thousand times as large must let the model be sure of one."""
    base, classes = patient.base[0], patient.classes
    weights = [
        weight
        for weight in patient.exact.parameters()
        if weight.dim() > 1 and classes in weight.shape and weight.is_floating_point()
    ]
    # Numbers between 0 and 1 may be one probability for each class.
    several = patient.kind == "classifies" and bool(((base >= 0) & (base <= 1)).all())
    if classes < 3 or several or not weights:
        return []
    with torch.no_grad():
        try:
            for weight in weights:
                weight.mul_(LARGE)
            large = patient.run(patient.slots)[0]
        finally:
            for weight in weights:
                weight.div_(LARGE)  # a power of two: that gives back what was there, to the last bit
    widest = float((large.amax(-1) - large.amin(-1)).max())
    surest = 1 / (1 + (classes - 1) * math.exp(-widest)) if math.isfinite(widest) else 1.0
    if surest > 0.9:
        return []
    return [
        Finding("output", last, f"with all matrices of ids times {LARGE}, logits lie within {widest:.3g} of "
                f"each other: no id ever gets more than {surest:.0%}", "Something bounds them: a tanh or a "
                "softmax behind the last matrix, or vectors of length 1 without a scale.", sections.SOFTMAX)
    ]  # fmt: skip


def _beyond(patient: Patient) -> list[Finding]:
    """What was written must be among what can be written."""
    ids = patient.calling.slots()[patient.calling.ids][:, 1:]  # the first may only open a text
    beyond = ids[(ids >= patient.classes) & (ids != (-1 if patient.padding is None else patient.padding))]
    # Where most are, something else is predicted than ids.
    if patient.kind != "writes" or not 0 < len(beyond) < ids.numel() / 2:
        return []
    return [
        Finding("output", "", f"the batch has id {int(beyond.max())}, and there are {patient.classes} logits",
                "It can be read, and never be predicted: the last matrix has another width than the words "
                "are many.", sections.START, "doubtful")
    ]  # fmt: skip


def spread(patient: Patient) -> Result:
    """`spread(patient)` tells how far logits spread, and finds those that are the same everywhere."""
    given = patient.base[0]
    if patient.kind == "classifies" or patient.places < 3:
        return f"a standard deviation of {float(given.std()):.3g}", []
    if bool((given - given[:, :1]).abs().max() <= patient.tolerance * given.abs().max()):
        return "all places say the same", [
            Finding("output", "", "all places have the same logits, though their ids differ",
                    "What stands at a place is averaged away.", sections.SIGHT)
        ]  # fmt: skip
    return f"a standard deviation of {float(given.std()):.3g}", []
