"""The exercise `repaired_convolution`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as
from torch.nn import functional as F

from chapters.three_ways_to_read_a_sequence.exercises import (
    check_repaired_convolution,
)


def broken_convolution(x, weight, dilation):
    margin = (len(weight) - 1) * dilation // 2
    return padded_with(x, weight, dilation, margin, margin)


def padded_with(x, weight, dilation, before, after=0):
    """The chapter's loop, with other padding."""
    length = x.shape[-2]
    padded = F.pad(x, (0, 0, before, after))
    output = 0
    for place in range(len(weight)):
        begin = place * dilation
        output = output + padded[..., begin : begin + length, :] @ weight[place]
    return output


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_convolution, broken_convolution, "✓✗✗✗")


def test_a_fault_of_the_window_is_not_told_as_one_of_the_batch():
    turned = UNKNOWN[check_repaired_convolution]["round the corner"]
    assert check_repaired_convolution.judge(turned).mistake is None


def by_conv1d(x, weight, dilation):
    reach = (len(weight) - 1) * dilation
    alone = x.dim() == 2
    turned = F.pad(x[None].mT if alone else x.mT, (reach, 0))
    made = F.conv1d(turned, weight.permute(2, 1, 0), dilation=dilation).mT
    return made[0] if alone else made


def word_by_word(x, weight, dilation):
    rows = []
    for word in range(x.shape[-2]):
        total = torch.zeros_like(x[..., 0, :])
        for place, matrix in enumerate(weight):
            read = word - (len(weight) - 1 - place) * dilation
            if read >= 0:
                total = total + x[..., read, :] @ matrix
        rows.append(total)
    return torch.stack(rows, -2)


def in_full_on_both_sides(x, weight, dilation):
    """What stands after the last word is never read."""
    reach = (len(weight) - 1) * dilation
    return padded_with(x, weight, dilation, reach, reach)


RIGHT = {
    check_repaired_convolution: {
        "conv1d": by_conv1d,
        "word by word": word_by_word,
        "in full on both sides": in_full_on_both_sides,
    }
}


NAMED = {
    check_repaired_convolution: {
        "still broken": broken_convolution,
        "on the right": lambda x, weight, dilation: by_conv1d(x.flip(-2), weight.flip(0), dilation).flip(-2),
        "kernel for kernel - 1": lambda x, weight, dilation: padded_with(
            x, weight, dilation, len(weight) * dilation
        ),
        "padding without dilation": lambda x, weight, dilation: padded_with(
            x, weight, dilation, len(weight) - 1
        ),
        "no padding": lambda x, weight, dilation: padded_with(x, weight, dilation, 0),
        "window turned": lambda x, weight, dilation: by_conv1d(x, weight.flip(0), dilation),
        "one place only": lambda x, weight, dilation: x @ weight.sum(0),
    }
}


UNKNOWN = {
    check_repaired_convolution: {
        "halved": changed(check_repaired_convolution.reference, lambda made: made / 2),
        "detached": changed(check_repaired_convolution.reference, torch.detach),
        "round the corner": lambda x, weight, dilation: sum(
            x.roll((len(weight) - 1 - place) * dilation, -2) @ matrix for place, matrix in enumerate(weight)
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
