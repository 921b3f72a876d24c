"""“Epochs, batches, iterations”: the solutions, other right ways to write them, and unknown faults."""

import itertools
import math

import exercise_cases
import numpy as np
import torch
from exercise_cases import cases, changed, named

from chapters.epochs_batches_iterations.exercises import (
    ACCUMULATED_GRADIENT,
    EARLY_STOPPING,
    EPOCH_ITERATIONS,
    EPOCH_LOSS,
)

# --- the solutions, as the chapter gives them ---


def solved_count(examples, batch_size, drop_last, workers):
    if drop_last:
        return examples // workers // batch_size
    return math.ceil(math.ceil(examples / workers) / batch_size)


def solved_loss(batch_losses, batch_sizes):
    return (batch_losses * batch_sizes).sum() / batch_sizes.sum()


def broken_gradient(weight, inputs, targets, size):
    weight = weight.clone().requires_grad_()
    pieces = list(zip(inputs.split(size), targets.split(size), strict=True))
    for x, y in pieces:
        loss = (x @ weight - y).square().mean()
        (loss / len(pieces)).backward()
    return weight.grad


def solved_gradient(weight, inputs, targets, size):
    weight = weight.clone().requires_grad_()
    for x, y in zip(inputs.split(size), targets.split(size), strict=True):
        loss = (x @ weight - y).square().mean()
        (loss * len(x) / len(inputs)).backward()
    return weight.grad


def solved_stopping(validation_losses, patience):
    best_epoch, lowest = 0, math.inf
    for epoch, loss in enumerate(validation_losses.tolist(), start=1):
        if loss < lowest:
            best_epoch, lowest = epoch, loss
        elif epoch - best_epoch == patience:
            return best_epoch, epoch
    return best_epoch, len(validation_losses)


def test_the_broken_code_fails_and_the_cases_that_pass_are_the_clue():
    exercise_cases.assert_still_broken(ACCUMULATED_GRADIENT, broken_gradient, "✓✗✗✓✓")


# --- right, in other words ---


