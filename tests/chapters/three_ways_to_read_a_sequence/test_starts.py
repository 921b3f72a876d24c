"""The first weights of the small models: drawn as PyTorch draws its own, for several models at once."""

import pytest
import torch
from torch import nn

from attnlab.runtime import generator
from chapters.three_ways_to_read_a_sequence import starts

MODELS, LETTERS = 5, 8
STARTS = {
    "a GRU that recalls": lambda seed: starts.recall("GRU", seed, MODELS, LETTERS),
    "a convolution that recalls": lambda seed: starts.recall("convolution", seed, MODELS, LETTERS),
    "an attention that recalls": lambda seed: starts.recall("attention", seed, MODELS, LETTERS),
    "labels": lambda seed: starts.labels(seed, MODELS, LETTERS),
    "a writer": lambda seed: starts.writer(seed, MODELS, LETTERS),
}


def assert_drawn_alike(drawn, theirs):
    """As large at most, and as spread out, which 800 numbers tell to 1.6 in a hundred."""
    largest = theirs.abs().max().item()
    assert drawn.abs().max().item() == pytest.approx(largest, rel=0.01)
    assert drawn.std().item() == pytest.approx(theirs.std().item(), rel=0.04)
    assert drawn.mean().abs().item() < 0.1 * largest


def test_numbers_fill_the_room_between_the_bounds():
    drawn = starts.uniform(generator(0), 40, 50, bound=0.5)
    assert drawn.shape == (40, 50)
    counts = drawn.histc(bins=10, min=-0.5, max=0.5)
    assert counts.sum() == 2000
    # 200 are expected in each tenth, and the standard deviation is 13.
    assert 140 < counts.min() <= counts.max() < 260


def test_a_gru_begins_as_pytorchs_does():
    torch.manual_seed(0)
    theirs, ours = nn.GRU(24, 48), starts.gru(generator(0), 24, 48)
    for name, weight in {"word": theirs.weight_ih_l0, "state": theirs.weight_hh_l0}.items():
        assert ours[name].mT.shape == weight.shape
        assert_drawn_alike(ours[name], weight)
    for name, bias in {"word bias": theirs.bias_ih_l0, "state bias": theirs.bias_hh_l0}.items():
        assert ours[name].shape == bias.shape
        assert ours[name].abs().max().item() == pytest.approx(bias.abs().max().item(), rel=0.05)


def test_grus_side_by_side_have_an_axis_for_the_batch():
    several, one = starts.gru(generator(0), 4, 6, MODELS), starts.gru(generator(0), 4, 6)
    for name, weight in several.items():
        assert weight[0].numel() == one[name].numel()
        # (models, B, 6) times each of them.
        assert weight.dim() == 3


def test_the_other_readers_begin_as_pytorchs_layers_do():
    torch.manual_seed(0)
    convolution, attention = (starts.recall(name, 0, 20, LETTERS) for name in ("convolution", "attention"))
    d = convolution["letter"].shape[-1]
    window = nn.Conv1d(d, d, 2)
    for layer in range(4):
        kernel = convolution[f"window {layer}"]
        assert kernel[:, 0, 0].shape == window.weight.permute(2, 1, 0).shape
        assert_drawn_alike(kernel, window.weight)
    d = attention["letter"].shape[-1]
    project, out = nn.Linear(d, 3 * d), nn.Linear(d, d)
    assert_drawn_alike(attention["qkv"], project.weight)
    assert_drawn_alike(attention["out"], out.weight)


@pytest.mark.parametrize("reader", ["GRU", "convolution", "attention"])
def test_letters_may_be_marked_and_there_is_a_question(reader):
    letter = starts.recall(reader, 0, MODELS, LETTERS)["letter"]
    assert letter.shape[:2] == (MODELS, 2 * LETTERS + 1)
    # An embedding of PyTorch's has this variance.
    assert letter.var().item() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_seed_gives_the_same_weights_and_no_two_models_share_any(start):
    weight, again, other = start(0), start(0), start(1)
    for name, tensor in weight.items():
        assert torch.equal(tensor, again[name])
        if name.startswith("bias"):
            continue  # zeros
        assert not tensor.eq(other[name]).any()
        models = tensor.movedim(tensor.shape.index(MODELS), 0)
        assert not any(models[one].eq(models[two]).any() for one in range(MODELS) for two in range(one))


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_every_weight_learns(start):
    assert all(tensor.requires_grad and tensor.is_leaf for tensor in start(0).values())
