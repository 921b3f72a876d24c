"""The exercises of “Epochs, batches, iterations”."""

import functools
import itertools
import math
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from attnlab.runtime import generator
from attnlab.training.batches import iterations_per_epoch
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped


def _double(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device="cpu")


# --- iterations per epoch -------------------------------------------------------------------------


def _rounded(amount: int, parts: int, down: bool) -> int:
    return amount // parts if down else math.ceil(amount / parts)


def _iterations(examples: int, batch_size: int, drop_last: bool, workers: int, share: Part = _rounded) -> int:
    return _rounded(share(examples, workers, drop_last), batch_size, drop_last)


_SHARED: Mistakes = {
    "share rounded down": (
        "Without drop_last no example may be lost: each worker's share is rounded up, not down.",
        lambda examples, workers, down: examples // workers,
    ),
    "share rounded up": (
        "With drop_last each worker's share is rounded down as well. You round it up.",
        lambda examples, workers, down: math.ceil(examples / workers),
    ),
    "workers ignored": (
        "This is right for one worker. Several share the examples out, and work at the same time.",
        lambda examples, workers, down: examples,
    ),
}
_COUNTED: Mistakes = {
    "floor for ceil": (
        "You round down whatever drop_last says. Without it, a short last batch makes an update as well.",
        lambda examples, size, drop_last, workers: examples // workers // size,
    ),
    "drop_last ignored": (
        "You round up whatever drop_last says. With drop_last a batch that is not full is left out.",
        lambda examples, size, drop_last, workers: _iterations(examples, size, False, workers),
    ),
    "drop_last reversed": (
        "It is the wrong way round: drop_last=True rounds down, drop_last=False rounds up.",
        lambda examples, size, drop_last, workers: _iterations(examples, size, not drop_last, workers),
    ),
    "batches of all workers": (
        "At each iteration every worker reads a batch, and all of them make one update: don't add them up.",
        lambda examples, size, drop_last, workers: workers * _iterations(examples, size, drop_last, workers),
    ),
    "batch shared out": (
        "You share the batch size out. It is what each worker reads; the examples are shared out.",
        lambda examples, size, drop_last, workers: _iterations(examples, size // workers or 1, drop_last, 1),
    ),
    "always one more": (
        "You add 1 to the rounded-down quotient, which is one too many where the batches come out even.",
        lambda examples, size, drop_last, workers: examples // workers // size + (not drop_last),
    ),
    "at least one": (
        "With drop_last an epoch that fills no batch makes no update at all: 0 is a right answer.",
        lambda *inputs: max(1, _iterations(*inputs)),
    ),
    "not rounded": (
        "The quotient still has its decimals. There are no half updates: round it up, or down with "
        "drop_last.",
        lambda examples, size, drop_last, workers: examples / (workers * size),
    ),
    "rounded to the nearest": (
        "`round` goes to the nearest whole number, but a single example may call for a batch of its own.",
        lambda examples, size, drop_last, workers: round(examples / (workers * size)),
    ),
    "examples per update": (
        "This is how many examples one update takes in. How many such updates does it take to read them all?",
        lambda examples, size, drop_last, workers: size * workers,
    ),
    "upside down": (
        "The fraction is upside down: the examples are divided by the batch size.",
        lambda examples, size, drop_last, workers: math.ceil(workers * size / examples),
    ),
}

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
    mistakes=in_parts(_iterations, share=_SHARED) | _COUNTED,
)

# --- the loss of an epoch -------------------------------------------------------------------------


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
        Case("right for equal batches", _double(1, 2), whole(4, 4)),
        Case("right for a last batch of one example", _double(1, 2, 9), whole(4, 4, 1)),
        # The first is the largest, so that it shows where none but full batches count.
        Case("right for batches of many sizes", _double(0.5, 3, 1.25, 2, 0.75), whole(8, 2, 5, 3, 7)),
        Case("right for a single batch", _double(1.5), whole(3)),
    ),
    trainable=False,  # what a loop has kept is often plain numbers
    mistakes={
        "mean of means": (
            "This is the plain mean of the batches' losses. A batch with a single example counts in it as "
            "much as a full one.",
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
            "The losses are weighted by their examples, but then divided by the number of batches. Divide by "
            "the number of examples.",
            lambda losses, sizes: (losses * sizes).mean(),
        ),
        "divided by full batches": (
            "You divide by the number of batches times the size of the first: as if the last were full.",
            lambda losses, sizes: (losses * sizes).sum() / (len(sizes) * sizes[0]),
        ),
        "short batches left out": (
            "Only full batches count here. The examples of a short one belong to the epoch like all others.",
            lambda losses, sizes: losses[sizes == sizes.max()].mean(),
        ),
        "losses taken for sums": (
            "You divide the sum of the losses by the number of examples, as if each loss were a sum over its "
            "batch. It is a mean.",
            lambda losses, sizes: losses.sum() / sizes.sum(),
        ),
        "divided by its size": (
            "You divide each loss by the size of its batch, so that small batches count more, not less.",
            lambda losses, sizes: (losses / sizes).sum(),
        ),
        "the last batch alone": (
            "This is the loss of the last batch: the variable that the loop left behind.",
            lambda losses, sizes: losses[-1],
        ),
        "half for the latest": (
            "Each new loss is averaged with the mean so far, which halves all that came before.",
            lambda losses, sizes: functools.reduce(lambda mean, loss: (mean + loss) / 2, losses),
        ),
        "weighted the wrong way round": (
            "The weights are upside down: here a batch counts the more, the fewer examples it holds.",
            lambda losses, sizes: (losses / sizes).sum() / (1 / sizes).sum(),
        ),
    },
)

