"""The exercise `early_stopping`, tried as readers would."""

import math
import operator

import numpy as np
import torch
from exercise_cases import changed, judged_as, named

from chapters.epochs_batches_iterations.exercises import (
    check_early_stopping,
)

stopping = check_early_stopping.reference


def with_a_counter(validation_losses, patience):
    best, lowest, waited, run = 0, math.inf, 0, 0
    for loss in validation_losses:
        run += 1
        best, lowest, waited = (run, loss, 0) if loss < lowest else (best, lowest, waited + 1)
        if waited == patience:
            break
    return [best, run]


def by_numpy(validation_losses, patience):
    losses = validation_losses.numpy()
    before = np.minimum.accumulate(np.concatenate([[np.inf], losses[:-1]]))
    epochs = np.arange(1, len(losses) + 1)
    best = np.maximum.accumulate(np.where(losses < before, epochs, 0))
    last = next(iter(np.flatnonzero(epochs - best >= patience)), len(losses) - 1)
    return best[last], epochs[last]


def stopping_by(is_better, is_over=lambda waited, patience: waited == patience, lowest=math.inf, count=True):
    """A loop that asks `is_better(loss, lowest)`; `count` says whether a new best sets the count back."""

    def code(validation_losses, patience):
        best, least, waited = 0, lowest, 0
        for epoch, loss in enumerate(validation_losses.tolist(), start=1):
            if is_better(loss, least):
                best, least, waited = epoch, loss, 0 if count else waited
            else:
                waited += 1
            if is_over(waited, patience):
                return best, epoch
        return best, len(validation_losses)

    return code


def against_the_one_before(validation_losses, patience):
    best, lowest, previous, waited = 0, math.inf, math.inf, 0
    for epoch, loss in enumerate(validation_losses.tolist(), start=1):
        if loss < lowest:
            best, lowest = epoch, loss
        waited, previous = 0 if loss < previous else waited + 1, loss
        if waited == patience:
            return best, epoch
    return best, len(validation_losses)


def looking_ahead(validation_losses, patience):
    best = validation_losses.argmin().item() + 1
    return best, min(best + patience, len(validation_losses))


RIGHT = {
    check_early_stopping: named(with_a_counter, by_numpy)
    | {"tensors": changed(stopping, lambda right: tuple(map(torch.tensor, right)))}
}


NAMED = {
    check_early_stopping: {
        "equal counts as better": stopping_by(operator.le),
        "waits for a rise": against_the_one_before,
        "never reset": stopping_by(operator.lt, count=False),
        "one epoch too patient": stopping_by(operator.lt, lambda waited, patience: waited > patience),
        "lowest begins at 1": stopping_by(operator.lt, lowest=1.0),
        "looks ahead": looking_ahead,
        "best by subtraction": lambda *inputs: (stopping(*inputs)[1] - inputs[1], stopping(*inputs)[1]),
        "constant difference": changed(stopping, lambda right: (right[0], right[1] - 1)),
    }
}


UNKNOWN = {
    check_early_stopping: {
        "best and patience after it": changed(stopping, lambda right: (right[0], right[0] + 2)),
        "last three alone": lambda validation_losses, patience: stopping(validation_losses[-3:], patience),
        "epochs after the best": changed(stopping, lambda right: (right[0], right[1] - right[0])),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
