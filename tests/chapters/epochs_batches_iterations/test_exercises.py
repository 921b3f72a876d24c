"""“Epochs, batches, iterations”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import itertools
import math

import exercise_cases
import numpy as np
import torch
from exercise_cases import changed, judged_as, named
from torch.utils.data import DataLoader, DistributedSampler

from chapters.epochs_batches_iterations.exercises import (
    check_accumulated_gradient,
    check_early_stopping,
    check_epoch_iterations,
    check_epoch_loss,
)

count, loss_of = check_epoch_iterations.reference, check_epoch_loss.reference
gradient_of, stopping = check_accumulated_gradient.reference, check_early_stopping.reference


def backwards(weigh):
    """A gradient accumulated by `backward`, each micro-batch's loss times what `weigh` says."""

    def gradient(weight, inputs, targets, size):
        weight = weight.clone().requires_grad_()
        pieces = list(zip(inputs.split(size), targets.split(size), strict=True))
        for x, y in pieces:
            loss = (x @ weight - y).square().mean()
            (loss * weigh(len(x), len(inputs), size, len(pieces))).backward()
        return weight.grad

    return gradient


def test_the_broken_code_fails_and_the_cases_that_pass_are_the_clue():
    broken = backwards(lambda own, every, size, pieces: 1 / pieces)
    exercise_cases.assert_still_broken(check_accumulated_gradient, broken, "✓✗✗✓✓")


# --- right, in other words ---


def by_divmod(examples, batch_size, drop_last, workers):
    whole, rest = divmod(examples, batch_size * workers)
    return np.int64(whole + (1 if rest and not drop_last else 0))


def by_tensor(examples, batch_size, drop_last, workers):
    quotient = torch.tensor(examples, dtype=torch.float64) / (batch_size * workers)
    return (quotient.floor() if drop_last else quotient.ceil()).int()


def by_loader(examples, batch_size, drop_last, workers):
    data = range(examples)
    sampler = DistributedSampler(data, workers, rank=workers - 1, drop_last=drop_last)
    return len(DataLoader(data, batch_size, sampler=sampler, drop_last=drop_last))


def running_mean(batch_losses, batch_sizes):
    mean, read = 0.0, 0
    for loss, size in zip(batch_losses.tolist(), batch_sizes.tolist(), strict=True):
        read += size
        mean += (loss - mean) * size / read
    return mean


def by_autograd(weight, inputs, targets, size):
    leaf = weight.clone().requires_grad_()
    pieces = zip(inputs.split(size), targets.split(size), strict=True)
    total = sum((x @ leaf - y).square().sum() for x, y in pieces)
    return torch.autograd.grad(total / len(inputs), leaf)[0]


def by_func(weight, inputs, targets, size):
    def error(weight, x, y):
        return torch.nn.functional.mse_loss(x @ weight, y)

    pieces = zip(reversed(inputs.split(size)), reversed(targets.split(size)), strict=True)
    parts = [torch.func.grad(error)(weight, x, y) * (len(x) / len(inputs)) for x, y in pieces]
    return torch.stack(parts).sum(0)


def without_a_loop(validation_losses, patience):
    losses = validation_losses.numpy()
    before = np.minimum.accumulate(np.concatenate([[np.inf], losses[:-1]]))
    epochs = np.arange(1, len(losses) + 1)
    best = np.maximum.accumulate(np.where(losses < before, epochs, 0))
    stops = np.flatnonzero(epochs - best >= patience)
    last = stops[0] if len(stops) else len(losses) - 1
    return best[last], epochs[last]


class Stopper:
    def __init__(self, patience):
        self.patience, self.best, self.lowest, self.epoch, self.bad = patience, 0, None, 0, 0

    def __call__(self, loss):
        self.epoch, self.bad = self.epoch + 1, self.bad + 1
        if self.lowest is None or loss < self.lowest:
            self.best, self.lowest, self.bad = self.epoch, loss, 0
        return self.bad < self.patience


def by_a_class(validation_losses, patience):
    stopper = Stopper(patience)
    for _ in itertools.takewhile(stopper, validation_losses):
        pass
    return torch.tensor(stopper.best), torch.tensor(stopper.epoch)


