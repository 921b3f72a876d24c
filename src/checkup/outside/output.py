"""What comes out: logits, that is, any numbers; no probabilities, and not the same for everything."""

from typing import TypeAlias

import torch

from checkup import sections
from checkup.patient import Patient
from checkup.report import Finding

Result: TypeAlias = tuple[str, list[Finding]]
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
    # Of log-probabilities cross-entropy makes what it makes of logits: some models give them on purpose.
    what = "logits"
    if patient.classes > 1 and bool(((given.exp().sum(-1) - 1).abs() < 1e-4).all()):
        what = "logarithms of probabilities"
    return f"{what} {tuple(given.shape)}, from {float(given.min()):.3g} to {float(given.max()):.3g}", []


def spread(patient: Patient) -> Result:
    """`spread(patient)` tells how far logits spread, and finds those that are the same everywhere."""
    given = patient.base[0]
    if patient.kind == "classifies" or patient.places < 3:
        return f"a standard deviation of {float(given.std()):.3g}", []
    if bool(torch.equal(given[:, 1:], given[:, :-1])):
        return "all places say the same", [
            Finding("output", "", "all places have the same logits, though their ids differ",
                    "What stands at a place is averaged away.", sections.SIGHT)
        ]  # fmt: skip
    return f"a standard deviation of {float(given.std()):.3g}", []
