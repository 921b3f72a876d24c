"""The exercise `accumulated_gradient`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from chapters.epochs_batches_iterations.exercises import (
    check_accumulated_gradient,
)

gradient_of = check_accumulated_gradient.reference


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


def last_piece_first(weight, inputs, targets, size):
    leaf, total = weight.clone().requires_grad_(), 0
    for x, y in zip(reversed(inputs.split(size)), reversed(targets.split(size)), strict=True):
        total = total + torch.autograd.grad(F.mse_loss(x @ leaf, y, reduction="sum"), leaf)[0]
    return total / targets.numel()


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


RIGHT = {check_accumulated_gradient: named(last_piece_first)}


NAMED = {
    check_accumulated_gradient: {
        "divided by the examples": accumulating(lambda own, examples, size, pieces: 1 / examples),
        "the last as if full": accumulating(lambda own, every, size, pieces: min(size, every) / every),
        "share of the size, and the mean": accumulating(lambda own, n, size, pieces: own / size / pieces),
        "short batch left out": short_one_skipped,
        "changes its inputs": not_cloned,
        "the last batch's share alone": zeroed_in_the_loop,
        "sign reversed": changed(gradient_of, torch.neg),
    }
}


UNKNOWN = {
    check_accumulated_gradient: {
        "first piece alone": lambda weight, x, y, size: gradient_of(weight, x[:size], y[:size], size),
        "last example forgotten": lambda weight, x, y, size: gradient_of(weight, x[:-1], y[:-1], size),
        "the new weight": lambda weight, *others: weight - 0.1 * gradient_of(weight, *others),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