RIGHT = {
    check_epoch_iterations: named(by_divmod, by_tensor, by_loader)
    | {"one division": lambda n, b, drop, w: n // (b * w) if drop else -(-n // (b * w))},
    check_epoch_loss: named(running_mean)
    | {
        "each example's loss": lambda losses, sizes: losses.repeat_interleave(sizes).mean(),
        "dot with shares": lambda losses, sizes: losses @ (sizes.to(losses.dtype) / sizes.sum()),
        "numpy": lambda losses, sizes: np.average(losses.numpy(), weights=sizes.numpy()),
    },
    check_accumulated_gradient: named(by_autograd, by_func)
    | {
        "backward": backwards(lambda own, every, size, pieces: own / every),
        "in closed form": lambda weight, x, y, size: 2 * x.mT @ (x @ weight - y) / y.numel(),
    },
    check_early_stopping: named(without_a_loop, by_a_class),
}

# --- what learners do ---


def zeroed_in_the_loop(weight, inputs, targets, size):
    weight = weight.clone().requires_grad_()
    for x, y in zip(inputs.split(size), targets.split(size), strict=True):
        weight.grad = None
        ((x @ weight - y).square().mean() * len(x) / len(inputs)).backward()
    return weight.grad


def not_cloned(weight, inputs, targets, size):
    weight.requires_grad_()
    ((inputs @ weight - targets).square().mean()).backward()
    return weight.grad


def mean_of_two(batch_losses, batch_sizes):
    mean = batch_losses[0]
    for loss in batch_losses[1:]:
        mean = (mean + loss) / 2
    return mean


def never_reset(validation_losses, patience):
    best, lowest, waited = 0, math.inf, 0
    for epoch, loss in enumerate(validation_losses.tolist(), start=1):
        if loss < lowest:
            best, lowest = epoch, loss
        elif (waited := waited + 1) == patience:
            return best, epoch
    return best, len(validation_losses)


def since_the_last_fall(validation_losses, patience):
    best, lowest, previous, waited = 0, math.inf, math.inf, 0
    for epoch, loss in enumerate(validation_losses.tolist(), start=1):
        if loss < lowest:
            best, lowest = epoch, loss
        waited = 0 if loss < previous else waited + 1
        previous = loss
        if waited == patience:
            return best, epoch
    return best, len(validation_losses)


def ahead(validation_losses, patience):
    best = int(validation_losses.argmin()) + 1
    return best, min(best + patience, len(validation_losses))


NAMED = {
    check_epoch_iterations: {
        "share rounded up": lambda n, b, drop, w: (-(-n // w)) // b if drop else math.ceil(-(-n // w) / b),
        "share rounded down": lambda n, b, drop, w: n // w // b if drop else math.ceil(n // w / b),
        "always one more": lambda n, b, drop, w: n // (w * b) if drop else n // (w * b) + 1,
        "batches of all workers": lambda n, b, drop, w: count(n, b, drop, w) * w,
        "at least one": lambda n, b, drop, w: max(1, n // w // b) if drop else count(n, b, drop, w),
        "workers ignored": lambda n, b, drop, w: n // b if drop else math.ceil(n / b),
    },
    check_epoch_loss: {
        "mean with the next": mean_of_two,
        "mean of means": lambda losses, sizes: losses.sum() / len(losses),
        "divided by full batches": lambda losses, sizes: losses @ sizes.double() / sizes[0] / len(sizes),
        "short batches left out": lambda losses, sizes: losses[sizes == sizes[0]].mean().item(),
    },
    check_accumulated_gradient: {
        "divided by the examples": backwards(lambda own, every, size, pieces: 1 / every),
        "every micro-batch as if full": backwards(lambda own, every, size, pieces: min(size, every) / every),
        "share of the size, and the mean": backwards(lambda own, every, size, pieces: own / size / pieces),
        "changes its inputs": not_cloned,
        "the last batch's share alone": zeroed_in_the_loop,
        "sign reversed": changed(gradient_of, torch.neg),
    },
    check_early_stopping: {
        "since the last fall": since_the_last_fall,
        "never reset": never_reset,
        "one epoch too patient": lambda losses, patience: stopping(losses, patience + 1),
        "stops after the best of all": ahead,
        "best by subtraction": lambda losses, patience: (
            stopping(losses, patience)[1] - patience,
            stopping(losses, patience)[1],
        ),
        "constant difference": changed(stopping, lambda answer: (answer[0] - 1, answer[1])),
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_epoch_iterations: {
        "always 4": lambda *inputs: 4,
        "one less": changed(count, lambda updates: updates - 1),
        "not whole": changed(count, lambda updates: updates + 0.25),
    },
    check_epoch_loss: {
        "median": lambda losses, sizes: losses.median(),
        "halved": changed(loss_of, lambda loss: loss / 2),
        "root of the sizes": lambda losses, sizes: loss_of(losses, sizes.sqrt()),
    },
    check_accumulated_gradient: {
        "first piece alone": lambda w, x, y, size: gradient_of(w, x[:size], y[:size], size),
        "last example forgotten": lambda w, x, y, size: gradient_of(w, x[:-1], y[:-1], size),
        "of the absolute error": lambda w, x, y, size: x.T @ (x @ w - y).sign() / len(x),
    },
    check_early_stopping: {
        "always the first": lambda losses, patience: (1, 1),
        "best and patience": lambda losses, patience: (stopping(losses, patience)[0], patience),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
