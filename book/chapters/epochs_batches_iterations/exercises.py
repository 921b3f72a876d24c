"""The exercises of “Epochs, batches, iterations”."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.batches import iterations_per_epoch
from bookkit.attempts import Case
from bookkit.checker import Exercise
from bookkit.inputs import draw
from bookkit.mistakes import in_parts, swapped

# --- iterations per epoch -------------------------------------------------------------------------

check_epoch_iterations = Exercise(
    "epoch_iterations",
    difficulty=2,
    minutes=5,
    takes=("examples", "batch_size", "drop_last", "workers"),
    returns=("iterations",),
    reference=iterations_per_epoch,
    cases=(
        Case("right for one worker, with batches that come out even", 8, 2, False, 1),
        Case("right for one worker, with a last batch that is short", 11, 4, False, 1),
        Case("right for one worker, with a last batch that is short", 9, 4, False, 1),
        Case("right with drop_last", 11, 4, True, 1),
        Case("right with drop_last", 3, 4, True, 1),
        Case("right for several workers", 2000, 500, False, 4),
        Case("right for shares that don't come out even", 2001, 500, False, 2),
        Case("right for shares that don't come out even", 13, 3, False, 4),
        Case("right with drop_last for several workers", 23, 4, True, 3),
        Case("right with drop_last for several workers", 17, 3, True, 3),
    ),
    mistakes={
        "floor for ceil": (
            "You round down whatever drop_last says. Without it a short last batch makes an update, too.",
            lambda examples, batch_size, drop_last, workers: examples // workers // batch_size,
        ),
        "drop_last ignored": (
            "You round up whatever drop_last says. With drop_last a batch that is not full is left out.",
            lambda examples, batch_size, drop_last, workers: math.ceil(examples / workers / batch_size),
        ),
        "drop_last reversed": (
            "It is the wrong way round: drop_last=True rounds down, drop_last=False rounds up.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                examples, batch_size, not drop_last, workers
            ),
        ),
        "workers ignored": (
            "This is right for one worker. Several share the examples out, and work at the same time.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                examples, batch_size, drop_last
            ),
        ),
        "batches of all workers": (
            "You count the batches of all workers together. All of them make one update at a time.",
            lambda examples, batch_size, drop_last, workers: (
                workers * iterations_per_epoch(examples, batch_size, drop_last, workers)
            ),
        ),
        "batch shared out": (
            "You divide the batch size by the workers. It is what each reads; the examples are shared out.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                examples, max(1, batch_size // workers), drop_last
            ),
        ),
        "always one more": (
            "You add 1 to the rounded-down quotient, which is one too many where the batches come out even.",
            lambda examples, batch_size, drop_last, workers: (
                examples // workers // batch_size + (not drop_last)
            ),
        ),
        "at least one": (
            "Where drop_last leaves no full batch there is no update at all: 0, and not 1.",
            lambda *inputs: max(1, iterations_per_epoch(*inputs)),
        ),
        "share rounded down": (
            "Without drop_last no example may be lost: each worker's share is rounded up, not down.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                examples // workers, batch_size, drop_last
            ),
        ),
        "share rounded up": (
            "With drop_last the shares come out even by leaving examples out: each is rounded down, not up.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                math.ceil(examples / workers), batch_size, drop_last
            ),
        ),
        "not rounded": (
            "The quotient still has its decimals. There are no half updates: round it up or down.",
            lambda examples, batch_size, drop_last, workers: examples / (workers * batch_size),
        ),
        "rounded to the nearest": (
            "`round` goes to the nearest whole number. Here it is always up, or with drop_last always down.",
            lambda examples, batch_size, drop_last, workers: round(examples / (workers * batch_size)),
        ),
        "examples per update": (
            "This is how many examples one update takes in. How many updates does it take to read them all?",
            lambda examples, batch_size, drop_last, workers: batch_size * workers,
        ),
        "upside down": (
            "The fraction is upside down: the examples are divided by the batch size.",
            lambda examples, batch_size, drop_last, workers: math.ceil(workers * batch_size / examples),
        ),
    },
)

# --- the loss of an epoch -------------------------------------------------------------------------


def _losses(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device="cpu")


def _sizes(*numbers: int) -> Tensor:
    return torch.tensor(numbers, device="cpu")


def _epoch_loss(batch_losses: Tensor, batch_sizes: Tensor) -> Tensor:
    return (batch_losses * batch_sizes).sum() / batch_sizes.sum()


check_epoch_loss = Exercise(
    "epoch_loss",
    difficulty=1,
    minutes=5,
    takes=("batch_losses", "batch_sizes"),
    returns=("loss",),
    reference=_epoch_loss,
    cases=(
        Case("right for equal batches", _losses(1, 2), _sizes(4, 4)),
        Case("right for a last batch of one example", _losses(1, 2, 9), _sizes(4, 4, 1)),
        Case("right for batches of many sizes", _losses(0.5, 3, 1.25, 2, 0.75), _sizes(7, 2, 5, 3, 8)),
        Case("right for a single batch", _losses(1.5), _sizes(3)),
    ),
    mistakes={
        "mean of means": (
            "This is the plain mean of the losses. In it a batch of one counts as much as a full one.",
            lambda losses, sizes: losses.mean(),
        ),
        "sum of the losses": (
            "You sum the batches' losses. Each of them is a mean already; how many examples stand behind it?",
            lambda losses, sizes: losses.sum(),
        ),
        "not divided": (
            "This is the sum over all examples. What is left to do is the division by their number.",
            lambda losses, sizes: (losses * sizes).sum(),
        ),
        "divided by the batches": (
            "Weighted by their examples, but divided by the number of batches. Divide by the examples.",
            lambda losses, sizes: (losses * sizes).mean(),
        ),
        "divided by full batches": (
            "You divide by the number of batches times the size of the first: as if the last were full.",
            lambda losses, sizes: (losses * sizes).sum() / (len(sizes) * sizes[0]),
        ),
        "short batches left out": (
            "Batches smaller than the first are left out. Their examples belong to the mean, too.",
            lambda losses, sizes: losses[sizes == sizes[0]].mean(),
        ),
        "mean with the next": (
            "Each batch's loss is averaged with all that came before it: the last one then counts for half.",
            lambda losses, sizes: (
                losses[0] * 0.5 ** (len(losses) - 1)
                + (losses[1:] * 0.5 ** torch.arange(len(losses) - 1, 0, -1)).sum()
            ),
        ),
        "losses taken for sums": (
            "You divide by the examples as if each loss were a sum over its batch. It is a mean.",
            lambda losses, sizes: losses.sum() / sizes.sum(),
        ),
        "divided by its size": (
            "You divide each loss by the size of its batch, so that small batches count more, not less.",
            lambda losses, sizes: (losses / sizes).sum(),
        ),
        "the last batch alone": (
            "This is the last micro-batch's gradient. Is something set back to zero inside the loop?",
            lambda losses, sizes: losses[-1],
        ),
        "weighted the wrong way round": (
            "The weights are upside down: here a batch counts the more, the fewer examples it holds.",
            lambda losses, sizes: (losses / sizes).sum() / (1 / sizes).sum(),
        ),
    },
    trainable=False,
)

# --- repair: gradients accumulated over micro-batches ---------------------------------------------


def _accumulated(
    weight: Tensor,
    inputs: Tensor,
    targets: Tensor,
    size: int,
    *,
    # (examples of this micro-batch, of all, the size asked for, how many micro-batches there are)
    share: Callable[[int, int, int, int], float] = lambda own, every, size, parts: own / every,
    keep: Callable[[Tensor, Tensor], Tensor] = torch.add,
) -> Tensor:
    """The gradient of the mean squared error: of each micro-batch its share, kept beside those before it."""
    pieces = list(zip(torch.split(inputs, size), torch.split(targets, size), strict=True))
    total = torch.zeros_like(weight)
    for x, y in pieces:
        gradient = 2 * (x @ weight - y) @ x / len(x)
        total = keep(total, share(len(x), len(inputs), size, len(pieces)) * gradient)
    return total


def _gradient_case(label: str, seed: int, examples: int, width: int, size: int) -> Case:
    inputs, targets, weight = draw(seed, (examples, width), (examples,), (width,), dtype=torch.float64)
    return Case(label, weight, inputs, targets, size)


check_accumulated_gradient = Exercise(
    "accumulated_gradient",
    difficulty=3,
    minutes=10,
    takes=("weight", "inputs", "targets", "size"),
    returns=("gradient",),
    reference=_accumulated,
    cases=(
        # The broken code passes the first of these, which is the clue.
        _gradient_case("right for 6 examples in micro-batches of 2", 11, 6, 3, 2),
        _gradient_case("right for 7 examples in micro-batches of 3", 21, 7, 3, 3),
        _gradient_case("right for 25 examples in micro-batches of 8", 31, 25, 4, 8),
        _gradient_case("right for 5 examples in one micro-batch", 41, 5, 2, 5),
        _gradient_case("right for micro-batches larger than the data", 51, 5, 2, 8),
    ),
    mistakes=in_parts(
        _accumulated,
        share={
            "still broken": (
                "The fault that it came with is still there. What does a short last one count for?",
                lambda own, every, size, parts: 1 / parts,
            ),
            "means added up": (
                "The means of the micro-batches are added up: as many times too large, about, as there are.",
                lambda own, every, size, parts: 1,
            ),
            "sum over the examples": (
                "This is the gradient of the sum over all examples. Divide it by their number.",
                lambda own, every, size, parts: own,
            ),
            "divided by the size": (
                "Each mean is divided by `size`. It was divided already; it lacks its share of all examples.",
                lambda own, every, size, parts: 1 / size,
            ),
            "divided by the examples": (
                "Each mean is divided by all the examples, and not multiplied by how many are its own.",
                lambda own, every, size, parts: 1 / every,
            ),
            "every micro-batch as if full": (
                "Each counts as if it held `size` examples. The last may hold fewer: len(x) knows.",
                lambda own, every, size, parts: min(size, every) / every,
            ),
            "short batch left out": (
                "The last micro-batch is left out where it is short. Its examples belong to the mean.",
                lambda own, every, size, parts: (own == min(size, every)) / max(1, every // size),
            ),
            "divided twice": (
                "The shares are right, and then all is divided by the number of micro-batches as well.",
                lambda own, every, size, parts: own / every / parts,
            ),
            "share of the size, and the mean": (
                "len(x) / size, divided by how many there are: less than 1 in all when the last is short.",
                lambda own, every, size, parts: own / size / parts,
            ),
        },
        keep={
            "the last batch's share alone": (
                "The gradient is the last micro-batch's share only. Is something set to zero in the loop?",
                lambda total, part: part,
            ),
        },
    )
    | {
        "the last batch alone": (
            "This is the last micro-batch's gradient. Is something set back to zero inside the loop?",
            lambda *inputs: _accumulated(*inputs, share=lambda *sizes: 1, keep=lambda total, part: part),
        ),
    },
    trainable=False,  # what it returns is a gradient already
)

# --- early stopping -------------------------------------------------------------------------------


def _stopping(
    validation_losses: Tensor,
    patience: int,
    *,
    better: Callable[[float, float, float], bool] = lambda loss, lowest, before: loss < lowest,
    wait: Callable[[int, bool, bool], int] = lambda waited, best, fell: 0 if best else waited + 1,
    enough: Callable[[int, int], bool] = lambda waited, patience: waited == patience,
    tell: Callable[..., object] = lambda best, run, low, end, patience: (best, run),
) -> object:
    """The best epoch and how many were run, told by one who knows the lowest loss of all, and the end."""
    losses = validation_losses.tolist()
    best, lowest, before, waited = 0, math.inf, math.inf, 0
    for run, loss in enumerate(losses, start=1):
        is_best = better(loss, lowest, before)
        if is_best:
            best, lowest = run, loss
        waited = wait(waited, is_best, loss < before)
        if enough(waited, patience):
            break
        before = loss
    return tell(best, run, losses.index(min(losses)) + 1, len(losses), patience)


check_early_stopping = Exercise(
    "early_stopping",
    difficulty=3,
    minutes=15,
    takes=("validation_losses", "patience"),
    returns=("best_epoch", "epochs_run"),
    reference=_stopping,
    cases=(
        Case("right where the loss falls and then rises", _losses(0.9, 0.6, 0.4, 0.5, 0.7, 0.8, 0.9, 0.7), 2),
        Case("right where the loss never stops falling", _losses(0.9, 0.8, 0.7, 0.6), 2),
        Case("right where a rise is passing", _losses(0.9, 0.5, 0.6, 0.7, 0.4, 0.6, 0.5, 0.3, 0.7, 0.6), 3),
        Case("right where waiting longer would have helped", _losses(0.9, 0.5, 0.7, 0.6, 0.4, 0.3), 2),
        Case("right where two losses are equal", _losses(0.9, 0.5, 0.5, 0.6, 0.7, 0.4, 0.8), 3),
        Case("right for losses above 1", _losses(9.5, 4, 2.5, 3.5, 3, 2), 3),
        Case("right for a patience of 1", _losses(0.9, 0.8, 0.85, 0.7, 0.6), 1),
    ),
    mistakes=in_parts(
        _stopping,
        enough={
            "one epoch too patient": (
                "You wait one epoch longer than `patience`. With 1, the first that is no better is the last.",
                lambda waited, patience: waited > patience,
            ),
        },
        better={
            "against the epoch before": (
                "You compare each epoch with the one before it. A new best is below the best so far.",
                lambda loss, lowest, before: loss < before,
            ),
            "equal counts as better": (
                "A loss that equals the best so far counts as a new best. It must be lower: `<`, not `<=`.",
                lambda loss, lowest, before: loss <= lowest,
            ),
        },
        wait={
            "since the last fall": (
                "Any fall of the loss sets your count back to 0, where only a new best should.",
                lambda waited, best, fell: 0 if fell else waited + 1,
            ),
            "never reset": (
                "You count all epochs without a new best. A new best sets the count back to 0.",
                lambda waited, best, fell: waited if best else waited + 1,
            ),
        },
        tell={
            "counted from 0": (
                "Both numbers are one too small: the first epoch is number 1.",
                lambda best, run, low, end, patience: (best - 1, run - 1),
            ),
            "best of all": (
                "best_epoch looks at epochs that were never run: after the stop there is nothing to look at.",
                lambda best, run, low, end, patience: (low, run),
            ),
            "never stops": (
                "All epochs are run. When `patience` epochs in a row bring no new best, stop.",
                lambda best, run, low, end, patience: (low, end),
            ),
            "stops after the best of all": (
                "You look for the lowest loss of all, and stop `patience` epochs later: that looks ahead.",
                lambda best, run, low, end, patience: (low, min(low + patience, end)),
            ),
            "best by subtraction": (
                "The best epoch need not be `patience` epochs before the last: training may end unstopped.",
                lambda best, run, low, end, patience: (run - patience, run),
            ),
            "last for best": (
                "best_epoch is the last epoch that was run. By then the loss has risen.",
                lambda best, run, low, end, patience: (run, run),
            ),
        },
    )
    | swapped(_stopping, "best_epoch", "epochs_run"),
    trainable=False,
)
