"""The first loss, and one batch by heart."""

import math
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from checkup import copies, sections
from checkup.calling import Slots
from checkup.patient import Patient
from checkup.report import Finding

Result: TypeAlias = tuple[str, list[Finding]]
STEPS, RATES = 40, (1e-2, 3e-2, 2e-3)
SOME = 4  # steps are taken in any case: a gradient may first have to get through what starts at zero
LARGE = 10**6  # weights, from which on small steps are tried first
ENOUGH = 0.5  # of the first loss: what has fallen that far does learn


def first_loss(patient: Patient) -> Result:
    """`first_loss(patient)`: a model that has learned nothing spreads its bets: the loss is ln V."""
    if patient.kind == "classifies" and patient.classes < 2:
        return "not asked: one number comes out", []
    with torch.no_grad():
        logits = patient.run(patient.slots, patient.plain)[0]
    wanted = math.log(patient.classes)
    source = torch.Generator().manual_seed(1)
    targets = torch.randint(patient.classes, logits.shape[:-1], generator=source).to(logits.device)
    # Against ids that are drawn blindly: whatever the model has learned, they can't be predicted.
    loss = float(F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten()))
    told = f"{loss:.2f} against ids drawn blindly; ln {patient.classes} is {wanted:.2f}"
    if not copies.is_untrained(patient.model):
        return told, []
    if loss > wanted + max(1.5, 0.5 * wanted):
        name, size = _largest(patient)
        return told, [
            Finding("start", name, f"the first loss is {loss:.2f}, and ln {patient.classes} is "
                    f"{wanted:.2f}", "It is sure before it has learned anything: weights start too "
                    f"large (the largest here have a spread of {size:.2g}).", sections.DEEP)
        ]  # fmt: skip
    return told, []


def _largest(patient: Patient) -> tuple[str, float]:
    """The matrix with the largest spread for its width: it makes numbers larger by the most."""
    tables = [id(part.weight) for part in patient.model.modules() if isinstance(part, nn.Embedding)]
    spreads = {
        name: float(weight.detach().float().std() * math.sqrt(weight.shape[-1]))
        for name, weight in patient.model.named_parameters()
        if weight.dim() == 2 and weight.numel() > 1 and id(weight) not in tables
    }
    if not spreads:
        return "", 0.0
    name = max(spreads, key=spreads.__getitem__)
    usual = sorted(spreads.values())[len(spreads) // 2]
    return name.rpartition(".")[0] if spreads[name] > 3 * usual else "", spreads[name]


# ---- by heart ----


def by_heart(patient: Patient) -> Result:
    """`by_heart(patient)`: a few steps of Adam on one small batch must bring its loss far down."""
    slots = patient.slots
    targets = _targets(patient, slots)
    patient.forget()  # what takes much memory: this test comes last, and needs none of it
    best, start = math.inf, math.inf
    stuck: list[Finding] = []
    large = sum(weight.numel() for weight in patient.model.parameters()) > LARGE
    for rate in sorted(RATES) if large else RATES:
        model = copies.in_dtype(patient.model, torch.float32)
        model.requires_grad_(True)
        losses = _learn(patient, model, slots, targets, rate)
        start = losses[0]
        best = min(best, *losses)
        stuck = stuck or _stuck(patient.model, model)
        if best < ENOUGH * start:
            break
    told = f"the loss of one batch fell from {start:.3g} to {best:.3g} in at most {STEPS} steps"
    floor = _known_counts(targets)
    if start > 0.05 and best > 0.8 * start and best > 0.8 * floor:
        return told, [
            Finding("start", "", told, "A model that can't learn a dozen ids by heart does not learn: a "
                    "gradient is cut, numbers are out of range, or what is to be predicted is not seen.",
                    sections.LEARNS)
        ]  # fmt: skip
    return told, stuck


def _stuck(before: nn.Module, after: nn.Module) -> list[Finding]:
    """Weights of zeros that no step has moved, and parts that started alike and still get one gradient."""
    first = dict(before.named_parameters())
    for name, weight in after.named_parameters():
        start = first[name].detach()
        rows = start[0] if start.dim() > 2 and len(start) == 1 else start
        if not first[name].requires_grad or weight.grad is None or rows.dim() < 2 or len(rows) < 2:
            continue
        where = name.rpartition(".")[0]
        if not bool(start.any()) and not bool(weight.any()):
            return [
                Finding("start", where, f"{name} is all zeros, and stays so in training",
                        "Its gradient goes through what is zero, too: one of the two must not be.",
                        sections.WEIGHTS)
            ]  # fmt: skip
        gradient = weight.grad.view_as(rows)
        apart = (gradient - gradient[:1]).abs().max()
        if bool((rows == rows[:1]).all()) and bool(gradient.any()) and apart <= 1e-4 * gradient.abs().max():
            return [
                Finding("start", where, f"all {len(rows)} parts of {name} start alike, and stay so in "
                        "training", "What starts alike and gets the same gradient stays alike.",
                        sections.WEIGHTS)
            ]  # fmt: skip
    return []


def _targets(patient: Patient, slots: Slots) -> Tensor:
    ids = slots[patient.calling.ids]
    if patient.kind == "writes" and ids.shape[1] > 1:
        targets = torch.cat([ids[:, 1:], ids[:, :1]], dim=1)
        if patient.calling.all_ids() == [patient.calling.ids] or int(ids.max()) < patient.classes:
            return targets % patient.classes
    shape = (len(ids),) if patient.kind == "classifies" else tuple(ids.shape)
    source = torch.Generator().manual_seed(2)
    return torch.randint(max(patient.classes, 1), shape, generator=source).to(ids.device)


def _known_counts(targets: Tensor) -> float:
    """The loss of a model that knows only how often each id comes."""
    shares = targets.flatten().bincount().float()
    shares = shares[shares > 0] / shares.sum()
    return float(-(shares * shares.log()).sum())


def _learn(patient: Patient, model: nn.Module, slots: Slots, targets: Tensor, rate: float) -> list[float]:
    weights = [*model.parameters()]
    averages = [(torch.zeros_like(weight), torch.zeros_like(weight)) for weight in weights]
    inputs = patient.in_precision_of(model, slots)
    losses: list[float] = []
    for step in range(1, STEPS + 1):
        patient.ask_time()
        for weight in weights:
            weight.grad = None
        with torch.enable_grad():
            loss = _loss(patient.calling.logits(model, inputs), targets)
            if not loss.requires_grad:
                return [float(loss.detach())]
            loss.backward()  # type: ignore[no-untyped-call]
        if not losses or losses[-1] >= ENOUGH * losses[0]:
            losses.append(float(loss.detach()))
        done = losses[-1] < ENOUGH * losses[0] and step > SOME
        if not math.isfinite(losses[-1]) or done:
            break
        _adam(weights, averages, rate, step)
    return [loss for loss in losses if math.isfinite(loss)] or [math.inf]


@torch.no_grad()
def _adam(weights: list[nn.Parameter], averages: list[tuple[Tensor, Tensor]], rate: float, step: int) -> None:
    """torch.optim would first load PyTorch's compiler, which takes longer than all these tests together."""
    for weight, (mean, square) in zip(weights, averages, strict=True):
        if weight.grad is None:
            continue
        mean.lerp_(weight.grad, 0.1)
        square.mul_(0.999).addcmul_(weight.grad, weight.grad, value=0.001)
        size = square.div(1 - 0.999**step).sqrt_().add_(1e-8)
        weight.addcdiv_(mean, size, value=-rate / (1 - 0.9**step))


def _loss(logits: Tensor, targets: Tensor) -> Tensor:
    if logits.shape[-1] < 2:
        return (logits[..., 0] - targets.to(logits)).square().mean()
    return F.cross_entropy(logits.flatten(0, -2).float(), targets.flatten())


# ---- the user's own loss ----


def own_loss(patient: Patient) -> Result:
    """`own_loss(patient)` compares a loss that was given with the mean over all real next ids."""
    if patient.loss is None or patient.kind != "writes":
        return "none was given", []
    model, slots = patient.plain, patient.calling.slots()
    with torch.no_grad(), patient.precision(torch.float32):
        given = float(patient.loss(model, patient.calling.batch(slots)))
        logits = patient.calling.logits(model, slots).float()
    ids = slots[patient.calling.ids]
    right = _ways(logits, ids, patient.padding)
    wanted = right.pop("the mean over next ids")
    if _near(given, wanted):
        return f"{given:.4g}: the mean over next ids", []
    for what, (value, meaning, section) in _wrong(right).items():
        if _near(given, value):
            return f"{given:.4g}: {what}", [
                Finding("output", "", f"the loss is {given:.4g}: {what}; the mean over next ids is "
                        f"{wanted:.4g}", meaning, section)
            ]  # fmt: skip
    return f"{given:.4g}: neither the mean over next ids, {wanted:.4g}, nor a mistake that is known here", []


def _near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-4, abs_tol=1e-6)


