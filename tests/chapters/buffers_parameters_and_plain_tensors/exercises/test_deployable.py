"""The exercise `deployable`, tried as readers would."""

import torch
from buffers_parameters_and_plain_tensors_answers import variant
from exercise_cases import judged_as
from torch import nn

from chapters.buffers_parameters_and_plain_tensors.exercises import (
    check_deployable,
)


class Smoother(nn.Module):
    def __init__(self, width, length):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))
        self.register_buffer("mean", torch.zeros(width))
        self.hold("mask", torch.ones(length, length).tril())
        self.hold("table", torch.arange(length).div(length).unsqueeze(-1))

    def hold(self, name, tensor):
        self.register_buffer(name, tensor, persistent=False)

    def forward(self, words):
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * words.detach().mean(0)
        length = len(words)
        seen = self.mask[:length, :length]
        moved = words - self.mean + self.table[:length]
        return self.scale * (seen @ moved) / seen.sum(-1, keepdim=True)


def renamed(self, name, tensor):
    setattr(self, name, nn.Buffer(tensor, persistent=False))


def mean_in_place(self, words):
    if self.training:
        self.mean.lerp_(words.detach().mean(0), 0.1)
    was, self.training = self.training, False
    output = Smoother.forward(self, words)
    self.training = was
    return output


RIGHT = {
    check_deployable: {
        "by assignment": variant(Smoother, hold=renamed),
        "the mean in place": variant(Smoother, forward=mean_in_place),
    }
}


NAMED = {
    check_deployable: {
        "mask in the file & table in the file": variant(
            Smoother, hold=lambda self, name, tensor: self.register_buffer(name, tensor)
        ),
        "mask plain": variant(
            Smoother,
            hold=lambda self, name, tensor: (
                setattr(self, name, tensor) if name == "mask" else Smoother.hold(self, name, tensor)
            ),
        ),
        "table in the file": variant(
            Smoother,
            hold=lambda self, name, tensor: self.register_buffer(name, tensor, persistent=name == "table"),
        ),
    }
}


UNKNOWN = {
    check_deployable: {
        "nothing scaled": variant(Smoother, forward=lambda self, words: words),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
