"""Layers that keep a state, against the recurrence that they are, word by word."""

import pytest
import torch
from tensors import several

from attnlab.attention import Cache
from attnlab.today.model import Today
from attnlab.today.state import State, gated_delta, with_states

WORDS = 7
GIVEN = [
    *several(*[(2, 3, WORDS, 4)] * 3),
    *(each.sigmoid() for each in several(*[(2, 3, WORDS)] * 2, seed=1)),
]


def word_by_word(query, key, value, kept, share):
    state, found = torch.zeros(2, 3, 4, 4, dtype=query.dtype), []
    for t in range(WORDS):
        q, k, v = (each[..., t, None, :] for each in (query, key, value))
        state = kept[..., t, None, None] * state
        state = state + share[..., t, None, None] * k.mT @ (v - k @ state)
        found.append(q @ state)
    return torch.cat(found, -2)


def test_all_at_once_is_word_by_word_and_so_are_its_gradients():
    given = [each.clone().requires_grad_() for each in GIVEN]
    at_once, by_word = gated_delta(*given), word_by_word(*given)
    torch.testing.assert_close(at_once, by_word)
    both = (torch.autograd.grad(each.square().sum(), given) for each in (at_once, by_word))
    torch.testing.assert_close(*both)


def test_a_state_that_forgets_all_has_gradients():
    *others, kept, share = GIVEN
    kept = torch.full_like(kept, 1e-30).requires_grad_()
    (pulled,) = torch.autograd.grad(gated_delta(*others, kept, share).sum(), kept)
    assert pulled.isfinite().all()


@pytest.mark.parametrize("layers", [(0, 1), (0,)])
def test_a_model_with_states_sees_nothing_that_comes_later(layers):
    torch.manual_seed(0)
    model = with_states(Today(9, 8, 2, 1, 8, 2, longest=6), layers, heads=2, hidden=7, spread=0.5)
    ids = torch.arange(6)[None]
    torch.testing.assert_close(model(ids)[:, :4], model(ids[:, :4]))


def test_a_state_takes_no_cache():
    with pytest.raises(ValueError, match="visible and cache must be None"):
        State(8, 2)(torch.zeros(1, 3, 8), cache=Cache())
