"""“Buffers, parameters and plain tensors”: many right ways, learners' mistakes, and faults of other kinds."""

import io
from functools import partial

import exercise_cases
import numpy as np
import pytest
import torch
from exercise_cases import changed, judged_as
from torch import nn
from torch.nn import functional as F

from chapters.buffers_parameters_and_plain_tensors.exercises import (
    check_checkpoint_bytes,
    check_deployable,
    check_left_behind,
    check_positions_module,
    check_repaired_centre,
)

bytes_of, left_behind = check_checkpoint_bytes.reference, check_left_behind.reference


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


def variant(module, **methods):
    return type(module.__name__, (module,), methods)


def assigned(name, hold):
    return lambda self, tensor: setattr(self, name, hold(tensor))


def with_history(self, inputs):
    return 0.9 * self.mean + 0.1 * inputs.mean(0)


broken_centre = variant(Centre, hold=assigned("mean", torch.clone), moved=with_history)


def tensors(model):
    return [value for module in model.modules() for value in vars(module).values() if torch.is_tensor(value)]


def total(tensors):
    return sum(tensor.numel() for tensor in tensors)


def test_the_broken_layer_fails_just_where_the_chapter_says():
    exercise_cases.assert_still_broken(check_repaired_centre, broken_centre, "✓✓✓✓✓✓✗✗✓✗")


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_real_file_is_as_large_as_the_reference_says(dtype, persistent):
    model, file = nn.Module(), io.BytesIO()
    model.embedding, model.linear = nn.Embedding(700, 96), nn.Linear(96, 96)
    model.output = nn.Linear(96, 700, bias=False)
    model.output.weight = model.embedding.weight
    model.register_buffer("table", torch.zeros(500, 96), persistent=persistent)
    torch.save(model.to(dtype).state_dict(), file)
    numbers = bytes_of(700, 96, 500, dtype.itemsize, persistent)
    # Names, shapes and alignment come on top: a few thousand bytes.
    assert numbers < file.getbuffer().nbytes < numbers + 4000


def test_the_reference_finds_what_a_move_really_leaves_behind():
    for case in check_left_behind.cases:
        (model,) = case.fresh()
        expected = left_behind(model)
        assert total(tensor for tensor in tensors(model.to("meta")) if not tensor.is_meta) == expected


# --- right, in other words ---


RIGHT = {
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

# --- as learners got it wrong ---


def cut_for_good(self, words):
    self.table = self.table[: words.shape[-2]]
    return self.table


def two_means(self, mean):
    self.mean = mean
    self.register_buffer("running_mean", mean)


def behind_by_state(model):
    owned = [(module, vars(module) | module._parameters | module._buffers) for module in model.modules()]
    lost = [own[name] for module, own in owned for name in own if name not in module.state_dict()]
    return total(value for value in lost if torch.is_tensor(value))


NAMED = {
    check_deployable: {
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
    },
    check_positions_module: {
        "persistent": variant(Positions, hold=lambda self, table: self.register_buffer("table", table)),
        "frozen parameter": variant(
            Positions, hold=assigned("table", partial(nn.Parameter, requires_grad=False))
        ),
        "moved at each call": variant(
            Positions,
            hold=assigned("table", torch.clone),
            rows=lambda self, words: self.table.to(words)[: words.shape[1]],
        ),
        "length from the batch": variant(Positions, rows=lambda self, words: self.table[: words.shape[0]]),
        "last rows": variant(Positions, rows=lambda self, words: self.table[-words.shape[1] :]),
        "columns cut": variant(Positions, rows=lambda self, words: self.table[:, : words.shape[1]]),
        "cut for good": variant(Positions, rows=cut_for_good),
    },
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
    },
    check_checkpoint_bytes: {
        "tied counted twice": lambda v, d, m, b, p: (2 * v * d + d * d + d + (m * d if p else 0)) * b,
        "no bias": lambda v, d, m, b, p: (v * d + d * d + p * m * d) * b,
        "persistent reversed": lambda v, d, m, b, p: (v * d + d * d + d + (0 if p else m * d)) * b,
        "nothing without the table": lambda v, d, m, b, p: b * (v * d + d * d + d + m * d if p else 0),
        "four bytes for the table": lambda v, d, m, b, p: (v + d + 1) * d * b + (4 * m * d if p else 0),
        "a bias too many": lambda v, d, m, b, p: (v * d + v + d * d + d + p * m * d) * b,
    },
    check_left_behind: {
        "tensors counted": lambda model: len(tensors(model)),
        "children only": lambda model: sum(
            left_behind(child, lambda own: [own]) for child in model.children()
        ),
        "not in the state_dict": behind_by_state,
        "each name once": lambda model: total(
            {name: v for m in model.modules() for name, v in vars(m).items() if torch.is_tensor(v)}.values()
        ),
        "changes its inputs": lambda model: total(v for v in tensors(model.to("meta")) if not v.is_meta),
        "lists as well": lambda model: (
            left_behind(model)
            + total(each for one in model.modules() for each in vars(one).get("several", []))
        ),
    },
}

# --- wrong, in ways that the catalogue does not hold ---

UNKNOWN = {
    check_deployable: {
        "everything in the file": variant(
            Smoother, hold=lambda self, name, tensor: self.register_buffer(name, tensor)
        ),
        "nothing scaled": variant(Smoother, forward=lambda self, words: words),
    },
    check_positions_module: {
        "one row off": variant(Positions, rows=lambda self, words: self.table.roll(1, 0)[: words.shape[1]]),
        "rounded": lambda table: Positions(table.round()),
        "in place": variant(Positions, forward=lambda self, words: words.add_(self.rows(words))),
    },
    check_repaired_centre: {
        "two tenths": variant(Centre, moved=lambda self, inputs: 0.8 * self.mean + 0.2 * inputs.data.mean(0)),
        "added": variant(Centre, forward=lambda self, inputs: Centre.forward(self, inputs) + 2 * self.mean),
    },
    check_checkpoint_bytes: {
        "half": changed(bytes_of, lambda count: count // 2),
        "kibibytes": changed(bytes_of, lambda count: count / 1024),
        "table squared": lambda v, d, m, b, p: bytes_of(v, d, m * m, b, p),
    },
    check_left_behind: {
        "matrices only": lambda model: total(tensor for tensor in tensors(model) if tensor.dim() == 2),
        "floating point only": lambda model: total(filter(torch.is_floating_point, tensors(model))),
        "without gradients": lambda model: total(v for v in tensors(model) if not v.requires_grad),
    },
}

test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
