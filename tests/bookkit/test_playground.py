"""The models that can be opened in the page: which there are, and all their numbers."""

import base64
import copy
import json

import numpy as np
import pytest
import torch
from torch import nn

from bookkit.playground import LETTERS, STEPS, exported, letters, openable, rounded
from chapters.the_transformer import playground


def test_each_chapter_says_which_of_its_models_can_be_opened():
    assert openable().items() >= playground.MODELS.items()


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
def model() -> nn.Module:
    torch.manual_seed(0)
    made = nn.Sequential(nn.Embedding(7, 5), nn.Linear(5, 4))
    made[0].weight.data[3] = 0  # a row in which nothing is to be told apart
    return made


def test_a_row_is_rounded_to_ninety_one_numbers_a_step_apart(model):
    before = copy.deepcopy(model.state_dict())
    assert rounded(model) is model
    for label, tensor in model.state_dict().items():
        if tensor.dim() == 1:
            assert torch.equal(tensor, before[label].half().float())
            continue
        step = before[label].abs().amax(1, keepdim=True) / STEPS
        assert ((tensor - before[label]).abs() <= 0.51 * step).all()
    again = copy.deepcopy(model.state_dict())
    rounded(model)
    assert all(torch.equal(tensor, again[label]) for label, tensor in model.state_dict().items())


def test_letters_tell_a_rounded_model_to_the_last_bit(model):
    data = letters(rounded(model))
    others = torch.from_numpy(np.frombuffer(base64.b64decode(data["numbers"]), "<f2").astype("float32"))
    steps = torch.tensor([LETTERS.index(ord(letter)) - STEPS for letter in data["letters"]])
    for label, tensor in model.state_dict().items():
        assert data["shapes"][label] == [*tensor.shape]
        told, others = others[: len(tensor)], others[len(tensor) :]
        if tensor.dim() == 2:
            counts, steps = steps[: tensor.numel()], steps[tensor.numel() :]
            told = counts.view_as(tensor) * told[:, None]
        assert torch.equal(told, tensor), label
    assert len(others) == len(steps) == 0


def test_letters_need_no_sign_before_them_in_a_script():
    text = LETTERS.decode("ascii")
    assert len(set(text)) == 2 * STEPS + 1
    assert json.dumps(text) == f'"{text}"'
