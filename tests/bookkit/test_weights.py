"""Stored weights come back as they were, but for 16 bits, and with the losses of their training."""

import pytest
import torch
from torch import nn

from bookkit import weights


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(weights.FOLDER_VARIABLE, str(tmp_path))
    return tmp_path


def model(seed):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 5), nn.Dropout(0.5), nn.BatchNorm1d(5))


def test_weights_come_back_and_so_do_the_losses(folder):
    one, other = model(0), model(1)
    assert weights.store("a_chapter/small", one, [0.9, 0.123456789]) == folder / "a_chapter/small.npz"
    assert weights.load("a_chapter/small", other) == [0.9, 0.123456789]
    for label, stored in one.state_dict().items():
        # 10 bits and a hidden one: rounding moves a number by 2**-11 of itself at most.
        assert torch.allclose(other.state_dict()[label].double(), stored.double(), rtol=2**-11, atol=1e-7)
    assert other[0].weight.dtype == torch.float32
    assert not other.training


def test_what_was_noted_comes_back_apart_from_the_weights(folder):
    noted = torch.tensor([[0.5, 2.0], [1 / 3, 8.0]])
    weights.store("a_chapter/small", model(0), [0.5], notes={"0.weight": noted, "loss": [4.0, 1.0]})
    notes = weights.notes("a_chapter/small")
    assert [*notes] == ["0.weight", "loss"]
    assert torch.allclose(notes["0.weight"], noted, rtol=2**-11)
    assert notes["loss"].tolist() == [4.0, 1.0]
    other = model(1)
    assert weights.load("a_chapter/small", other) == [0.5]
    assert torch.allclose(other[0].weight, model(0)[0].weight, rtol=2**-11, atol=1e-7)


def test_without_notes_there_are_none(folder):
    weights.store("a_chapter/small", model(0), [0.5])
    assert weights.notes("a_chapter/small") == {}


def test_the_same_weights_make_the_same_file(folder):
    first = weights.store("a_chapter/small", model(0), [0.5]).read_bytes()
    assert weights.store("a_chapter/small", model(0), [0.5]).read_bytes() == first


def test_without_another_folder_they_lie_in_the_book(monkeypatch):
    monkeypatch.delenv(weights.FOLDER_VARIABLE, raising=False)
    assert weights.file_of("a_chapter/small") == weights.STORED / "a_chapter/small.npz"


def test_weights_that_are_not_there_are_told_with_what_makes_them(folder):
    with pytest.raises(FileNotFoundError, match="`make models` trains and stores them"):
        weights.load("a_chapter/small", model(0))
    with pytest.raises(FileNotFoundError, match="`make models` trains and stores them"):
        weights.notes("a_chapter/small")


def test_a_model_of_another_shape_is_refused(folder):
    weights.store("a_chapter/small", nn.Linear(3, 5), [0.5])
    with pytest.raises(RuntimeError, match="size mismatch"):
        weights.load("a_chapter/small", nn.Linear(3, 6))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 1e6])
def test_what_16_bits_can_t_hold_is_refused(folder, number):
    broken = nn.Linear(3, 5)
    nn.init.constant_(broken.bias, number)
    with pytest.raises(ValueError, match="model's bias must be finite and fit into 16 bits"):
        weights.store("a_chapter/small", broken, [0.5])
    with pytest.raises(ValueError, match="note: loss must be finite and fit into 16 bits"):
        weights.store("a_chapter/small", model(0), [0.5], notes={"loss": [number]})
    assert not [*folder.rglob("*.npz")]
