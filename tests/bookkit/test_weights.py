"""Stored weights come back as they were, but for 16 bits; what a page shows of them; and a call's memory."""

import base64
import copy
from functools import partial

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from bookkit import weights
from bookkit.memory import peak_memory
from bookkit.playground import LETTERS, STEPS, exported, letters, openable, rounded
from chapters.the_transformer import playground


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(weights.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def model(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.BatchNorm1d(5))


def test_weights_come_back_and_so_do_the_losses_and_what_was_noted(folder):
    one, other = model(0), model(1)
    noted = torch.tensor([[0.5, 2.0], [1 / 3, 8.0]])
    more = {"notes": {"0.weight": noted, "loss": [4.0, 1.0]}}
    assert weights.store("a_chapter/small", one, [0.9, 0.123456789], **more) == folder / "a_chapter/small.npz"
    assert weights.load("a_chapter/small", other) == [0.9, 0.123456789]
    for label, stored in one.state_dict().items():
        # 10 bits and a hidden one: rounding moves a number by 2**-11 of itself at most.
        assert torch.allclose(other.state_dict()[label].double(), stored.double(), rtol=2**-11, atol=1e-7)
    assert other[0].weight.dtype == torch.float32
    assert not other.training
    notes = weights.notes("a_chapter/small")
    assert [*notes] == ["0.weight", "loss"]
    assert torch.allclose(notes["0.weight"], noted, rtol=2**-11)
    assert notes["loss"].tolist() == [4.0, 1.0]
    weights.store("a_chapter/small", one, [0.5])
    assert weights.notes("a_chapter/small") == {}


def test_the_same_weights_make_the_same_file(folder):
    first = weights.store("a_chapter/small", model(0), [0.5]).read_bytes()
    assert weights.store("a_chapter/small", model(0), [0.5]).read_bytes() == first


def test_weights_that_are_not_there_are_told_with_what_makes_them(folder):
    for asked in (
        lambda: weights.load("a_chapter/small", model(0)),
        lambda: weights.notes("a_chapter/small"),
    ):
        with pytest.raises(FileNotFoundError, match="`make models` trains and stores them"):
            asked()


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e6])
def test_what_16_bits_can_t_hold_is_refused(folder, number):
    broken = nn.Linear(3, 5)
    nn.init.constant_(broken.bias, number)
    with pytest.raises(ValueError, match="model's bias must be finite and fit into 16 bits"):
        weights.store("a_chapter/small", broken, [0.5])
    with pytest.raises(ValueError, match="note: loss must be finite and fit into 16 bits"):
        weights.store("a_chapter/small", model(0), [0.5], notes={"loss": [number]})
    assert not [*folder.rglob("*.npz")]


# ---- the models that can be opened in the page ----


@pytest.mark.parametrize("name", playground.MODELS)
def test_the_numbers_are_the_stored_weights(name):
    data = exported(name)
    numbers = np.frombuffer(base64.b64decode(data["numbers"]), "<f2")
    start = 0
    for label, tensor in openable()[name].load().state_dict().items():
        assert data["shapes"][label] == [*tensor.shape]
        given = torch.from_numpy(numbers[start : start + tensor.numel()].astype("float32"))
        assert torch.equal(given.view_as(tensor), tensor), label
        start += tensor.numel()
    assert start == len(numbers)


@pytest.fixture
def small() -> nn.Module:
    torch.manual_seed(0)
    made = nn.Sequential(nn.Embedding(7, 5), nn.Linear(5, 4))
    made[0].weight.data[3] = 0  # a row in which nothing is to be told apart
    return made


def test_a_row_is_rounded_to_ninety_one_numbers_a_step_apart(small):
    before = copy.deepcopy(small.state_dict())
    assert rounded(small) is small
    for label, tensor in small.state_dict().items():
        if tensor.dim() == 1:
            assert torch.equal(tensor, before[label].half().float())
            continue
        step = before[label].abs().amax(1, keepdim=True) / STEPS
        assert ((tensor - before[label]).abs() <= 0.51 * step).all()
    again = copy.deepcopy(small.state_dict())
    rounded(small)
    assert all(torch.equal(tensor, again[label]) for label, tensor in small.state_dict().items())


def test_letters_tell_a_rounded_model_to_the_last_bit(small):
    data = letters(rounded(small))
    others = torch.from_numpy(np.frombuffer(base64.b64decode(data["numbers"]), "<f2").astype("float32"))
    steps = torch.tensor([LETTERS.index(ord(letter)) - STEPS for letter in data["letters"]])
    for label, tensor in small.state_dict().items():
        assert data["shapes"][label] == [*tensor.shape]
        told, others = others[: len(tensor)], others[len(tensor) :]
        if tensor.dim() == 2:
            counts, steps = steps[: tensor.numel()], steps[tensor.numel() :]
            told = counts.view_as(tensor) * told[:, None]
        assert torch.equal(told, tensor), label
    assert len(others) == len(steps) == 0


# ---- the most memory that a call holds at once ----


CPU = torch.device("cpu")


def allocate(count: int = 250_000) -> torch.Tensor:
    return torch.zeros(count)  # numbers of 4 bytes: a megabyte


def one_after_the_other() -> None:
    for _ in range(3):
        allocate()


def test_memory_of_known_allocations():
    there = allocate()
    for run, megabytes in (
        (allocate, 1),
        (lambda: allocate().exp(), 2),
        (lambda: [allocate() for _ in range(3)], 3),
        (one_after_the_other, 1),  # what was freed is used again
        (there.sqrt_, 0),  # what was there before does not count
    ):
        assert peak_memory(run, CPU) == megabytes * 1_000_000


def test_memory_inside_a_fused_kernel_counts():
    query = torch.zeros(1, 1, 64, 64)
    fused = peak_memory(partial(F.scaled_dot_product_attention, query, query, query), CPU)
    assert fused > 4 * query.numel()  # more than the output


def test_what_an_earlier_run_has_kept_is_not_counted():
    kept: list[torch.Tensor] = []
    peak_memory(lambda: kept.append(allocate(400)), CPU)
    kept.clear()
    assert peak_memory(allocate, CPU) == 1_000_000
