"""“Epochs, batches, iterations”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import math
import operator
from itertools import accumulate

import exercise_cases
import numpy as np
import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler

from chapters.epochs_batches_iterations.exercises import (
    check_accumulated_gradient,
    check_early_stopping,
    check_epoch_iterations,
    check_epoch_loss,
    check_larger_rate,
)

iterations, loss_of = check_epoch_iterations.reference, check_epoch_loss.reference
gradient_of, stopping = check_accumulated_gradient.reference, check_early_stopping.reference


def accumulating(weigh):
    """Each micro-batch's loss times `weigh(own, examples, size, pieces)`."""

    def gradient(weight, inputs, targets, size):
        weight = weight.clone().requires_grad_()
        pieces = list(zip(inputs.split(size), targets.split(size), strict=True))
        for x, y in pieces:
            (F.mse_loss(x @ weight, y) * weigh(len(x), len(inputs), size, len(pieces))).backward()
        return weight.grad

    return gradient


def test_the_broken_code_fails_and_the_cases_that_pass_are_the_clue():
    broken = accumulating(lambda own, examples, size, pieces: 1 / pieces)
    exercise_cases.assert_still_broken(check_accumulated_gradient, broken, "✓✗✗✓✓")


# --- right, in other words ---


def by_divmod(examples, batch_size, drop_last, workers):
    whole, rest = divmod(examples, batch_size * workers)
    return np.int64(whole + (1 if rest and not drop_last else 0))


def by_loader(examples, batch_size, drop_last, workers):
    sampler = DistributedSampler(range(examples), workers, rank=workers - 1, drop_last=drop_last)
    return len(DataLoader(range(examples), batch_size, sampler=sampler, drop_last=drop_last))


def running(batch_losses, batch_sizes):
    mean, read = 0.0, 0
    for loss, size in zip(batch_losses.tolist(), batch_sizes.tolist(), strict=True):
        read += size
        mean += (loss - mean) * size / read
    return mean


def last_piece_first(weight, inputs, targets, size):
    leaf, total = weight.clone().requires_grad_(), 0
    for x, y in zip(reversed(inputs.split(size)), reversed(targets.split(size)), strict=True):
        total = total + torch.autograd.grad(F.mse_loss(x @ leaf, y, reduction="sum"), leaf)[0]
    return total / targets.numel()


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


def by_halves(train, rate):
    """From far too long a step downwards, until the loss rises again."""
    rate, loss = 16 * rate, math.inf
    while (shorter := train(100, rate / 2)) < loss or not math.isfinite(loss):
        rate, loss = rate / 2, shorter
    return rate


def by_golden_section(train, rate):
    low, high = math.log(rate / 4), math.log(16 * rate)
    for _ in range(20):
        a, b = high - 0.618 * (high - low), low + 0.618 * (high - low)
        left, right = (train(100, math.exp(point)) for point in (a, b))
        low, high = (low, b) if left <= right or not math.isfinite(right) else (a, high)
    return torch.tensor(math.exp((low + high) / 2))


def as_good_as_the_small(train, rate):
    wanted = train(25, rate)
    return next(rate * factor for factor in (1, 2, 4, 8) if train(100, rate * factor) < 1.1 * wanted)


RIGHT = {
    check_larger_rate: named(by_halves, by_golden_section, as_good_as_the_small),
    check_epoch_iterations: named(by_divmod, by_loader),
    check_epoch_loss: named(running)
    | {
        "each example's loss": lambda losses, sizes: losses.repeat_interleave(sizes).mean(),
        "@ shares": lambda losses, sizes: losses @ (sizes / sizes.sum()).double(),
        "numpy": lambda losses, sizes: np.average(losses.numpy(), weights=sizes.numpy()),
    },
    check_accumulated_gradient: named(last_piece_first),
    check_early_stopping: named(with_a_counter, by_numpy)
    | {"tensors": changed(stopping, lambda right: tuple(map(torch.tensor, right)))},
}

# --- as learners got it wrong ---


def rounded(share):
    """Iterations of `share(examples, workers)`."""

    def code(examples, batch_size, drop_last, workers):
        own = share(examples, workers)
        return own // batch_size if drop_last else math.ceil(own / batch_size)

    return code


