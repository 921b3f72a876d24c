"""Looks inside a model of today: what is read is what it computes, and what is taken away is gone."""

import pytest
import torch

from attnlab.inside import averaged, heads_changed
from attnlab.masks import causal
from attnlab.today import looks
from attnlab.today.model import Today

IDS = torch.tensor([[1, 4, 6, 6, 2, 0, 7]])
WINDOW = causal(7) & ~causal(7).tril(-3)  # each sees three


@pytest.fixture
def model():
    torch.manual_seed(0)
    made = Today(10, d_model=24, heads=6, groups=2, hidden=20, layers=3, longest=9, spread=0.4)
    return made.requires_grad_(False)


@pytest.mark.parametrize("visible", [causal(7), WINDOW], ids=["all", "window"])
def test_values_mixed_by_its_weights_are_what_a_layer_finds_and_the_lens_ends_with_its_logits(model, visible):
    stream, weights, found = looks.streams(model, IDS, visible), looks.weights(model, IDS, visible), []
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 6, 7))
    assert weights[..., ~visible[0]].abs().max() == 0
    for layer, attention in enumerate(looks.attentions(model)):
        value = attention.value(model.blocks[layer].before_attention(stream[layer]))
        value = attention.split(value, 2).repeat_interleave(3, 1)  # (1, 6, 7, 4)
        found.append((weights[layer] @ value).transpose(1, 2))
        with heads_changed(attention, lambda heads: found.append(heads) or heads):
            model(IDS, visible=visible)
        torch.testing.assert_close(*found[-2:])
    table = model.pieces.weight
    torch.testing.assert_close(model.norm(stream[-1]) @ table.T, model(IDS, visible=visible))
    torch.testing.assert_close(looks.lens(model, IDS)[-1], model(IDS)[0, -1])
    torch.testing.assert_close(looks.lens(model, IDS)[0], model.norm(table[7]) @ table.T)


def test_without_a_head_its_columns_are_zero_and_it_comes_back(model):
    whole, heads = model(IDS), [(2, 5), (0, 1), (2, 0)]
    with looks.without(model, heads):
        came = model(IDS)
    assert torch.equal(model(IDS), whole)
    for layer, head in heads:
        looks.attentions(model)[layer].write.weight[:, 4 * head : 4 * (head + 1)] = 0
    torch.testing.assert_close(came, model(IDS))
    assert not torch.allclose(came, whole, atol=1e-2)


@pytest.mark.parametrize(
    ("look", "words"),
    [
        (lambda model: looks.without(model, [(3, 0)]).__enter__(), "layers must be from 0 to 2, got 3"),
        (lambda model: looks.without(model, [(0, -1)]).__enter__(), "heads must be from 0 to 5, got -1"),
        (lambda model: looks.weights(model, IDS.repeat(2, 1)), r"ids must be one row, \(1, T\)"),
        (lambda model: looks.lens(model, IDS[:, :0]), r"ids must be one row, \(1, T\)"),
    ],
)
def test_what_cannot_be_looked_at_is_refused(model, look, words):
    with pytest.raises(ValueError, match=words):
        look(model)
    told = r"no head was changed: GroupedAttention\.write was not called"
    with pytest.raises(RuntimeError, match=told), heads_changed(looks.attentions(model)[0], averaged(3)):
        pass
