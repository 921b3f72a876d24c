"""The models that can be opened in the page: which there are, and all their numbers."""

import base64

import numpy as np
import pytest
import torch

from bookkit.playground import exported, openable
from chapters.the_transformer import playground


def test_each_chapter_says_which_of_its_models_can_be_opened():
    assert openable() == playground.MODELS


@pytest.mark.parametrize("name", openable())
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
