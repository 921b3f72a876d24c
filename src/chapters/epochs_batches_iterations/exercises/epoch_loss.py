"""Compute the loss of an epoch from those of its batches."""

import functools

from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from chapters.epochs_batches_iterations.exercises.doubles import _double


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
