"""Right answers to the exercises, in other words than the book's: each must be accepted."""

from functools import partial

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from chapters.buffers_parameters_and_plain_tensors.exercises import (
    check_checkpoint_bytes,
    check_deployable,
    check_left_behind,
    check_positions_module,
    check_repaired_centre,
)

# --- shared ---


def variant(module, **methods):
    return type(module.__name__, (module,), methods)


def assigned(name, hold):
    return lambda self, tensor: setattr(self, name, hold(tensor))


# --- positions_module ---


class Positions(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.hold(table)

    def hold(self, table):
        self.register_buffer("table", table, persistent=False)

    def forward(self, words):
        return words + self.rows(words)

    def rows(self, words):
        return self.table[: words.shape[-2]]


# --- repaired_centre ---


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


# --- left_behind ---


def tensors(model):
    return [value for module in model.modules() for value in vars(module).values() if torch.is_tensor(value)]


# --- deployable ---


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


ACCEPTED = {
    check_positions_module: {
        "by assignment": variant(Positions, hold=assigned("table", partial(nn.Buffer, persistent=False))),
        "an embedding": variant(
            Positions,
            rows=lambda self, words: F.embedding(torch.arange(words.shape[1]).to(words.device), self.table),
        ),
        "with three axes": variant(
            Positions,
            hold=lambda self, table: self.register_buffer("own", table[None], persistent=False),
            rows=lambda self, words: self.own.narrow(1, 0, words.size(1)),
        ),
        "in a module inside": variant(
            Positions, hold=assigned("inside", Positions), rows=lambda self, words: self.inside.rows(words)
        ),
    },
    check_repaired_centre: {
        "all detached": variant(Centre, moved=lambda self, inputs: with_history(self, inputs).detach()),
        "in place": variant(
            Centre, moved=torch.no_grad()(lambda self, inputs: self.mean.lerp_(inputs.mean(0), 0.1))
        ),
        "nn.Buffer (1, width)": variant(Centre, hold=assigned("mean", lambda mean: nn.Buffer(mean[None]))),
    },
    check_checkpoint_bytes: {
        "numpy": lambda v, d, m, b, p: np.multiply([v, d, 1, m if p else 0], d).sum(dtype=np.int64) * b,
        "a tensor": lambda v, d, m, b, p: torch.tensor([v, d + 1, int(p) * m]).sum() * d * b,
    },
    check_left_behind: {
        "sizes": lambda model: sum(value.shape.numel() for value in tensors(model)),
        "a numpy integer": lambda model: np.sum([value.numel() for value in tensors(model)], dtype=np.int64),
    },
    check_deployable: {
        "by assignment": variant(Smoother, hold=renamed),
        "the mean in place": variant(Smoother, forward=mean_in_place),
    },
}
