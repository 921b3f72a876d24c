"""The cheap tests of the page, and what each calls a finding."""

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.transformer import SelfAttention
from chapters.the_repair_shop.patients import FILLER, LETTERS, Patient, blocks
from checkup import checkup

PLACE = 16


@torch.no_grad()
def first_loss(patient: Patient, ids: Tensor) -> float:
    """`first_loss(patient, rows(8))` is its loss, in eval mode."""
    patient.model.eval()
    return float(patient.loss(patient.model, ids))


@torch.no_grad()
def restless(model: nn.Module, ids: Tensor) -> float:
    """`restless(model, ids)` is by how much two runs differ, in eval mode."""
    model.eval()
    return float((model(ids) - model(ids)).abs().max())


@torch.no_grad()
def leak(model: nn.Module, ids: Tensor, place: int = PLACE) -> float:
    """`leak(model, ids)` is by how much logits before a place move when all ids from there on change."""
    changed = ids.clone()
    changed[:, place:] = (ids[:, place:] + 1) % len(LETTERS)
    return float((model(changed) - model(ids))[:, :place].abs().max())


@torch.no_grad()
def shuffled(model: nn.Module, ids: Tensor) -> float:
    """`shuffled(model, ids)` is by how much the last logits move when all ids before are turned around."""
    turned = torch.cat([ids[:, :-1].flip(1), ids[:, -1:]], dim=1)
    return float((model(turned) - model(ids))[:, -1].abs().max())


@torch.no_grad()
def one_word(model: nn.Module, ids: Tensor) -> float:
    """`one_word(model, ids)` is by how much places differ where all ids are the same."""
    logits = model(ids[:1, :1].expand(1, ids.shape[1]))  # (1, T, V)
    return float((logits - logits[:, :1]).abs().max())


@torch.no_grad()
def filler_moves(patient: Patient, ids: Tensor) -> float:
    """`filler_moves(patient, rows(8))` is by how much the loss moves when filler is added."""
    patient.model.eval()
    short = ids[:, :21]
    longer = F.pad(short, (0, 8), value=FILLER)
    return abs(float(patient.loss(patient.model, longer) - patient.loss(patient.model, short)))


def by_heart(patient: Patient, ids: Tensor, updates: int = 60) -> float:
    """`by_heart(patient, rows(8))` trains it on two rows, and is the loss of these in the end."""
    optimizer = patient.optimizer()
    patient.model.train()
    for _ in range(updates):
        optimizer.zero_grad()
        patient.loss(patient.model, ids[:2]).backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    return first_loss(patient, ids[:2])


def gradients(patient: Patient, ids: Tensor) -> list[float]:
    """`gradients(patient, rows(8))` has for each block the size of its gradient."""
    patient.model.eval().zero_grad()
    patient.loss(patient.model, ids).backward()  # type: ignore[no-untyped-call]
    return [
        math.sqrt(
            sum(float(weight.grad.square().sum()) for weight in block.parameters() if weight.grad is not None)
        )
        for block in blocks(patient.model)
    ]


def updates(patient: Patient, ids: Tensor) -> list[float]:
    """`updates(patient, rows(8))` makes one update: how large it is, by block, as a share of weights."""
    before = [
        [w.detach().clone() for w in block.parameters() if w.dim() == 2] for block in blocks(patient.model)
    ]
    optimizer = patient.optimizer()
    patient.model.eval().zero_grad()
    patient.loss(patient.model, ids).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    sizes = []
    for block, old in zip(blocks(patient.model), before, strict=True):
        now = [w.detach() for w in block.parameters() if w.dim() == 2]
        sizes.append(max(float((n - o).norm() / o.norm()) for n, o in zip(now, old, strict=True)))
    return sizes


@torch.no_grad()
def entropies(model: nn.Module, ids: Tensor) -> list[float]:
    """`entropies(model, ids)` are the bits of the last query's weights, by block, the mean over heads."""
    found: list[float] = []

    def note(attention: SelfAttention, inputs: tuple[Tensor, ...]) -> None:
        parts = attention.project(inputs[0]).unflatten(-1, (3, attention.heads, -1))
        query, key, _ = parts.permute(2, 0, 3, 1, 4)  # (B, heads, T, d_k) each
        weights = (query[:, :, -1:] @ key.mT / query.shape[-1] ** 0.5).softmax(-1)
        found.append(float(torch.special.entr(weights).sum(-1).mean()) / math.log(2))

    hooks = [block.attention.register_forward_pre_hook(note) for block in blocks(model)]
    try:
        model(ids)
    finally:
        for hook in hooks:
            hook.remove()
    return found


@torch.no_grad()
def dead(model: nn.Module, ids: Tensor) -> list[float]:
    """`dead(model, ids)` is, by block, the share of units that stay below 0.01 at all places."""
    found: list[float] = []

    def note(_: nn.Module, __: tuple[Tensor, ...], wide: Tensor) -> None:
        found.append(float((F.gelu(wide).abs().amax((0, 1)) < 0.01).float().mean()))

    hooks = [block.widen.register_forward_hook(note) for block in blocks(model)]
    try:
        model(ids)
    finally:
        for hook in hooks:
            hook.remove()
    return found


@torch.no_grad()
def in_half(model: nn.Module, ids: Tensor) -> float:
    """`in_half(model, ids)` is by how much logits move in half precision, as a share of their spread."""
    model.eval()
    logits = model(ids)
    try:
        halved = copy.deepcopy(model).half()(ids).float()
    except RuntimeError:
        return math.inf
    share = float((halved - logits).abs().max() / logits.std())
    return share if math.isfinite(share) else math.inf


def tool_finds(patient: Patient, ids: Tensor) -> bool:
    """`tool_finds(patient, rows(8))` is whether `checkup` does, given the loss and some filler, too."""
    batch = ids[:, :-1].clone()
    batch[0, -8:] = FILLER
    report = checkup(patient.model, batch, loss=patient.loss, padding=FILLER, seconds=60)
    return bool(report.findings)


# Whether a test finds something in a fresh patient. The bounds lie between what five healthy models give and
# what the faults give that it is meant for. Attention to 32 places has 5 bits at most.
FINDS: dict[str, Callable[[Patient, Tensor], bool]] = {
    "first loss": lambda patient, ids: abs(first_loss(patient, ids) - math.log(len(LETTERS))) > 0.5,
    "two runs": lambda patient, ids: restless(patient.model, ids[:, :-1]) > 1e-5,
    "future": lambda patient, ids: leak(patient.model.eval(), ids[:, :-1]) > 1e-5,
    "shuffle": lambda patient, ids: shuffled(patient.model.eval(), ids[:, :-1]) < 1e-4,
    "one word": lambda patient, ids: one_word(patient.model.eval(), ids[:, :-1]) < 1e-4,
    "filler": lambda patient, ids: filler_moves(patient, ids) > 1e-5,
    "by heart": lambda patient, ids: not by_heart(patient, ids) < 0.25 * math.log(len(LETTERS)),
    "gradient": lambda patient, ids: min(gradients(patient, ids)) < 1e-3 * max(gradients(patient, ids)),
    "updates": lambda patient, ids: not all(1e-4 < size < 0.5 for size in updates(patient, ids)),
    "entropy": lambda patient, ids: min(entropies(patient.model.eval(), ids[:, :-1]), default=5) < 2.5,
    "dead units": lambda patient, ids: max(dead(patient.model.eval(), ids[:, :-1]), default=0) > 0.5,
    "half": lambda patient, ids: in_half(patient.model, ids[:, :-1]) > 0.03,
}
