"""The same model twice: not training it must be one function; training it differs by dropout alone."""

from typing import TypeAlias

import torch
from torch import Tensor, nn

from checkup import copies, sections
from checkup.looks import Looks
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import Trace, differ, first_to_differ, traced

Result: TypeAlias = tuple[str, list[Finding]]


def twice(patient: Patient) -> Result:
    """`twice(patient)`: not training, two runs of one batch must be equal."""
    (one, first), (other, second) = patient.base, patient.run(patient.slots, seed=1)
    if _equal(one, other):
        return "two runs are equal", []
    where = first_to_differ(first, second, _unlike) or ""
    return "two runs differ", [
        Finding("evaluation", where, "in eval mode, two runs of the same batch differ",
                "Dropout that does not ask whether the model trains, or a state that is kept from call "
                "to call.", sections.DROPOUT)
    ]  # fmt: skip


def training(patient: Patient) -> Result:
    """`training(patient)`: without dropout, training changes nothing; with it, dropout must do something."""
    model = copies.copied(patient.exact).train()
    shares = {
        name: module.p
        for name, module in model.named_modules()
        if isinstance(module, nn.modules.dropout._DropoutNd)
    }
    inputs = patient.in_precision_of(model, patient.slots)
    with torch.no_grad(), patient.precision(), traced(model) as trace, Looks(trace) as looks:
        torch.manual_seed(0)
        try:
            logits = patient.calling.logits(model, inputs)
        except (RuntimeError, ValueError, TypeError) as error:
            return "it does not run while training", [
                Finding("evaluation", getattr(error, "layer", ""), "in training mode it raises "
                        f"{type(error).__name__}: {(str(error).splitlines() or [''])[0][:120]}",
                        "It can't be trained.", sections.DROPOUT)
            ]  # fmt: skip
    dropped = [(where, share) for where, share in looks.dropped if share > 0]
    findings = _too_much(shares, dropped)
    if findings:
        return "dropout is odd", findings
    # A recurrent layer of PyTorch drops inside, by a number of its own.
    inside = [module for module in model.modules() if isinstance(getattr(module, "dropout", None), float)]
    if dropped or any(share > 0 for share in shares.values()) or any(one.dropout for one in inside):
        told = f"dropout at {len(dropped)} places"
        zeros = float((logits == 0).double().mean()) - float((patient.base[0] == 0).double().mean())
        if dropped and zeros > 0.02:
            return told, [
                Finding("evaluation", dropped[-1][0], f"{zeros:.0%} of the logits are exactly 0 while "
                        "training", "Dropout stands behind the last matrix: right ids are taken away.",
                        sections.DROPOUT)
            ]  # fmt: skip
        return told, _no_dropout(shares, dropped, trace)
    if _equal(patient.base[0], logits):
        return "no dropout: training changes nothing", []
    where = first_to_differ(patient.base[1], trace, _unlike) or ""
    return "training differs", [
        Finding("evaluation", where, "without any dropout, it says something else while training",
                "Numbers of the batch are used while training, and others afterwards.", sections.NORM,
                "doubtful")
    ]  # fmt: skip


def _too_much(shares: dict[str, float], dropped: list[tuple[str, float]]) -> list[Finding]:
    for where, share in [*shares.items(), *dropped]:
        if share > 0.65:
            return [
                Finding("evaluation", where, f"dropout takes away {share:.0%}",
                        "The share that is dropped, not the one that is kept, is what it wants.",
                        sections.DROPOUT)
            ]  # fmt: skip
    return []


def _no_dropout(shares: dict[str, float], dropped: list[tuple[str, float]], trace: Trace) -> list[Finding]:
    called = {call.name for call in trace.calls}
    # Of some only the share is read, by the layer that they are part of.
    at_work = {where for where, _ in dropped} | {where.rpartition(".")[0] for where, _ in dropped}
    unused = [
        name
        for name, share in shares.items()
        if share > 0 and name not in called and name.rpartition(".")[0] not in at_work
    ]
    if not unused:
        return []
    return [
        Finding("evaluation", unused[0], f"this dropout of {shares[unused[0]]:g} is never called",
                "It was meant to be used, and is not.", sections.DROPOUT, "doubtful")
    ]  # fmt: skip


def _unlike(one: Tensor, other: Tensor) -> bool:
    return one.shape != other.shape or bool(differ(one, other, 1e-9).any())


def _equal(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and not _unlike(one, other)
