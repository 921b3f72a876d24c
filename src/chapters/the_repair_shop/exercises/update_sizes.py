"""Measure how far one update moves each matrix, as a share of what it was."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

RATE = 0.25
MIXED = "a kernel, a frozen matrix and a buffer among them"


def _model(seed: int) -> nn.Module:
    """A table, two matrices, a norm, with weights of chance, on the processor."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        with torch.device("cpu"):
            return nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 5), nn.LayerNorm(5), nn.Linear(5, 3))


def _mixed() -> nn.Module:
    """Names in no order, a kernel of three axes, a matrix that is frozen, and a table that is a buffer."""
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.manual_seed(5)
        layers = {"write": nn.Linear(4, 3), "kernel": nn.Conv1d(2, 3, 4), "frozen": nn.Linear(3, 2)}
        model = nn.ModuleDict(layers)
        model.register_buffer("waves", torch.ones(3, 4))
    model["frozen"].requires_grad_(False)
    return model


def measured(work: Callable[..., Any], kind: str, seed: int) -> Any:
    """`measured(my_function, "sgd", 1)` hands over a fresh model, and a step that changes it."""
    model, source = _mixed() if kind == MIXED else _model(seed), torch.Generator("cpu").manual_seed(seed)
    made: list[list[Tensor]] = []

    def step() -> None:
        with torch.no_grad():
            for place, weight in enumerate(model.parameters()):
                if kind == "frozen" and place == 1:
                    continue
                weight.grad = torch.randn(weight.shape, generator=source, device="cpu")
                if kind == "decay":
                    weight.mul_(1 - RATE)
                elif kind == "rows" and place == 0:
                    weight[2] -= weight.grad[2]
                else:
                    weight.sub_(RATE * weight.grad)
            made.append([weight.clone() for weight in model.parameters()])

    answer = returned(work(model, step))
    if len(made) != 1:
        raise WrongTypeError(
            f"It calls `step()` {len(made)} times. What is asked for is how far one call moves."
        )
    if not all(map(torch.equal, model.parameters(), *made)):
        raise WrongTypeError("It changes the weights itself. Leave them as `step()` made them.")
    return answer


def _sizes(
    model: nn.Module,
    step: Callable[[], None],
    *,
    kept: Part = lambda weight: weight.detach().clone(),
    chosen: Part = lambda weight: weight.dim() > 1,
    moved: Part = lambda after, before: (after - before).norm(),
    size: Part = lambda after, before: before.norm(),
    told: Part = torch.stack,
) -> Any:
    """How far each matrix moves in a step, as a share of what it was, (matrices,)."""
    weights = [weight for weight in model.parameters() if chosen(weight)]
    before = [kept(weight) for weight in weights]
    step()
    shares = [
        (moved(weight.detach(), old) / size(weight.detach(), old)).detach()
        for weight, old in zip(weights, before, strict=True)
    ]
    return told(shares)


def _of_gradient(model: nn.Module, step: Callable[[], None]) -> Tensor:
    step()
    matrices = [weight for weight in model.parameters() if weight.dim() > 1]
    return torch.stack(
        [
            torch.zeros(()) if weight.grad is None else weight.grad.norm() / weight.detach().norm()
            for weight in matrices
        ]
    )


MISTAKES: Mistakes = in_parts(
    _sizes,
    kept={
        "no copy": (
            "All of yours are 0: what you kept before the step is the weight itself, and the step changed "
            "it. Keep a copy: `weight.detach().clone()`.",
            lambda weight: weight.detach(),
        ),
    },
    chosen={
        "biases and norms, too": (
            "You have a number for biases and norms, too. Asked for are matrices, of two axes or more.",
            lambda weight: True,
        ),
        "two axes alone": (
            "A kernel of three axes is missing. All with two axes or more are asked for.",
            lambda weight: weight.dim() == 2,
        ),
        "without the table": (
            "The table of the embedding is missing. It has two axes, and counts.",
            lambda weight: weight.dim() > 1 and tuple(weight.shape) != (7, 4),
        ),
    },
    moved={
        "the size before, not the difference": (
            "You compare how large a matrix is after and before. It may turn and stay as large: take the "
            "size of the difference.",
            lambda after, before: after.norm() - before.norm(),
        ),
        "the largest": (
            "You take the largest single change over the size of the whole. Take the size of the whole "
            "change: `norm()`.",
            lambda after, before: (after - before).abs().max(),
        ),
    },
    size={
        "over the weights after": (
            "You divide by the weights after the step. Divide by what they were.",
            lambda after, before: after.norm(),
        ),
        "not a share": (
            "You say how far each moves, and not what share of it that is. Divide by the size that it had.",
            lambda after, before: torch.ones(()),
        ),
    },
    told={
        "one number for all": (
            "You give one number for the whole model. Wanted is one for each matrix: so one can tell where.",
            lambda shares: torch.stack(shares).mean(),
        ),
        "squared": (
            "Yours are the squares: take the root of the sum of squares, or `norm()`.",
            lambda shares: torch.stack(shares).square(),
        ),
        "turned round": (
            "Your shares are upside down: the update stands above, the weight below.",
            lambda shares: 1 / torch.stack(shares),
        ),
    },
) | {
    "the gradient": (
        "You divide gradients by weights. What an optimizer makes of a gradient is another thing: measure "
        "how far the weights have moved.",
        _of_gradient,
    ),
}


check_update_sizes = Exercise(
    "update_sizes",
    difficulty=2,
    minutes=15,
    takes=("kind", "seed"),
    returns=("shares",),
    reference=_sizes,
    ask=measured,
    cases=(
        Case("right for a plain step", "plain", 1),
        Case("right where all weights shrink", "decay", 2),
        Case("a matrix that stays has 0", "frozen", 3),
        Case("right where one row of a table moves", "rows", 4),
        Case("right for all matrices, and in their order", MIXED, 5),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
