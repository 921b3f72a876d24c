"""What `check_repaired_parts` asks with, and a gradient in parts that can be mistaken."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.mistakes import Part

WORDS, WIDTH = 7, 4


def reader(seed: int) -> nn.Module:
    """`reader(1)(ids)` are logits (B, T, 7), of float64, in which sums in any order agree."""
    table = nn.Embedding(WORDS, WIDTH, dtype=torch.float64, device="meta").to_empty(device="cpu")
    word = nn.Linear(WIDTH, WORDS, dtype=torch.float64, device="meta").to_empty(device="cpu")
    source = torch.Generator("cpu").manual_seed(seed)
    with torch.no_grad():
        for weight in (*table.parameters(), *word.parameters()):
            weight.copy_(torch.randn(weight.shape, generator=source, device="cpu"))
    return nn.Sequential(table, word)


def rows(seed: int, lengths: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """`ids, targets, kept = rows(1, [3, 1])`: (2, 3) each, the second filled up with 0."""
    source = torch.Generator("cpu").manual_seed(seed)
    kept = torch.arange(max(lengths), device="cpu") < torch.tensor(lengths, device="cpu")[:, None]
    ids, targets = torch.randint(1, WORDS, (2, *kept.shape), generator=source, device="cpu") * kept
    return ids, targets, kept


def answered(
    work: Callable[..., Any], model: nn.Module, ids: Tensor, targets: Tensor, kept: Tensor, parts: int
) -> tuple[Any, Tensor, int]:
    """`answered(my_step, model, …)` is the loss, the gradient, and whether the rows came in parts."""
    for weight in model.parameters():
        weight.grad = torch.ones_like(weight)  # of the batch before
    most = 0

    def count(_: nn.Module, inputs: tuple[Tensor, ...]) -> None:
        nonlocal most
        most = max(most, len(inputs[0]))

    hook = model.register_forward_pre_hook(count)
    try:
        loss = returned(work(model, ids, targets, kept, parts))
    finally:
        hook.remove()
    gradients = [weight.grad for weight in model.parameters()]
    if any(each is None for each in gradients):
        raise WrongTypeError("It leaves no gradient in `.grad`. Is there a `backward()`?")
    gradient = torch.cat([each.flatten() for each in gradients if each is not None])
    return loss, gradient, int(most <= math.ceil(len(ids) / parts))


def gradient_in_parts(
    model: nn.Module,
    ids: Tensor,
    targets: Tensor,
    kept: Tensor,
    parts: int,
    *,
    counted: Part = lambda each, kept: each[kept],
    share: Part = lambda piece: piece.losses.sum() / piece.of_all,
    clear: Part = lambda model, first: model.zero_grad() if first else None,
    told: Part = lambda total, losses, model: total,
    cut: Part = lambda tensor, parts: tensor.chunk(parts),
) -> float:
    """`gradient_in_parts(model, ids, targets, kept, parts)` leaves the gradient of the whole batch's mean."""
    total, losses = 0.0, []
    pieces = zip(*(cut(each, parts) for each in (ids, targets, kept)), strict=True)
    for number, (some, wanted, these) in enumerate(pieces):
        clear(model, number == 0)
        each = F.cross_entropy(model(some).mT, wanted, reduction="none")  # (rows, T)
        piece = SimpleNamespace(
            losses=counted(each, these),
            parts=parts,
            of_all=kept.sum(),
            row_share=len(some) / len(ids),
            places=kept.numel(),
            rows=len(ids),
        )
        loss = share(piece)
        loss.backward()
        total += loss.item()
        losses.append(loss.item())
    return told(total, losses, model)  # type: ignore[no-any-return]
