"""Watching changes nothing, what is kept is what was looked at, and a changed head is changed for a while."""

import contextlib

import pytest
import torch
from tensors import random
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention
from attnlab.inside import averaged, exchanged, heads_changed, watched, zeroed
from attnlab.runtime import generator
from attnlab.transformer import Transformer

WORDS = torch.randint(9, (3, 7), generator=generator(0))
INPUTS = random(2, 5, 12, dtype=torch.float32)


@pytest.fixture
def attention() -> MultiHeadAttention:
    torch.manual_seed(0)
    return MultiHeadAttention(d_model=12, heads=3)


# ---- watching ----


@torch.no_grad()
def test_reading_writing_and_looking_across_are_told_apart_and_the_outputs_stay():
    model = Transformer(9, 8, d_model=16, heads=2, hidden=32, layers=1).eval()
    read = WORDS, torch.tensor([7, 5, 6]), WORDS[:, :4] % 8
    alone = model(*read)
    with watched(model) as weights:
        assert torch.allclose(model(*read), alone, atol=1e-6)
    assert {name: tuple(each.shape) for name, each in weights.items()} == {
        "encoder.0.self_attention": (3, 2, 7, 7),
        "decoder.0.self_attention": (3, 2, 4, 4),
        "decoder.0.cross_attention": (3, 2, 4, 7),
    }


@pytest.mark.parametrize("fails", [False, True])
@torch.no_grad()
def test_what_is_kept_are_the_weights_and_behind_the_end_nothing_is(attention, fails):
    _, own = attention(INPUTS)
    with contextlib.suppress(KeyError), watched(attention) as weights:
        attention(INPUTS, need_weights=False)
        if fails:
            raise KeyError
    kept = weights[""]
    assert torch.equal(kept, own)
    _, given = attention(INPUTS[:, :4], need_weights=False)
    assert given is None
    assert weights[""] is kept


# ---- changing ----


@pytest.mark.parametrize("head", range(3))
@pytest.mark.parametrize("fails", [False, True])
@torch.no_grad()
def test_a_head_at_zero_is_its_columns_at_zero_and_comes_back(attention, head, fails):
    whole, _ = attention(INPUTS)
    with contextlib.suppress(KeyError), heads_changed(attention, zeroed(head)):
        without, _ = attention(INPUTS)
        if fails:
            raise KeyError
    assert torch.equal(attention(INPUTS)[0], whole)
    attention.out_proj.weight[:, 4 * head : 4 * (head + 1)] = 0
    assert torch.allclose(without, attention(INPUTS)[0], atol=1e-6)


def heads_of(attention: MultiHeadAttention, inputs: Tensor) -> Tensor:
    """What the heads mix, (B, n, heads, d_k), caught on its way."""
    caught = []
    with heads_changed(attention, lambda heads: caught.append(heads) or heads):
        attention(inputs)
    return caught[0]


@torch.no_grad()
def test_the_others_stay_and_so_does_what_is_caught(attention):
    heads = heads_of(attention, INPUTS)
    whole = heads.clone()
    expected = {
        zeroed: torch.zeros(2, 5, 4),
        averaged: heads[:, :, 1].mean((0, 1)).expand(2, 5, 4),
        exchanged: heads[:, :, 1].flip(0),
    }
    for change, found in expected.items():
        changed = change(1)(heads)
        assert torch.equal(heads, whole)
        assert torch.allclose(changed[:, :, 1], found)
        assert torch.equal(changed[:, :, ::2], whole[:, :, ::2])


@pytest.mark.parametrize(
    ("change", "error"), [(lambda heads: heads[:, :, :1], ValueError), (lambda heads: None, TypeError)]
)
def test_a_change_of_the_shape_is_refused(attention, change, error):
    with (
        heads_changed(attention, change),
        pytest.raises(error, match=r"change must keep the shape \(2, 5, 3, 4\), got"),
    ):
        attention(INPUTS)


def test_a_gradient_finds_its_way_through_a_changed_head(attention):
    with heads_changed(attention, averaged(1)):
        attention(INPUTS)[0].square().sum().backward()
    assert attention.in_proj_weight.grad[24:].abs().sum(-1).gt(0).all()


@pytest.mark.parametrize("kind", [MultiHeadAttention, nn.MultiheadAttention])
def test_a_change_that_was_never_asked_for_is_told_but_hides_no_error(kind):
    attention, x = kind(8, 2), torch.randn(1, 3, 8)
    told = r"no head was changed: Multi[Hh]eadAttention.out_proj was not called"
    with pytest.raises(RuntimeError, match=told), heads_changed(attention, zeroed(0)):
        _ = attention(x, x, x) if kind is nn.MultiheadAttention else None
    with pytest.raises(ZeroDivisionError), heads_changed(attention, zeroed(0)):
        raise ZeroDivisionError