def counted(examples, batch_size, drop_last, workers):
    share = list(range(examples // workers if drop_last else -(-examples // workers)))
    batches = [share[start : start + batch_size] for start in range(0, len(share), batch_size)]
    return sum(len(batch) == batch_size or not drop_last for batch in batches)


def by_global_batch(examples, batch_size, drop_last, workers):
    each = batch_size * workers
    return examples // each if drop_last else (examples + each - 1) // each


def by_divmod(examples, batch_size, drop_last, workers):
    whole, rest = divmod(examples, batch_size * workers)
    return whole + (1 if rest and not drop_last else 0)


def by_tensor(examples, batch_size, drop_last, workers):
    quotient = torch.tensor(examples, dtype=torch.float64) / (batch_size * workers)
    return quotient.floor() if drop_last else quotient.ceil()


def by_loop(batch_losses, batch_sizes):
    total, count = 0.0, 0
    for loss, size in zip(batch_losses.tolist(), batch_sizes.tolist(), strict=True):
        total += loss * size
        count += size
    return total / count


def by_autograd(weight, inputs, targets, size):
    leaf = weight.clone().requires_grad_()
    total = 0
    for x, y in zip(inputs.split(size), targets.split(size), strict=True):
        total = total + (x @ leaf - y).square().sum()
    return torch.autograd.grad(total / len(inputs), leaf)[0]


def summed_and_divided_after(weight, inputs, targets, size):
    weight = weight.clone().requires_grad_()
    for start in range(0, len(inputs), size):
        (inputs[start : start + size] @ weight - targets[start : start + size]).square().sum().backward()
    return weight.grad / len(inputs)


def by_hand(weight, inputs, targets, size):
    total = torch.zeros_like(weight)
    for x, y in zip(inputs.split(size), targets.split(size), strict=True):
        total += 2 * x.T @ (x @ weight - y)
    return total / len(inputs)


def with_a_counter(validation_losses, patience):
    best, lowest, waited, run = 0, math.inf, 0, 0
    for loss in validation_losses:
        run += 1
        if loss < lowest:
            best, lowest, waited = run, loss, 0
        else:
            waited += 1
        if waited == patience:
            break
    return best, run


def by_slices(validation_losses, patience):
    losses = validation_losses.tolist()
    for run in range(1, len(losses) + 1):
        best = losses.index(min(losses[:run])) + 1
        if run - best >= patience:
            return best, run
    return best, run


def as_tensors(validation_losses, patience):
    return tuple(torch.tensor(number) for number in solved_stopping(validation_losses, patience))


COUNTS = named(solved_count, counted, by_global_batch, by_divmod, by_tensor)
LOSSES = named(solved_loss, by_loop) | {
    "@": lambda batch_losses, batch_sizes: (batch_losses @ batch_sizes) / batch_sizes.sum(),
    "numpy": lambda batch_losses, batch_sizes: np.average(batch_losses.numpy(), weights=batch_sizes.numpy()),
    "dot": lambda batch_losses, batch_sizes: torch.dot(batch_losses, batch_sizes / batch_sizes.sum()).item(),
}
GRADIENTS = named(solved_gradient, by_autograd, summed_and_divided_after, by_hand)
STOPS = named(solved_stopping, with_a_counter, by_slices, as_tensors)


@cases(
    (EPOCH_ITERATIONS, COUNTS),
    (EPOCH_LOSS, LOSSES),
    (ACCUMULATED_GRADIENT, GRADIENTS),
    (EARLY_STOPPING, STOPS),
)
def test_right_code_is_accepted(exercise, code):
    exercise_cases.assert_accepted(exercise, code)


# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN_COUNTS = {
    "always 4": lambda *inputs: 4,
    "negative": changed(solved_count, lambda count: -count),
    "doubled": changed(solved_count, lambda count: 2 * count),
    "one less": changed(solved_count, lambda count: count - 1),
    "not whole": changed(solved_count, lambda count: count + 0.25),
    "workers added": lambda examples, batch_size, drop_last, workers: solved_count(
        examples, batch_size + workers - 1, drop_last, 1
    ),
    "drop_last for the shares alone": lambda examples, batch_size, drop_last, workers: math.ceil(
        examples // workers / batch_size
    ),
}
UNKNOWN_LOSSES = {
    "median": lambda batch_losses, batch_sizes: batch_losses.median(),
    "largest": lambda batch_losses, batch_sizes: batch_losses.max(),
    "first": lambda batch_losses, batch_sizes: batch_losses[0],
    "halved": changed(solved_loss, lambda loss: loss / 2),
    "rounded": changed(solved_loss, lambda loss: round(float(loss))),
    "root of the sizes": lambda batch_losses, batch_sizes: solved_loss(batch_losses, batch_sizes.sqrt()),
    "short batches left out": lambda batch_losses, batch_sizes: batch_losses[
        batch_sizes == batch_sizes.max()
    ].mean(),
}
UNKNOWN_GRADIENTS = {
    "halved": changed(solved_gradient, lambda gradient: gradient / 2),
    "first piece alone": lambda weight, inputs, targets, size: solved_gradient(
        weight, inputs[:size], targets[:size], size
    ),
    "last example forgotten": lambda weight, inputs, targets, size: solved_gradient(
        weight, inputs[:-1], targets[:-1], size
    ),
    "the new weight": lambda weight, inputs, targets, size: (
        weight - 0.1 * solved_gradient(weight, inputs, targets, size)
    ),
    "normalised": changed(solved_gradient, lambda gradient: gradient / gradient.norm()),
    "of the absolute error": lambda weight, inputs, targets, size: (
        inputs.T @ (inputs @ weight - targets).sign() / len(inputs)
    ),
    "a step after each piece": lambda weight, inputs, targets, size: torch.stack(
        list(itertools.accumulate([weight] * 2, lambda w, _: w - solved_gradient(w, inputs, targets, 2)))
    )[-1],
}
UNKNOWN_STOPS = {
    "always the first": lambda validation_losses, patience: (1, 1),
    "best and patience": lambda validation_losses, patience: (
        solved_stopping(validation_losses, patience)[0],
        patience,
    ),
    "best and patience after it": changed(solved_stopping, lambda answer: (answer[0], answer[0] + 2)),
    "last three alone": lambda validation_losses, patience: solved_stopping(validation_losses[-3:], patience),
    "epochs after the best": changed(solved_stopping, lambda answer: (answer[0], answer[1] - answer[0])),
    "both halved": changed(solved_stopping, lambda answer: (answer[0] / 2, answer[1] / 2)),
}


@cases(
    (EPOCH_ITERATIONS, UNKNOWN_COUNTS),
    (EPOCH_LOSS, UNKNOWN_LOSSES),
    (ACCUMULATED_GRADIENT, UNKNOWN_GRADIENTS),
    (EARLY_STOPPING, UNKNOWN_STOPS),
)
def test_a_fault_that_no_catalogue_holds_is_rejected_and_given_no_wrong_name(exercise, code):
    exercise_cases.assert_rejected_without_a_name(exercise, code)
