"""The exercises of “Epochs, batches, iterations”."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from attnlab.batches import iterations_per_epoch
from attnlab.runtime import generator
from bookkit.checker import Case, Exercise, Mistake, Report, check


def _draw(seed: int, *shape: int) -> Tensor:
    """Numbers between -2 and 2, in eighths: exact, and the same on every machine."""
    whole = torch.randint(-16, 17, shape, generator=generator(seed), device="cpu")
    return whole.double() / 8


# --- iterations per epoch -------------------------------------------------------------------------


def _count_case(label: str, examples: int, batch_size: int, drop_last: bool, workers: int) -> Case:
    numbers = {"examples": examples, "batch_size": batch_size, "drop_last": drop_last, "workers": workers}
    return Case(label, numbers)


EPOCH_ITERATIONS = Exercise(
    name="epoch_iterations",
    difficulty=2,
    minutes=5,
    reference=iterations_per_epoch,
    returns=("iterations",),
    cases=(
        _count_case("right for one worker, with batches that come out even", 8, 2, False, 1),
        _count_case("right for one worker, with a last batch that is short", 11, 4, False, 1),
        _count_case("right for one worker, with a last batch that is short", 9, 4, False, 1),
        _count_case("right with drop_last", 11, 4, True, 1),
        _count_case("right for several workers", 2000, 500, False, 4),
        _count_case("right for shares that don't come out even", 2001, 500, False, 2),
        _count_case("right for shares that don't come out even", 13, 3, False, 4),
        _count_case("right with drop_last for several workers", 23, 4, True, 3),
        _count_case("right with drop_last for several workers", 17, 3, True, 3),
    ),
    mistakes=(
        Mistake(
            "floor for ceil",
            "You round down whatever drop_last says. A short last batch is a batch, too, and makes an "
            "update, unless drop_last leaves it out.",
            lambda examples, batch_size, drop_last, workers: examples // workers // batch_size,
        ),
        Mistake(
            "drop_last ignored",
            "You round up whatever drop_last says. With drop_last a batch that is not full is left out.",
            lambda examples, batch_size, drop_last, workers: math.ceil(
                math.ceil(examples / workers) / batch_size
            ),
        ),
        Mistake(
            "drop_last reversed",
            "It is the wrong way round: drop_last=True rounds down, drop_last=False rounds up.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                examples, batch_size, not drop_last, workers
            ),
        ),
        Mistake(
            "workers ignored",
            "This is right for one worker. Several share the examples out, and work at the same time.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                examples, batch_size, drop_last
            ),
        ),
        Mistake(
            "batches of all workers",
            "You count the batches of all workers together. At each iteration every worker reads one, and "
            "all of them make one update.",
            lambda examples, batch_size, drop_last, workers: (
                workers * iterations_per_epoch(examples, batch_size, drop_last, workers)
            ),
        ),
        Mistake(
            "batch shared out",
            "You divide the batch size by the number of workers. Here batch_size is what each worker reads; "
            "it is the examples that are shared out.",
            lambda examples, batch_size, drop_last, workers: iterations_per_epoch(
                examples, max(1, batch_size // workers), drop_last
            ),
        ),
        Mistake(
            "always one more",
            "You add 1 to the rounded-down quotient, which is one too many where the batches come out even.",
            lambda examples, batch_size, drop_last, workers: (
                examples // workers // batch_size + (0 if drop_last else 1)
            ),
        ),
        Mistake(
            "share rounded down",
            "Without drop_last no example may be lost: each worker's share is rounded up, not down.",
            lambda examples, batch_size, drop_last, workers: (
                examples // workers // batch_size
                if drop_last
                else math.ceil(examples // workers / batch_size)
            ),
        ),
        Mistake(
            "not rounded",
            "The quotient still has its decimals. There are no half updates: round it up, or down with "
            "drop_last.",
            lambda examples, batch_size, drop_last, workers: examples / (workers * batch_size),
        ),
        Mistake(
            "rounded to the nearest",
            "`round` goes to the nearest whole number. A batch with a single example counts in full, and "
            "one that lacks a single example counts for nothing with drop_last.",
            lambda examples, batch_size, drop_last, workers: round(examples / (workers * batch_size)),
        ),
        Mistake(
            "examples per update",
            "This is how many examples one update takes in, batch_size times workers. How many such updates "
            "does it take to read them all?",
            lambda examples, batch_size, drop_last, workers: batch_size * workers,
        ),
        Mistake(
            "upside down",
            "The fraction is upside down: the examples are divided by the batch size.",
            lambda examples, batch_size, drop_last, workers: math.ceil(workers * batch_size / examples),
        ),
    ),
    trainable=False,
)


def check_epoch_iterations(function: object) -> Report:
    """`check_epoch_iterations(my_function)` tests f(examples, batch_size, drop_last, workers) -> updates.

    >>> check_epoch_iterations(iterations_per_epoch).passed
    True
    """
    return check(EPOCH_ITERATIONS, function)


# --- the loss of an epoch -------------------------------------------------------------------------


def _losses_case(label: str, losses: Sequence[float], sizes: Sequence[int]) -> Case:
    return Case(
        label,
        {
            "batch_losses": torch.tensor(losses, dtype=torch.float64, device="cpu"),
            "batch_sizes": torch.tensor(sizes, dtype=torch.float64, device="cpu"),
        },
    )


def _epoch_loss(batch_losses: Tensor, batch_sizes: Tensor) -> Tensor:
    return (batch_losses * batch_sizes).sum() / batch_sizes.sum()


EPOCH_LOSS = Exercise(
    name="epoch_loss",
    difficulty=1,
    minutes=5,
    reference=_epoch_loss,
    returns=("loss",),
    cases=(
        _losses_case("right for equal batches", [1.0, 2.0], [4, 4]),
        _losses_case("right for a last batch of one example", [1.0, 2.0, 9.0], [4, 4, 1]),
        _losses_case("right for batches of many sizes", [0.5, 3.0, 1.25, 2.0, 0.75], [7, 2, 5, 3, 8]),
        _losses_case("right for a single batch", [1.5], [3]),
    ),
    mistakes=(
        Mistake(
            "mean of means",
            "This is the plain mean of the batches' losses. A batch with a single example counts in it as "
            "much as a full one.",
            lambda batch_losses, batch_sizes: batch_losses.mean(),
        ),
        Mistake(
            "sum of the losses",
            "You sum the batches' losses. Each of them is a mean already; how many examples stand behind it?",
            lambda batch_losses, batch_sizes: batch_losses.sum(),
        ),
        Mistake(
            "not divided",
            "This is the sum over all examples. What is left to do is the division by their number.",
            lambda batch_losses, batch_sizes: (batch_losses * batch_sizes).sum(),
        ),
        Mistake(
            "divided by the batches",
            "The losses are weighted by their examples, but then divided by the number of batches. Divide "
            "by the number of examples.",
            lambda batch_losses, batch_sizes: (batch_losses * batch_sizes).mean(),
        ),
        Mistake(
            "divided by full batches",
            "You divide by the number of batches times the size of the first: as if the last were full.",
            lambda batch_losses, batch_sizes: (
                (batch_losses * batch_sizes).sum() / (len(batch_sizes) * batch_sizes[0])
            ),
        ),
        Mistake(
            "losses taken for sums",
            "You divide the sum of the losses by the number of examples, as if each loss were a sum over "
            "its batch. It is a mean.",
            lambda batch_losses, batch_sizes: batch_losses.sum() / batch_sizes.sum(),
        ),
        Mistake(
            "divided by its size",
            "You divide each loss by the size of its batch, so that small batches count more, not less.",
            lambda batch_losses, batch_sizes: (batch_losses / batch_sizes).sum(),
        ),
        Mistake(
            "the last batch alone",
            "This is the loss of the last batch: the variable that the loop left behind.",
            lambda batch_losses, batch_sizes: batch_losses[-1],
        ),
        Mistake(
            "weighted the wrong way round",
            "The weights are upside down: here a batch counts the more, the fewer examples it holds.",
            lambda batch_losses, batch_sizes: (batch_losses / batch_sizes).sum() / (1 / batch_sizes).sum(),
        ),
    ),
    trainable=False,
)


def check_epoch_loss(function: object) -> Report:
    """`check_epoch_loss(my_function)` tests function(batch_losses, batch_sizes) -> the mean over examples.

    >>> check_epoch_loss(lambda batch_losses, batch_sizes: batch_losses.mean()).mistake
    'mean of means'
    """
    return check(EPOCH_LOSS, function)


# --- repair: gradients accumulated over micro-batches ---------------------------------------------


def _squared_error(weight: Tensor, inputs: Tensor, targets: Tensor) -> Tensor:
    return (inputs @ weight - targets).square().mean()


def _full_gradient(weight: Tensor, inputs: Tensor, targets: Tensor, size: int) -> Tensor:
    leaf = weight.clone().requires_grad_()
    _squared_error(leaf, inputs, targets).backward()  # type: ignore[no-untyped-call]
    assert leaf.grad is not None
    return leaf.grad


# (the number of a micro-batch, its examples, the examples of all, the size asked for, how many there are)
Factor = Callable[[int, int, int, int, int], float]


def _accumulating(factor: Factor) -> Callable[..., Tensor]:
    """Each micro-batch's gradient times a factor, summed."""

    def gradient(weight: Tensor, inputs: Tensor, targets: Tensor, size: int) -> Tensor:
        parts = list(zip(torch.split(inputs, size), torch.split(targets, size), strict=True))
        total = torch.zeros_like(weight)
        for number, (x, y) in enumerate(parts):
            part = _full_gradient(weight, x, y, size)
            total += factor(number, len(x), len(inputs), size, len(parts)) * part
        return total

    return gradient


