"""The exercise `honest_comparison`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as, named

from chapters.is_it_noise.exercises import check_honest_comparison


def broken(validation, test):
    """The notebook's."""
    ours = test[0].min()
    theirs = test[1, test.shape[1] // 2].mean()
    return ours - theirs


def by_loop(validation, test):
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
    return float(by_loop(validation, test))


def side(by, told, own=None):
    """What one side reports, by the rate that it chooses; or at a rate of its `own`."""
    return told[by.mean(1).argmin() if own is None else own]


RIGHT = {check_honest_comparison: named(by_loop, at_once, a_number)}
NAMED = {
    check_honest_comparison: {
        "still broken": broken,
        "chosen by test text": lambda validation, test: by_loop(test, test),
        "a rate by its best seed": lambda validation, test: by_loop(validation.amin(2, keepdim=True), test),
        "the best seed of each": lambda validation, test: (
            side(validation[0], test[0]).min() - side(validation[1], test[1]).min()
        ),
        "medians": lambda validation, test: (
            side(validation[0], test[0]).median() - side(validation[1], test[1]).median()
        ),
        "the first seed": lambda validation, test: (
            side(validation[0], test[0])[0] - side(validation[1], test[1])[0]
        ),
        "theirs minus ours": changed(at_once, torch.neg),
        "reported on validation text": lambda validation, test: by_loop(validation, validation),
        "theirs has no choice": lambda validation, test: (
            side(validation[0], test[0]).mean() - test[1, test.shape[1] // 2].mean()
        ),
        "our best seed": lambda validation, test: (
            side(validation[0], test[0]).min() - side(validation[1], test[1]).mean()
        ),
        "the best run by validation": lambda validation, test: (
            test[0].flatten()[validation[0].argmin()] - test[1].flatten()[validation[1].argmin()]
        ),
        "our rate for both": lambda validation, test: (
            test[0, validation[0].mean(1).argmin()] - test[1, validation[0].mean(1).argmin()]
        ).mean(),
        "the mean over all rates": lambda validation, test: test[0].mean() - test[1].mean(),
    }
}
UNKNOWN = {
    check_honest_comparison: {
        "nothing": lambda validation, test: torch.zeros(()).double(),
        "a hundredth more": changed(at_once, lambda found: found + 0.01),
        "the worst seeds": lambda validation, test: test[0].max() - test[1].max(),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_broken_one_is_right_only_where_there_is_nothing_to_choose():
    exercise_cases.assert_still_broken(check_honest_comparison, broken, "✓✗✗✗✗")