# --- repair: gradients accumulated over micro-batches ---------------------------------------------


def _gradient(weight: Tensor, inputs: Tensor, targets: Tensor, size: int = 1) -> Tensor:
    return 2 * inputs.T @ (inputs @ weight - targets) / len(inputs)


def _accumulated(weight: Tensor, inputs: Tensor, targets: Tensor, size: int, share: Part) -> Tensor:
    """Each micro-batch's gradient times its share, summed."""
    total, pieces = torch.zeros_like(weight), math.ceil(len(inputs) / size)
    for start in range(0, len(inputs), size):
        x, y = inputs[start : start + size], targets[start : start + size]
        counts = {"own": len(x), "full": min(size, len(inputs)), "examples": len(inputs), "pieces": pieces}
        piece = SimpleNamespace(**counts, size=size, is_last=start + len(x) == len(inputs))
        total += share(piece) * _gradient(weight, x, y)
    return total


_SHARES: Mistakes = {
    "still broken": (
        "The fault that it came with is still there. It passes where all micro-batches have the same size. "
        "What does the last one count for, and what should it?",
        lambda piece: 1 / piece.pieces,
    ),
    "means added up": (
        "Now the means are added up: too large, by about as many times as there are micro-batches.",
        lambda piece: 1,
    ),
    "sum over the examples": (
        "The gradient of the sum over all examples. What is left to do is the division by their number.",
        lambda piece: piece.own,
    ),
    "divided by the size": (
        "A mean was divided already. It lacks its share of all the examples, not a division by `size`.",
        lambda piece: 1 / piece.size,
    ),
    "divided by the examples": (
        "Each micro-batch's mean is divided by all the examples, and was not multiplied by its own number.",
        lambda piece: 1 / piece.examples,
    ),
    "every micro-batch as if full": (
        "Each micro-batch counts as if it held `size` examples. The last may hold fewer: len(x) knows.",
        lambda piece: piece.size / piece.examples,
    ),
    "the last as if full": (
        "The last micro-batch counts as if it were full. Where it is shorter, it must count for less.",
        lambda piece: piece.full / piece.examples,
    ),
    "the last batch alone": (
        "This is the last micro-batch's gradient. Is something set back to zero inside the loop?",
        lambda piece: piece.is_last,
    ),
    "the last batch's share alone": (
        "The shares are right, but only the last one is left. Is something set back to zero in the loop?",
        lambda piece: piece.is_last * piece.own / piece.examples,
    ),
    "short batch left out": (
        "The last micro-batch is left out where it is short. Its examples belong to the mean as well.",
        lambda piece: (piece.own == piece.full) / (piece.examples // piece.full),
    ),
    "divided twice": (
        "The shares are right, and then everything is divided by the number of micro-batches as well.",
        lambda piece: piece.own / piece.examples / piece.pieces,
    ),
    "share of the size": (
        "len(x) / size is the share of a full micro-batch. Weigh by the share of all the examples.",
        lambda piece: piece.own / piece.size,
    ),
    "share of the size, and the mean": (
        "len(x) / size, divided by how many there are, comes to less than 1 where the last is short.",
        lambda piece: piece.own / piece.size / piece.pieces,
    ),
}


def _examples(seed: int, examples: int, width: int, size: int) -> tuple[Any, ...]:
    inputs, targets, weight = draw(seed, (examples, width), (examples,), (width,), dtype=torch.float64)
    return weight, inputs, targets, size


check_accumulated_gradient = Exercise(
    "accumulated_gradient",
    difficulty=3,
    minutes=10,
    takes=("weight", "inputs", "targets", "size"),
    returns=("gradient",),
    reference=_gradient,
    cases=(
        # The broken code passes the first of these, which is the clue.
        Case("right for 6 examples in micro-batches of 2", *_examples(11, 6, 3, 2)),
        Case("right for 7 examples in micro-batches of 3", *_examples(21, 7, 3, 3)),
        Case("right for 25 examples in micro-batches of 8", *_examples(31, 25, 4, 8)),
        Case("right for 5 examples in one micro-batch", *_examples(41, 5, 2, 5)),
        Case("right for micro-batches larger than the data", *_examples(51, 5, 2, 8)),
    ),
    trainable=False,  # what it returns is a gradient already
    mistakes=in_parts(_accumulated, share=_SHARES),
)

# --- early stopping -------------------------------------------------------------------------------


def _best(seen: list[float]) -> int:
    return seen.index(min(seen)) + 1


def _last_fall(seen: list[float]) -> int:
    return max((place + 1 for place in range(1, len(seen)) if seen[place] < seen[place - 1]), default=1)


def _stopping(
    losses: Tensor, patience: int, best: Part = _best, waited: Part = lambda seen, best: len(seen) - best
) -> tuple[Any, int]:
    """(best epoch, epochs run); `best` of the losses seen so far, and how many epochs `waited` since."""
    seen: list[float] = []
    for loss in losses.tolist():
        seen.append(loss)
        if waited(seen, best(seen)) == patience:
            break
    return best(seen), len(seen)


_BESTS: Mistakes = {
    "against the epoch before": ("Compare with the best so far, not with the epoch before.", _last_fall),
    "equal counts as better": (
        "A loss that equals the best so far counts as a new best. It must be lower: `<`, not `<=`.",
        lambda seen: len(seen) - seen[::-1].index(min(seen)),
    ),
    "highest for lowest": ("Lower is better, as with every loss.", lambda seen: seen.index(max(seen)) + 1),
    "lowest begins at 1": (
        "The first lowest loss is one that you made up, and the first epoch's was above it: use math.inf.",
        lambda seen: _best(seen) * (min(seen) < 1),
    ),
}
_WAITS: Mistakes = {
    "never stops": ("Stop after `patience` epochs in a row with no new best.", lambda seen, best: 0),
    "waits for a rise": (
        "A loss below the one before it ends the waiting with you. Only one below the best so far does.",
        lambda seen, best: len(seen) - _last_fall(seen),
    ),
    "never reset": (
        "You count all the epochs without a new best. A new best sets the count back to 0.",
        lambda seen, best: len(seen) - len(set(itertools.accumulate(seen, min))),
    ),
}
_OTHERWISE: Mistakes = {
    "counted from 0": ("Epochs begin at 1.", lambda *inputs: tuple(n - 1 for n in _stopping(*inputs))),
    "last for best": ("By the last epoch the loss has risen.", lambda *inputs: (_stopping(*inputs)[1],) * 2),
    "one epoch too patient": (
        "You wait one epoch longer than `patience`: with 1, the first that is no better is the last.",
        lambda losses, patience: _stopping(losses, patience + 1),
    ),
    "one epoch too impatient": (
        "You stop one epoch too early: `patience` is how many epochs without a new best you run.",
        lambda losses, patience: _stopping(losses, max(1, patience - 1)),
    ),
    "at the first rise": (
        "You stop at the first epoch that is no better, whatever the patience.",
        lambda losses, patience: _stopping(losses, 1),
    ),
    "best of all": (
        "best_epoch looks at epochs that were never run. After the stop there is nothing to look at.",
        lambda losses, patience: (_best(losses.tolist()), _stopping(losses, patience)[1]),
    ),
    "looks ahead": (
        "You find the best epoch of all first. Training might have stopped before it came that far.",
        lambda losses, patience: (best := _best(losses.tolist()), min(best + patience, len(losses))),
    ),
    "best by subtraction": (
        "The best epoch lies `patience` epochs back only where training stopped. It may end without a stop.",
        lambda losses, patience: (_stopping(losses, patience)[1] - patience, _stopping(losses, patience)[1]),
    ),
    "loss for epoch": (
        "This is the lowest loss and not the number of its epoch.",
        lambda losses, patience: (losses[(right := _stopping(losses, patience))[0] - 1], right[1]),
    ),
}

check_early_stopping = Exercise(
    "early_stopping",
    difficulty=3,
    minutes=15,
    takes=("validation_losses", "patience"),
    returns=("best_epoch", "epochs_run"),
    reference=_stopping,
    cases=(
        Case("right where the loss falls and then rises", _double(0.9, 0.6, 0.4, 0.5, 0.7, 0.8, 0.9, 0.7), 2),
        Case("right where the loss never stops falling", _double(2.4, 1.6, 1.1, 0.6), 2),
        Case("right where a rise is passing", _double(0.9, 0.5, 0.6, 0.7, 0.4, 0.6, 0.5, 0.3, 0.7, 0.6), 3),
        Case("right where waiting longer would have helped", _double(0.9, 0.5, 0.7, 0.6, 0.4, 0.3), 2),
        Case("right where two losses are equal", _double(0.9, 0.5, 0.5, 0.6, 0.7, 0.4, 0.8), 3),
        Case("right for a patience of 1", _double(240, 180, 190, 120, 110), 1),
    ),
    trainable=False,
    mistakes=in_parts(_stopping, best=_BESTS, waited=_WAITS)
    | _OTHERWISE
    | swapped(_stopping, "best_epoch", "epochs_run"),
)

# --- experiment: the rate for a larger batch ------------------------------------------------------

_READ, _SMALL, _LARGE = 2000, 25, 100  # examples read in a training, and the two batch sizes
# Percent of the small batches' loss. Right rates come to 84 to 105, the nearest wrong ones to 127 and 138.
_AS_GOOD = 115


def _training(scale: float) -> Callable[[int, float], float]:
    """`train(batch_size, rate)`: a line learns from 2000 examples, and its loss on new ones is told.

    Inputs of another scale want another rate: no number is right for all.
    """
    source = generator(61)
    inputs = torch.randn(2 * _READ, 6, generator=source, dtype=torch.float64, device="cpu")
    noise = torch.randn(2 * _READ, generator=source, dtype=torch.float64, device="cpu")
    targets = inputs.sum(-1) + noise
    inputs = scale * inputs

    def train(batch_size: int, rate: float) -> float:
        weight = torch.zeros(6, dtype=torch.float64, device="cpu")
        for start in range(0, _READ, batch_size):
            x, y = inputs[start : start + batch_size], targets[start : start + batch_size]
            weight = weight - rate * 2 * x.T @ (x @ weight - y) / len(x)
        return float((inputs[_READ:] @ weight - targets[_READ:]).square().mean())

    return train


def _larger_rate(train: Callable[[int, float], float], rate: float) -> float:
    rates = [rate * 2 ** (step / 2) for step in range(-2, 9)]
    return min(rates, key=lambda each: train(_LARGE, each))


def _percent(choose: Part, rate: float, scale: float) -> Any:
    """The large batches' loss in percent of the small ones'. What is as good counts as as good."""
    train = _training(scale)
    chosen = choose(train, rate)
    if chosen is ...:
        return ...
    percent = 100 * train(_LARGE, float(chosen)) / train(_SMALL, rate)
    return max(_AS_GOOD, round(min(percent, 1000))) if math.isfinite(percent) else 1000


def _times(factor: float) -> Part:
    return lambda train, rate: factor * rate


check_larger_rate = Exercise(
    "larger_rate",
    difficulty=4,
    minutes=40,
    takes=("rate", "scale"),
    returns=("percent_of_the_loss",),
    reference=_larger_rate,
    ask=_percent,
    trainable=False,
    cases=(
        Case("as good where the small batches took short steps", 0.01, 1.0),
        Case("as good where the small batches took long steps", 0.003, 10.0),
    ),
    mistakes={
        "four times": (
            "You multiply by 4, as the batch, or by more. The linear scaling rule is right for short steps. "
            "Where they were long already it falls apart. Try several, and take what `train` tells you.",
            _times(4),
        ),
        "the same rate": (
            "You keep the rate. A quarter as many updates with steps as long as before don't get as far.",
            _times(1),
        ),
        "twice": (
            "You multiply by 2, the root of 4. Where the steps were short that is not far enough: measure.",
            _times(2),
        ),
        "a quarter": ("A larger batch has a better gradient: it can take longer steps.", _times(0.25)),
        "the worst": (
            "You take the rate with the highest loss: the lowest is the best.",
            lambda train, rate: max((rate * 2**step for step in range(-1, 4)), key=partial(train, _LARGE)),
        ),
        "far too large": (
            "With this rate both trainings fall apart. Do you return a rate, or the loss that it led to?",
            lambda train, rate: min(train(_LARGE, rate * 2**step) for step in range(5)),
        ),
    },
)
