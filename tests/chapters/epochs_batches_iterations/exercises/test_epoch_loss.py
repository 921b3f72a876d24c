"""The exercise `epoch_loss`, tried as readers would."""

from itertools import accumulate

import numpy as np
from exercise_cases import changed, judged_as, named

from chapters.epochs_batches_iterations.exercises import (
    check_epoch_loss,
)

loss_of = check_epoch_loss.reference


def running(batch_losses, batch_sizes):
    mean, read = 0.0, 0
    for loss, size in zip(batch_losses.tolist(), batch_sizes.tolist(), strict=True):
        read += size
        mean += (loss - mean) * size / read
    return mean


RIGHT = {
    check_epoch_loss: named(running)
    | {
        "each example's loss": lambda losses, sizes: losses.repeat_interleave(sizes).mean(),
        "@ shares": lambda losses, sizes: losses @ (sizes / sizes.sum()).double(),
        "numpy": lambda losses, sizes: np.average(losses.numpy(), weights=sizes.numpy()),
    }
}


NAMED = {
    check_epoch_loss: {
        "mean of means": lambda losses, sizes: sum(losses) / len(losses),
        "losses taken for sums": lambda losses, sizes: losses.sum() / sizes.sum(),
        "divided by the batches": lambda losses, sizes: (losses @ sizes.double()) / len(sizes),
        "divided by full batches": lambda losses, sizes: (losses * sizes).sum() / sizes[0] / len(sizes),
        "short batches left out": lambda losses, sizes: losses[sizes == sizes[0]].mean(),
        "half for the latest": lambda losses, sizes: [
            *accumulate(losses, lambda mean, loss: (mean + loss) / 2)
        ][-1],
    }
}


UNKNOWN = {
    check_epoch_loss: {
        "median": lambda losses, sizes: losses.median(),
        "halved": changed(loss_of, lambda loss: loss / 2),
        "rounded": changed(loss_of, lambda loss: round(float(loss))),
        "root of the sizes": lambda losses, sizes: loss_of(losses, sizes.sqrt()),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
