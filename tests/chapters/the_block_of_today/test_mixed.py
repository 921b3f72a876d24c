"""The changes between two blocks: none of them is the block of 2017, all of them are that of today."""

import pytest
import torch
from torch import nn

from attnlab.layers import EncoderLayer
from attnlab.masks import causal
from attnlab.positions import sinusoidal
from attnlab.today.model import Today
from chapters.the_block_of_today.mixed import KINDS, TODAY, Kind, Mixed, fitted, weights_in

IDS = torch.tensor([[1, 4, 6, 6, 2, 0], [1, 8, 3, 0, 0, 5]])


def mixed(kind: Kind) -> Mixed:
    torch.manual_seed(0)
    return Mixed(10, d_model=24, heads=6, hidden=20, layers=2, kind=kind, spread=0.4)


@pytest.mark.parametrize("tied", [True, False])
def test_all_changes_together_are_the_block_of_today(tied: bool) -> None:
    model = mixed(TODAY._replace(tied=tied))
    today = Today(10, d_model=24, heads=6, groups=2, hidden=20, layers=2, longest=9, tied=tied)
    today.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(IDS), today(IDS))


def test_none_of_them_is_the_block_of_2017() -> None:
    model = mixed(Kind())
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn(weight.shape))
    stream = model.pieces.weight[IDS] * 24**0.5 + sinusoidal(6, 24)
    for block in model.blocks:
        layer = EncoderLayer(24, 6, 20)  # post-norm, with a ReLU and biases
        attention = block.attention
        layer.self_attention.in_proj_weight.data = torch.cat(
            [attention.query.weight, attention.key.weight, attention.value.weight]
        ).data
        layer.self_attention.in_proj_bias.data = torch.cat(
            [attention.query.bias, attention.key.bias, attention.value.bias]
        ).data
        for their, our in (
            (layer.self_attention.out_proj, attention.write),
            (layer.feed_forward.widen, block.network.widen),
            (layer.feed_forward.narrow, block.network.narrow),
            (layer.around_self_attention.norm, block.before_attention),
            (layer.around_feed_forward.norm, block.before_network),
        ):
            their.load_state_dict(our.state_dict())
        stream = layer(stream, causal(6))
    torch.testing.assert_close(model(IDS), stream @ model.pieces.weight.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", KINDS)
def test_no_piece_sees_those_after_it(name: str) -> None:
    model, other = mixed(KINDS[name]), IDS.clone()
    other[:, 3:] = 7
    change = (model(other) - model(IDS)).abs().amax((0, 2))
    assert change[:3].max() == 0
    assert change[3:].min() > 1e-3


@pytest.mark.parametrize("name", KINDS)
def test_each_has_as_many_weights_as_that_of_2017(name: str) -> None:
    wanted = weights_in(fitted(Kind(), 2048, 96, 6, 3, 0.06))
    assert wanted == 532_128
    assert abs(weights_in(fitted(KINDS[name], 2048, 96, 6, 3, 0.06)) / wanted - 1) < 0.01


def test_each_is_one_change_or_nearly_all() -> None:
    several = {"2017": 0, "today": 6, "today, norm behind": 5, "today, untied": 7}
    for name, kind in KINDS.items():
        changes = sum(here != there for here, there in zip(kind, Kind(), strict=True))
        assert changes == several.get(name, 1), name


def test_without_biases_there_are_none_and_norms_keep_theirs_at_0() -> None:
    model = mixed(KINDS["no biases"])
    ones = [weight for name, weight in model.named_parameters() if name.endswith("bias")]
    assert ones, "LayerNorm has one"
    assert not any(bias.requires_grad or bias.any() for bias in ones)
    assert all(layer.bias is None for layer in model.modules() if isinstance(layer, nn.Linear))
