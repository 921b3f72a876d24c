"""Repair a training step whose gradient depends on how many parts its batch is cut into."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

WORDS, WIDTH = 7, 4


def reader(seed: int) -> nn.Module:
    """`reader(1)(ids)` are logits (B, T, 7), of float64, in which sums in any order agree."""
    with torch.random.fork_rng(devices=[]):
        table = nn.Embedding(WORDS, WIDTH, dtype=torch.float64, device="cpu")
        word = nn.Linear(WIDTH, WORDS, dtype=torch.float64, device="cpu")
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
    most = graphs = 0
    waiting: set[object] = set()  # calls on words that no gradient has come back to

    def count(_: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        nonlocal most, graphs
        most = max(most, len(inputs[0]))
        if inputs[0].any() and output.requires_grad:
            call = object()
            waiting.add(call)
            output.register_hook(lambda _: waiting.discard(call))  # type: ignore[no-untyped-call]
        graphs = max(graphs, len(waiting))

    hook = model.register_forward_hook(count)
    try:
        loss = returned(work(model, ids, targets, kept, parts))
    finally:
        hook.remove()
    gradients = [weight.grad for weight in model.parameters()]
    if any(each is None for each in gradients):
        raise WrongTypeError("It leaves no gradient in `.grad`. Is there a `backward()`?")
    gradient = torch.cat([each.flatten() for each in gradients if each is not None])
    return loss, gradient, 2 if graphs > 1 else int(most <= math.ceil(len(ids) / parts))


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


def _one_backward(model: nn.Module, ids: Tensor, targets: Tensor, kept: Tensor, parts: int) -> float:
    model.zero_grad()
    pieces = zip(*(each.chunk(parts) for each in (ids, targets, kept)), strict=True)
    losses = [F.cross_entropy(model(some).mT, wanted, reduction="none")[its] for some, wanted, its in pieces]
    loss = torch.cat(losses).mean()
    loss.backward()  # type: ignore[no-untyped-call]
    return loss.item()


def _in_every_part(model: nn.Module, first: bool) -> None:
    model.zero_grad()


def _all_at_once(tensor: Tensor, parts: int) -> tuple[Tensor, ...]:
    return (tensor,)


MISTAKES: Mistakes = in_parts(
    gradient_in_parts,
    share={
        "still broken": (
            "The fault that it came with is still there: each part's mean counts alike, however few words it "
            "has. What is the mean of the *whole* batch divided by?",
            lambda piece: piece.losses.mean() / piece.parts,
        ),
        "empty parts left out": (
            "A part without words is no longer NaN, but the others' means still count alike. Count words, "
            "not parts.",
            lambda piece: piece.losses.sum() / max(1, len(piece.losses)) / piece.parts,
        ),
        "shared by rows": (
            "Each part counts by its rows. Rows are of different lengths: count the words in them that are "
            "kept.",
            lambda piece: piece.losses.sum() / max(1, len(piece.losses)) * piece.row_share,
        ),
        "shared by rows, with NaN": (
            "Each part counts by its rows, and a part without words is 0 / 0. Count the words that are kept, "
            "and take sums, which can be empty.",
            lambda piece: piece.losses.mean() * piece.row_share,
        ),
        "0 / 0": (
            "Right, but for a part in which nothing is kept: its mean is 0 / 0, and 0 times NaN is NaN. Take "
            "its sum, which is 0, and divide by the words of the whole batch.",
            lambda piece: piece.losses.mean() * len(piece.losses) / piece.of_all,
        ),
        "means added up": (
            "The parts' means are added up and no longer divided: too large, and they still count alike.",
            lambda piece: piece.losses.sum() / max(1, len(piece.losses)),
        ),
        "sum over all words": (
            "This is the gradient of the *sum* over all words. What is left is to divide by their number.",
            lambda piece: piece.losses.sum(),
        ),
        "divided by all places": (
            "The sum is divided by all places, the filled-up ones, too. Divide by the words that are kept.",
            lambda piece: piece.losses.sum() / piece.places,
        ),
        "divided by the rows": (
            "The sum is divided by the rows. The loss is a mean over words: `kept.sum()` counts them.",
            lambda piece: piece.losses.sum() / piece.rows,
        ),
        "divided twice": (
            "The shares are right, and then each is divided by `parts` as well.",
            lambda piece: piece.losses.sum() / piece.of_all / piece.parts,
        ),
    },
    counted={
        "filled-up places count": (
            "The places that only fill up a row count. `kept` is False there: leave them out of the sum.",
            lambda each, kept: each.flatten(),
        )
    },
    clear={
        "last part alone": (
            "Only the last part's gradient is left. `zero_grad()` belongs before the first part, not into "
            "the loop.",
            _in_every_part,
        ),
        "old gradient kept": (
            "What lay in `.grad` before is still in it. `zero_grad()` belongs before the first part.",
            lambda model, first: None,
        ),
    },
    told={
        "last loss": (
            "The gradient is right, and the loss that you return is the last part's. Add up all parts'.",
            lambda total, losses, model: losses[-1],
        ),
        "loss divided again": (
            "The gradient is right, and the loss that you return is divided by the number of parts. The "
            "shares add up to the mean already.",
            lambda total, losses, model: total / len(losses),
        ),
    },
    cut={
        "all at once": (
            "The gradient is right, but the whole batch goes through the model at once. The parts are there "
            "since it does not fit into memory.",
            _all_at_once,
        )
    },
) | {
    "one backward": (
        "The gradient is right, but you call `backward()` once, for all parts: until then what each of them "
        "needs for it lies in memory. Call it in the loop, and the gradients add up by themselves.",
        _one_backward,
    )
}


def _case(label: str, seed: int, lengths: list[int], parts: int) -> Case:
    return Case(label, reader(seed), *rows(seed, lengths), parts)


check_repaired_parts = Exercise(
    "repaired_parts",
    difficulty=3,
    minutes=20,
    takes=("model", "ids", "targets", "kept", "parts"),
    returns=("loss", "gradient", "in parts"),
    reference=gradient_in_parts,
    ask=answered,
    cases=(
        # The broken code passes the first two of these, which is the clue.
        _case("right for a batch in one part", 1, [4, 2], 1),
        _case("right where all parts have as many words", 2, [3, 1, 2, 2], 2),
        _case("right for long rows and short ones", 3, [5, 5, 1, 1], 2),
        _case("right where the last part has fewer rows", 4, [3, 3, 3, 3, 3], 2),
        _case("right where a part has no words", 5, [4, 3, 0, 0, 2, 1], 3),
        _case("right for a row in each part", 6, [6, 1, 3], 3),
    ),
    mistakes=MISTAKES,
    meanings={
        "in parts": {0: "no, more rows at once than a part has", 1: "yes", 2: "no, backward() comes too late"}
    },
    trainable=False,
)
