"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import statistics

import torch

from bookkit.other_words import named
from chapters.is_it_noise.exercises import (
    check_honest_comparison,
    check_pair_interval,
    check_text_interval,
    check_worth_it,
)
from chapters.is_it_noise.exercises.worth_it import SPREAD, TRUTH, WIDEST

# --- pair_interval ---


def by_hand(first, second, factor):
    apart = [y - x for x, y in zip(first.tolist(), second.tolist(), strict=True)]
    half = factor * statistics.stdev(apart) / len(apart) ** 0.5
    return statistics.mean(apart) - half, statistics.mean(apart) + half


def by_covariance(first, second, factor):
    (one, both), (_, other) = torch.stack([first, second]).cov().tolist()
    error = ((one + other - 2 * both) / len(first)) ** 0.5
    middle = second.mean() - first.mean()
    return middle - factor * error, middle + factor * error


def in_one_row(first, second, factor):
    apart = second - first
    ends = torch.tensor([-factor, factor], dtype=apart.dtype)
    return torch.unbind(apart.mean() + ends * apart.std() / len(apart) ** 0.5)


# --- text_interval ---


def by_loop_of_text_interval(first, second, text, size, draws):
    found = []
    for draw in draws:
        bits = sum((second - first)[text == each].sum() for each in draw)
        found.append(bits / sum(size[each] for each in draw))
    found = torch.stack(found)
    return found.quantile(0.025), found.quantile(0.975)


def by_counts(first, second, text, size, draws):
    times = torch.stack([torch.bincount(draw, minlength=len(size)) for draw in draws]).double()
    of_text = torch.nn.functional.one_hot(text, len(size)).double()
    apart = times @ of_text.T @ (second - first) / (times @ size.double())
    return tuple(torch.quantile(apart, torch.tensor([0.025, 0.975]).double()))


def each_model_by_itself(first, second, text, size, draws):
    bits = [torch.zeros(len(size)).double().scatter_add(0, text, each) for each in (first, second)]
    ours, theirs = (each[draws].sum(-1) / size[draws].sum(-1) for each in bits)
    return torch.quantile(theirs - ours, 0.025), torch.quantile(theirs - ours, 0.975)


# --- honest_comparison ---


def by_loop_of_honest_comparison(validation, test):
    found = []
    for chosen_by, told in zip(validation, test, strict=True):
        means = [rate.mean().item() for rate in chosen_by]
        found.append(told[means.index(min(means))].mean())
    return found[0] - found[1]


def at_once(validation, test):
    rate = validation.mean(2).argmin(1)
    ours, theirs = test.mean(2)[torch.arange(2), rate]
    return ours - theirs


def a_number(validation, test):
    return float(by_loop_of_honest_comparison(validation, test))


# --- worth_it ---


def around(middle, half):
    return lambda: (middle - half, middle + half)


ACCEPTED = {
    check_pair_interval: named(by_hand, by_covariance, in_one_row),
    check_text_interval: named(by_loop_of_text_interval, by_counts, each_model_by_itself),
    check_honest_comparison: named(by_loop_of_honest_comparison, at_once, a_number),
    check_worth_it: {
        "as narrow as asked for": around(TRUTH, 0.49 * WIDEST),
        "a little beside": around(TRUTH + 0.3 * WIDEST, 0.4 * WIDEST),
        "of fifty pairs": around(TRUTH, 2 * SPREAD / 50**0.5),
        "in a tensor": lambda: torch.tensor([TRUTH - WIDEST / 4, TRUTH + WIDEST / 4]),
    },
}
