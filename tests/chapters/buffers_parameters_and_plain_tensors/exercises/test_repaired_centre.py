"""The exercise `repaired_centre`, tried as readers would."""

from functools import partial

import exercise_cases
import torch
from buffers_parameters_and_plain_tensors_answers import assigned, variant
from exercise_cases import judged_as
from torch import nn

from chapters.buffers_parameters_and_plain_tensors.exercises import (
    check_repaired_centre,
)


class Centre(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.hold(torch.zeros(width))

    def hold(self, mean):
        self.register_buffer("mean", mean)

    def forward(self, inputs):
        if self.training:
            self.mean = self.moved(inputs)
        return inputs - self.mean

    def moved(self, inputs):
        return 0.9 * self.mean + 0.1 * inputs.detach().mean(0)


def with_history(self, inputs):
    return 0.9 * self.mean + 0.1 * inputs.mean(0)


broken_centre = variant(Centre, hold=assigned("mean", torch.clone), moved=with_history)


def test_the_broken_layer_fails_just_where_the_chapter_says():
    exercise_cases.assert_still_broken(check_repaired_centre, broken_centre, "✓✓✓✓✓✓✗✗✓✗")


def two_means(self, mean):
    self.mean = mean
    self.register_buffer("running_mean", mean)


RIGHT = {
    check_repaired_centre: {
        "all detached": variant(Centre, moved=lambda self, inputs: with_history(self, inputs).detach()),
        "in place": variant(
            Centre, moved=torch.no_grad()(lambda self, inputs: self.mean.lerp_(inputs.mean(0), 0.1))
        ),
        "nn.Buffer (1, width)": variant(Centre, hold=assigned("mean", lambda mean: nn.Buffer(mean[None]))),
    }
}


NAMED = {
    check_repaired_centre: {
        "history kept": variant(
            Centre, moved=lambda self, inputs: 0.9 * self.mean.detach() + 0.1 * inputs.mean(0)
        ),
        "not persistent": variant(Centre, hold=assigned("mean", partial(nn.Buffer, persistent=False))),
        "output cut off": variant(Centre, forward=lambda self, inputs: Centre.forward(self, inputs.detach())),
        "parameter": variant(Centre, hold=assigned("mean", nn.Parameter)),
        "written into a parameter": variant(
            Centre,
            hold=assigned("mean", nn.Parameter),
            moved=lambda self, inputs: nn.Parameter(Centre.moved(self, inputs).data),
        ),
        "plain tensor": variant(Centre, hold=two_means),
    }
}


UNKNOWN = {
    check_repaired_centre: {
        "two tenths": variant(Centre, moved=lambda self, inputs: 0.8 * self.mean + 0.2 * inputs.data.mean(0)),
        "added": variant(Centre, forward=lambda self, inputs: Centre.forward(self, inputs) + 2 * self.mean),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