def _gradient_case(label: str, seed: int, examples: int, width: int, size: int) -> Case:
    inputs, targets = _draw(seed, examples, width), _draw(seed + 1, examples)
    return Case(label, {"weight": _draw(seed + 2, width), "inputs": inputs, "targets": targets, "size": size})


ACCUMULATED_GRADIENT = Exercise(
    name="accumulated_gradient",
    difficulty=3,
    minutes=10,
    reference=_full_gradient,
    returns=("gradient",),
    cases=(
        # The broken code passes the first of these, which is the clue.
        _gradient_case("right for 6 examples in micro-batches of 2", 11, 6, 3, 2),
        _gradient_case("right for 7 examples in micro-batches of 3", 21, 7, 3, 3),
        _gradient_case("right for 25 examples in micro-batches of 8", 31, 25, 4, 8),
        _gradient_case("right for 5 examples in one micro-batch", 41, 5, 2, 5),
        _gradient_case("right for micro-batches larger than the data", 51, 5, 2, 8),
    ),
    mistakes=(
        Mistake(
            "still broken",
            "The fault that it came with is still there. It passes where all micro-batches have the same "
            "size. What does the last one count for, and what should it?",
            _accumulating(lambda number, own, all_examples, size, parts: 1 / parts),
        ),
        Mistake(
            "means added up",
            "Now the means of the micro-batches are added up: the gradient is too large, by about as many "
            "times as there are micro-batches.",
            _accumulating(lambda number, own, all_examples, size, parts: 1),
        ),
        Mistake(
            "sum over the examples",
            "This is the gradient of the sum over all examples. What is left to do is the division by their "
            "number.",
            _accumulating(lambda number, own, all_examples, size, parts: own),
        ),
        Mistake(
            "divided by the size",
            "Each micro-batch's mean is divided by `size`. A mean was divided already; what it lacks is its "
            "share of all the examples.",
            _accumulating(lambda number, own, all_examples, size, parts: 1 / size),
        ),
        Mistake(
            "every micro-batch as if full",
            "Each micro-batch counts as if it held `size` examples. The last may hold fewer: len(x) knows.",
            _accumulating(lambda number, own, all_examples, size, parts: size / all_examples),
        ),
        Mistake(
            "the last batch alone",
            "This is the last micro-batch's gradient. Is something set back to zero inside the loop?",
            _accumulating(lambda number, own, all_examples, size, parts: float(number == parts - 1)),
        ),
        Mistake(
            "the last batch's share alone",
            "The shares are right, but the gradient is that of the last micro-batch only. Is something set "
            "back to zero inside the loop?",
            _accumulating(
                lambda number, own, all_examples, size, parts: (number == parts - 1) * own / all_examples
            ),
        ),
        Mistake(
            "short batch left out",
            "The last micro-batch is left out where it is short. Its examples belong to the mean as well.",
            _accumulating(
                lambda number, own, all_examples, size, parts: (
                    (own == size) * size / max(1, all_examples // size * size)
                )
            ),
        ),
        Mistake(
            "divided twice",
            "The shares are right, and then everything is divided by the number of micro-batches as well.",
            _accumulating(lambda number, own, all_examples, size, parts: own / all_examples / parts),
        ),
        Mistake(
            "share of the size",
            "You weigh each micro-batch by len(x) / size, the share of a full micro-batch. Weigh it by its "
            "share of all the examples.",
            _accumulating(lambda number, own, all_examples, size, parts: own / size),
        ),
        Mistake(
            "share of the size, and the mean",
            "You weigh each micro-batch by len(x) / size and divide by how many there are. Together the "
            "weights come to less than 1 when the last one is short.",
            _accumulating(lambda number, own, all_examples, size, parts: own / size / parts),
        ),
        Mistake(
            "sign reversed",
            "This is the step, -gradient, and not the gradient.",
            _accumulating(lambda number, own, all_examples, size, parts: -own / all_examples),
        ),
    ),
    trainable=False,  # what it returns is a gradient already
)


def check_accumulated_gradient(function: object) -> Report:
    """`check_accumulated_gradient(my_function)` tests function(weight, inputs, targets, size) -> gradient.

    >>> check_accumulated_gradient(_full_gradient).passed
    True
    """
    return check(ACCUMULATED_GRADIENT, function)


# --- early stopping -------------------------------------------------------------------------------


def _stopping(
    validation_losses: Tensor,
    patience: int,
    better: Callable[[float, float], bool] = lambda loss, lowest: loss < lowest,
    waited_too_long: Callable[[int, int], bool] = lambda waited, patience: waited == patience,
) -> tuple[float, float]:
    """(best epoch, epochs run); `better` and `waited_too_long` are where mistakes go in."""
    losses = validation_losses.tolist()
    best, lowest = 0, math.inf
    for epoch, loss in enumerate(losses, start=1):
        if better(loss, lowest):
            best, lowest = epoch, loss
        elif waited_too_long(epoch - best, patience):
            return best, epoch
    return best, len(losses)


def _changed(change: Callable[[int, int, list[float]], tuple[float, float]]) -> Callable[..., object]:
    """A mistake in what is made of the right answer."""

    def code(validation_losses: Tensor, patience: int) -> tuple[float, float]:
        best, run = _stopping(validation_losses, patience)
        return change(int(best), int(run), validation_losses.tolist())

    return code


def _against_the_one_before(validation_losses: Tensor, patience: int) -> tuple[int, int]:
    losses = validation_losses.tolist()
    best, waited = 1, 0
    for epoch in range(2, len(losses) + 1):
        if losses[epoch - 1] < losses[epoch - 2]:
            best, waited = epoch, 0
        else:
            waited += 1
            if waited == patience:
                return best, epoch
    return best, len(losses)


def _never_reset(validation_losses: Tensor, patience: int) -> tuple[int, int]:
    best, lowest, waited = 0, math.inf, 0
    for epoch, loss in enumerate(validation_losses.tolist(), start=1):
        if loss < lowest:
            best, lowest = epoch, loss
        else:
            waited += 1
            if waited == patience:
                return best, epoch
    return best, len(validation_losses)


def _stop_case(label: str, patience: int, *losses: float) -> Case:
    tensor = torch.tensor(losses, dtype=torch.float64, device="cpu")
    return Case(label, {"validation_losses": tensor, "patience": patience})


EARLY_STOPPING = Exercise(
    name="early_stopping",
    difficulty=3,
    minutes=15,
    reference=_stopping,
    returns=("best_epoch", "epochs_run"),
    cases=(
        _stop_case("right where the loss falls and then rises", 2, 0.9, 0.6, 0.4, 0.5, 0.7, 0.8, 0.9, 0.7),
        _stop_case("right where the loss never stops falling", 2, 0.9, 0.8, 0.7, 0.6),
        _stop_case("right where a rise is passing", 3, 0.9, 0.5, 0.6, 0.7, 0.4, 0.6, 0.5, 0.3, 0.7, 0.6),
        _stop_case("right where waiting longer would have helped", 2, 0.9, 0.5, 0.7, 0.6, 0.4, 0.3),
        _stop_case("right where two losses are equal", 3, 0.9, 0.5, 0.5, 0.6, 0.7, 0.4, 0.8),
        _stop_case("right for a patience of 1", 1, 0.9, 0.8, 0.85, 0.7, 0.6),
    ),
    mistakes=(
        Mistake(
            "one epoch too patient",
            "You wait one epoch longer than `patience`. With a patience of 1 the first epoch that is no "
            "better is the last.",
            lambda validation_losses, patience: _stopping(validation_losses, patience + 1),
        ),
        Mistake(
            "one epoch too impatient",
            "You stop one epoch too early: `patience` is how many epochs without a new best you run.",
            lambda validation_losses, patience: _stopping(validation_losses, max(1, patience - 1)),
        ),
        Mistake(
            "at the first rise",
            "You stop at the first epoch that is no better, whatever the patience.",
            lambda validation_losses, patience: _stopping(validation_losses, 1),
        ),
        Mistake(
            "against the epoch before",
            "You compare each epoch with the one before it. Compare it with the best so far: a loss that "
            "falls back half of its rise is not a new best.",
            _against_the_one_before,
        ),
        Mistake(
            "never reset",
            "You count all the epochs without a new best. Patience counts those in a row: a new best sets "
            "the count back to 0.",
            _never_reset,
        ),
        Mistake(
            "equal counts as better",
            "A loss that equals the best so far counts as a new best. It must be lower: `<`, not `<=`.",
            lambda validation_losses, patience: _stopping(
                validation_losses, patience, better=lambda loss, lowest: loss <= lowest
            ),
        ),
        Mistake(
            "counted from 0",
            "Both numbers are one too small: the first epoch is number 1.",
            _changed(lambda best, run, losses: (best - 1, run - 1)),
        ),
        Mistake(
            "best epoch counted from 0",
            "best_epoch is one too small: the first epoch is number 1.",
            _changed(lambda best, run, losses: (best - 1, run)),
        ),
        Mistake(
            "epochs run one short",
            "epochs_run is one too small: the epoch after which you stop was run as well.",
            _changed(lambda best, run, losses: (best, run - 1)),
        ),
        Mistake(
            "best of all",
            "best_epoch looks at epochs that were never run. After the stop there is nothing to look at.",
            _changed(lambda best, run, losses: (losses.index(min(losses)) + 1, run)),
        ),
        Mistake(
            "never stops",
            "All epochs are run. When `patience` epochs in a row bring no new best, stop.",
            _changed(lambda best, run, losses: (losses.index(min(losses)) + 1, len(losses))),
        ),
        Mistake(
            "last for best",
            "best_epoch is the last epoch that was run. By then the loss has risen: the best came earlier.",
            _changed(lambda best, run, losses: (run, run)),
        ),
        Mistake(
            "loss for epoch",
            "This is the lowest loss and not the number of its epoch.",
            _changed(lambda best, run, losses: (losses[best - 1], run)),
        ),
        Mistake(
            "results swapped",
            "Both results are right, in the wrong order: return best_epoch, epochs_run.",
            _changed(lambda best, run, losses: (run, best)),
        ),
        Mistake(
            "highest for lowest",
            "You look for the highest loss. As with every loss, lower is better.",
            lambda validation_losses, patience: _stopping(-validation_losses, patience),
        ),
    ),
    trainable=False,
)


def check_early_stopping(function: object) -> Report:
    """`check_early_stopping(my_function)` tests f(validation_losses, patience) -> best_epoch, epochs_run.

    >>> check_early_stopping(lambda validation_losses, patience: (1, 1)).passed
    False
    """
    return check(EARLY_STOPPING, function)
