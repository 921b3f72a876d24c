"""Which weights get a gradient, and which parts of them."""

from typing import TypeAlias

import torch
from torch import Tensor, nn

from checkup import sections
from checkup.inside.parameters import vocabularies
from checkup.looks import Looks
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import traced

Result: TypeAlias = tuple[str, list[Finding]]


def gradients(patient: Patient) -> Result:
    """`gradients(patient)`: every weight gets a gradient that is not all zero, and no part is left out."""
    model = patient.exact  # no copy: beside its gradients that would be the most memory of all tests
    frozen = [name for name, weight in patient.model.named_parameters() if not weight.requires_grad]
    required = [(weight, weight.requires_grad) for weight in model.parameters()]
    try:
        model.requires_grad_(True)
        return _looked_at(patient, model, frozen)
    finally:
        for weight, before in required:
            weight.requires_grad_(before)
            weight.grad = None


def _looked_at(patient: Patient, model: nn.Module, frozen: list[str]) -> Result:
    inputs = patient.in_precision_of(model, patient.slots)
    with torch.enable_grad(), patient.precision(), traced(model) as trace, Looks(trace) as looks:
        logits = patient.calling.logits(model, inputs)
    source = torch.Generator().manual_seed(0)
    direction = torch.randn(logits.shape, generator=source, dtype=torch.float64)
    if not logits.requires_grad:
        return "no gradient at all", [
            Finding("parameters", "", "the logits depend on no weight, as autograd sees it",
                    "Something is detached, or computed under no_grad.", sections.CHANGED)
        ]  # fmt: skip
    (logits * direction.to(logits)).sum().backward()  # type: ignore[no-untyped-call]
    sizes = {
        name: 0.0 if weight.grad is None else float(weight.grad.abs().max())
        for name, weight in model.named_parameters()
    }
    least = 1e-9 * sorted(sizes.values())[len(sizes) // 2]
    silent = [
        name for name, weight in model.named_parameters()
        if name not in frozen
        # Of the keys' bias the gradient is 0 but for rounding: a softmax does not see it.
        and (sizes[name] == 0 or (weight.dim() > 1 and sizes[name] < least))
    ]  # fmt: skip
    findings = _silent(patient, silent) or _thrown_away(looks)
    if not findings:
        findings = _parts(model, looks, patient, least)
    findings += _frozen(patient, frozen)
    return f"{sum(map(bool, sizes.values()))} of {len(sizes)} weights get a gradient", findings


def _silent(patient: Patient, silent: list[str]) -> list[Finding]:
    if not silent:
        return []
    many = f" and {len(silent) - 1} more" if len(silent) > 1 else ""
    return [
        Finding("parameters", _whole(patient, silent), f"{silent[0]}{many} get no gradient",
                "What it does never reaches the logits: it is not used, its result is thrown away, or a "
                "gradient is cut.", sections.CHANGED)
    ]  # fmt: skip


def _thrown_away(looks: Looks) -> list[Finding]:
    # Weights may be computed a second time, to be shown.
    used = {where for where, tensor in looks.live if tensor.grad is not None and bool(tensor.grad.any())}
    for where, _ in looks.live:
        if where not in used:
            return [
                Finding("parameters", where, "what this attention finds gets no gradient",
                        "It is computed, and thrown away or detached.", sections.CHANGED)
            ]  # fmt: skip
    return []


def _whole(patient: Patient, silent: list[str]) -> str:
    """The largest layer with the first of these weights in which all are silent."""
    names = [name for name, _ in patient.model.named_parameters()]
    where = silent[0].rpartition(".")[0]
    while "." in where:
        parent = where.rpartition(".")[0]
        if not all(name in silent for name in names if name.startswith(f"{parent}.")):
            break
        where = parent
    return where


def _parts(model: nn.Module, looks: Looks, patient: Patient, least: float) -> list[Finding]:
    """Rows of a matrix, side by side, that get no gradient: keys, values or heads that are not used."""
    for name, weight in model.named_parameters():
        if weight.dim() != 2 or weight.grad is None or id(weight) in looks.looked_up or min(weight.shape) < 4:
            continue
        if weight.shape[0] in vocabularies(patient):
            continue
        for axis, what in ((1, "rows"), (0, "columns")):
            silent = weight.grad.abs().amax(axis) <= least
            run = _longest_run(silent.tolist())
            if 4 * run >= len(silent) and run >= 4 and not bool(silent.all()):
                return [
                    Finding("parameters", name.rpartition(".")[0], f"{run} {what} side by side of "
                            f"{len(silent)} in {name} get no gradient",
                            "Of what lies side by side in this matrix (queries, keys, values, heads) a "
                            "part is not used.", sections.ROLES)
                ]  # fmt: skip
    return []


def _longest_run(flags: list[bool]) -> int:
    longest = now = 0
    for flag in flags:
        now = now + 1 if flag else 0
        longest = max(longest, now)
    return longest


def _frozen(patient: Patient, frozen: list[str]) -> list[Finding]:
    weights = dict(patient.model.named_parameters())
    tables = {id(m.weight) for m in patient.model.modules() if isinstance(m, nn.Embedding)}
    meant = [name for name in frozen if id(weights[name]) not in tables]
    if not meant or 2 * sum(weights[name].numel() for name in frozen) > sum(
        map(Tensor.numel, weights.values())
    ):
        return []  # none, or most of it, as where little is learned on top of much that is kept
    return [
        Finding("parameters", meant[0].rpartition(".")[0], f"{', '.join(meant[:3])} do not require a "
                "gradient", "They stay as they were drawn.", sections.CHANGED, "doubtful")
    ]  # fmt: skip