def _ways(logits: Tensor, ids: Tensor, padding: int | None) -> dict[str, float]:
    real = torch.ones_like(ids, dtype=torch.bool) if padding is None else ids != padding

    def mean(predicted: Tensor, targets: Tensor, counted: Tensor | None = None) -> float:
        each = F.cross_entropy(predicted.transpose(1, 2), targets, reduction="none")  # (B, T)
        return float(each.mean() if counted is None else each[counted].mean())

    before, after, counted = logits[:, :-1], ids[:, 1:], real[:, 1:]
    each = F.cross_entropy(before.transpose(1, 2), after, reduction="none")
    rows = (each * counted).sum(1) / counted.sum(1).clamp(min=1)
    return {
        "the mean over next ids": mean(before, after, counted),
        "not shifted": mean(logits, ids, real),
        "not shifted, filler counted": mean(logits, ids),
        "not shifted, the last left out": mean(before, ids[:, :-1], real[:, :-1]),
        "shifted the wrong way": mean(logits[:, 1:], ids[:, :-1], real[:, :-1]),
        "filler counted": mean(before, after),
        "a mean of the rows' means": float(rows.mean()),
        "a sum": float(each[counted].sum()),
        "of probabilities": mean(before.softmax(-1), after, counted),
        "shifted by two": mean(logits[:, :-2], ids[:, 2:], real[:, 2:]),
    }


def _wrong(values: dict[str, float]) -> dict[str, tuple[float, str, str]]:
    shifted = (
        "Each place is asked for an id that it was given, or for another than the next.",
        sections.SHIFTED,
    )
    counted = "What fills up rows counts as if it were text, or short rows count more.", sections.MEANS
    twice = (
        "Cross-entropy takes logits, and makes the softmax itself, or the size grows with the batch.",
        sections.SOFTMAX,
    )
    told: dict[str, Any] = {}
    for what, value in values.items():
        why = shifted if "shifted" in what else counted if "filler" in what or "rows" in what else twice
        told[what] = (value, *why)
    return told