def short_one_skipped(weight, inputs, targets, size):
    weight, size = weight.clone().requires_grad_(), min(size, len(inputs))
    for x, y in zip(inputs.split(size), targets.split(size), strict=True):
        if len(x) == size:
            ((x @ weight - y).square().mean() / (len(inputs) // size)).backward()
    return weight.grad


def not_cloned(weight, inputs, targets, size):
    (inputs @ weight.requires_grad_() - targets).square().mean().backward()
    return weight.grad


def zeroed_in_the_loop(weight, inputs, targets, size):
    weight = weight.clone().requires_grad_()
    for x, y in zip(inputs.split(size), targets.split(size), strict=True):
        weight.grad = None
        ((x @ weight - y).square().mean() * len(x) / len(inputs)).backward()
    return weight.grad


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


NAMED = {
    check_larger_rate: {
        "four times": lambda train, rate: rate * 100 / 25,
        "the same rate": lambda train, rate: rate,
        "twice": lambda train, rate: rate * math.sqrt(4),
        "a quarter": lambda train, rate: rate / 4,
        "far too large": lambda train, rate: min(train(100, rate * 2**step) for step in range(5)),
    },
    check_epoch_iterations: {
        "share rounded up": rounded(lambda examples, workers: math.ceil(examples / workers)),
        "share rounded down": rounded(lambda examples, workers: examples // workers),
        "workers ignored": rounded(lambda examples, workers: examples),
        "always one more": lambda n, b, drop, w: n // (w * b) if drop else n // (w * b) + 1,
        "batches of all workers": lambda n, b, drop, w: w * (n // w // b if drop else math.ceil(n / w / b)),
        "at least one": lambda n, b, drop, w: max(1, n // w // b) if drop else -(-n // (w * b)),
    },
    check_epoch_loss: {
        "mean of means": lambda losses, sizes: sum(losses) / len(losses),
        "losses taken for sums": lambda losses, sizes: losses.sum() / sizes.sum(),
        "divided by the batches": lambda losses, sizes: (losses @ sizes.double()) / len(sizes),
        "divided by full batches": lambda losses, sizes: (losses * sizes).sum() / sizes[0] / len(sizes),
        "short batches left out": lambda losses, sizes: losses[sizes == sizes[0]].mean(),
        "half for the latest": lambda losses, sizes: [
            *accumulate(losses, lambda mean, loss: (mean + loss) / 2)
        ][-1],
    },
    check_accumulated_gradient: {
        "divided by the examples": accumulating(lambda own, examples, size, pieces: 1 / examples),
        "the last as if full": accumulating(lambda own, every, size, pieces: min(size, every) / every),
        "share of the size, and the mean": accumulating(lambda own, n, size, pieces: own / size / pieces),
        "short batch left out": short_one_skipped,
        "changes its inputs": not_cloned,
        "the last batch's share alone": zeroed_in_the_loop,
        "sign reversed": changed(gradient_of, torch.neg),
    },
    check_early_stopping: {
        "equal counts as better": stopping_by(operator.le),
        "waits for a rise": against_the_one_before,
        "never reset": stopping_by(operator.lt, count=False),
        "one epoch too patient": stopping_by(operator.lt, lambda waited, patience: waited > patience),
        "lowest begins at 1": stopping_by(operator.lt, lowest=1.0),
        "looks ahead": looking_ahead,
        "best by subtraction": lambda *inputs: (stopping(*inputs)[1] - inputs[1], stopping(*inputs)[1]),
        "constant difference": changed(stopping, lambda right: (right[0], right[1] - 1)),
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_larger_rate: {
        "three times": lambda train, rate: 3 * rate,
        "a rate of its own": lambda train, rate: 0.005,
    },
    check_epoch_iterations: {
        "always 4": lambda *inputs: 4,
        "not whole": changed(iterations, lambda count: count + 0.25),
        "workers added": lambda n, b, drop, w: iterations(n, b + w - 1, drop),
        "drop_last for the shares alone": lambda n, b, drop, w: math.ceil(n // w / b),
    },
    check_epoch_loss: {
        "median": lambda losses, sizes: losses.median(),
        "halved": changed(loss_of, lambda loss: loss / 2),
        "rounded": changed(loss_of, lambda loss: round(float(loss))),
        "root of the sizes": lambda losses, sizes: loss_of(losses, sizes.sqrt()),
    },
    check_accumulated_gradient: {
        "first piece alone": lambda weight, x, y, size: gradient_of(weight, x[:size], y[:size], size),
        "last example forgotten": lambda weight, x, y, size: gradient_of(weight, x[:-1], y[:-1], size),
        "the new weight": lambda weight, *others: weight - 0.1 * gradient_of(weight, *others),
    },
    check_early_stopping: {
        "best and patience after it": changed(stopping, lambda right: (right[0], right[0] + 2)),
        "last three alone": lambda validation_losses, patience: stopping(validation_losses[-3:], patience),
        "epochs after the best": changed(stopping, lambda right: (right[0], right[1] - right[0])),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
