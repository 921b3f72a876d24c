"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import numpy as np
import torch
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler

from bookkit.other_words import changed, named
from chapters.epochs_batches_iterations.exercises import (
    check_accumulated_gradient,
    check_early_stopping,
    check_epoch_iterations,
    check_epoch_loss,
    check_larger_rate,
)

# --- epoch_iterations ---


def by_divmod(examples, batch_size, drop_last, workers):
    whole, rest = divmod(examples, batch_size * workers)
    return np.int64(whole + (1 if rest and not drop_last else 0))


def by_loader(examples, batch_size, drop_last, workers):
    sampler = DistributedSampler(range(examples), workers, rank=workers - 1, drop_last=drop_last)
    return len(DataLoader(range(examples), batch_size, sampler=sampler, drop_last=drop_last))


# --- epoch_loss ---


def running(batch_losses, batch_sizes):
    mean, read = 0.0, 0
    for loss, size in zip(batch_losses.tolist(), batch_sizes.tolist(), strict=True):
        read += size
        mean += (loss - mean) * size / read
    return mean


# --- accumulated_gradient ---


def last_piece_first(weight, inputs, targets, size):
    leaf, total = weight.clone().requires_grad_(), 0
    for x, y in zip(reversed(inputs.split(size)), reversed(targets.split(size)), strict=True):
        total = total + torch.autograd.grad(F.mse_loss(x @ leaf, y, reduction="sum"), leaf)[0]
    return total / targets.numel()


# --- early_stopping ---


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


# --- larger_rate ---


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


ACCEPTED = {
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
    check_larger_rate: named(by_halves, by_golden_section, as_good_as_the_small),
}
