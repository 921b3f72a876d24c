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
    return Today(10, d_model=24, heads=6, groups=2, hidden=20, layers=3, longest=9, spread=0.4).eval()


@torch.no_grad()
def test_the_lens_ends_with_the_models_own_logits_and_begins_with_the_table(model):
    through = looks.lens(model, IDS)
    torch.testing.assert_close(through[-1], model(IDS)[0, -1])
    table = model.pieces.weight
    torch.testing.assert_close(through[0], model.norm(table[7]) @ table.T)
    stream = looks.streams(model, IDS)
    assert stream.shape == (4, 1, 7, 24)
    assert torch.equal(stream[0], model.pieces(IDS))
    windowed = looks.streams(model, IDS, WINDOW)
    torch.testing.assert_close(model.norm(windowed[-1]) @ table.T, model(IDS, visible=WINDOW))


@pytest.mark.parametrize("visible", [None, WINDOW], ids=["all", "window"])
@torch.no_grad()
def test_values_mixed_by_its_weights_are_what_a_layer_finds(model, visible):
    weights = looks.weights(model, IDS, visible)
    assert weights.shape == (3, 6, 7, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 6, 7))
    assert weights[..., ~(causal(7) if visible is None else visible)[0]].abs().max() == 0
    before = looks.streams(model, IDS, visible)
    found = []
    for block, stream, shares in zip(model.blocks, before, weights, strict=False):
        attention = block.attention
        attention.write.register_forward_pre_hook(lambda _, given: found.append(given[0]))
        value = attention.split(attention.value(block.before_attention(stream)), 2).repeat_interleave(3, 1)
        block.mixed = (shares @ value).transpose(1, 2).flatten(2)
    model(IDS, visible=visible)
    for block, came in zip(model.blocks, found, strict=True):
        torch.testing.assert_close(came, block.mixed)


@torch.no_grad()
def test_without_a_head_its_columns_are_zero_and_it_comes_back(model):
    whole = model(IDS)
    with looks.without(model, [(2, 5), (0, 1), (2, 0)]):
        came = model(IDS)
    assert torch.equal(model(IDS), whole)
    for layer, head in ((2, 5), (0, 1), (2, 0)):
        looks.attentions(model)[layer].write.weight[:, 4 * head : 4 * (head + 1)] = 0
    torch.testing.assert_close(came, model(IDS))
    assert not torch.allclose(came, whole, atol=1e-2)
    with looks.without(model, []):
        assert torch.equal(model(IDS), model(IDS))


@torch.no_grad()
def test_a_head_of_a_group_is_changed_alone(model):
    attention = looks.attentions(model)[1]
    caught = []
    with heads_changed(attention, lambda heads: caught.append(heads) or averaged(3)(heads)):
        attention.write.register_forward_pre_hook(lambda _, given: caught.append(given[0].view(1, 7, 6, 4)))
        model(IDS)
    first, changed = caught
    assert first.shape == (1, 7, 6, 4)
    assert torch.equal(changed[:, :, [0, 1, 2, 4, 5]], first[:, :, [0, 1, 2, 4, 5]])
    torch.testing.assert_close(changed[:, :, 3], first[:, :, 3].mean((0, 1)).expand(1, 7, 4))
    told = r"no head was changed: GroupedAttention\.write was not called"
    with pytest.raises(RuntimeError, match=told), heads_changed(attention, averaged(3)):
        pass


@pytest.mark.parametrize(
    ("heads", "words"),
    [
        ([(3, 0)], "layers must be from 0 to 2, got 3"),
        ([(0, -1)], "heads must be from 0 to 5, got -1"),
        ([(0, 6)], "heads must be from 0 to 5, got 6"),
    ],
)
def test_a_head_that_there_is_not_is_refused(model, heads, words):
    with pytest.raises(ValueError, match=words), looks.without(model, heads):
        pass
    with pytest.raises(ValueError, match=r"ids must be one row, \(1, T\)"):
        looks.weights(model, IDS.repeat(2, 1))
