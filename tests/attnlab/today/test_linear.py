"""Attention with a state, against plain loops over each pair of words."""

import math
import re

import pytest
import torch
from tensors import DEVICES, several
from torch import Tensor

from attnlab.today.linear import linear, linear_step

CLOSE = {torch.float32: {"rtol": 1e-4, "atol": 1e-5}, torch.float64: {"rtol": 1e-10, "atol": 1e-11}}


def drawn(*leading: int, words: int, dtype: torch.dtype = torch.float64) -> list[Tensor]:
    """Queries and keys of 3 numbers, values of 2."""
    return several(*((*leading, words, width) for width in (3, 3, 2)), dtype=dtype)


def pair_by_pair(query: Tensor, key: Tensor, value: Tensor, decay: float = 1.0) -> Tensor:
    """For each word all before it, one by one, with features written out."""

    def features(x: Tensor) -> Tensor:
        return torch.where(x > 0, x + 1, x.exp())

    rows = []
    for t in range(query.shape[-2]):
        mixed, total = torch.zeros_like(value[..., 0, :]), 0.0
        for s in range(t + 1):
            both = features(query[..., t, :]) * features(key[..., s, :])
            weight = decay ** (t - s) * both.sum(-1, keepdim=True)
            mixed, total = mixed + weight * value[..., s, :], total + weight
        rows.append(mixed / total)
    return torch.stack(rows, dim=-2)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("decay", [1.0, 0.9, 0.01])
@pytest.mark.parametrize("chunk", [1, 4, 5, 64])
def test_equals_a_loop_over_pairs(chunk: int, decay: float, dtype: torch.dtype, device: str) -> None:
    words = [each.to(device) for each in drawn(2, 3, words=13, dtype=dtype)]
    torch.testing.assert_close(linear(*words, decay, chunk), pair_by_pair(*words, decay), **CLOSE[dtype])


def test_by_default_nothing_is_forgotten_and_chunks_are_of_64() -> None:
    tensors = drawn(words=70)
    torch.testing.assert_close(linear(*tensors), linear(*tensors, 1.0, 64))
    assert linear(*drawn(2, words=0)).shape == (2, 0, 2)


@pytest.mark.parametrize("decay", [1.0, 0.7])
def test_gradients_are_those_of_the_loop(decay: float) -> None:
    tensors = [each.requires_grad_() for each in drawn(2, words=9)]
    (towards,) = several((2, 9, 2), seed=9)
    ours = torch.autograd.grad(linear(*tensors, decay, 4), tensors, towards)
    expected = torch.autograd.grad(pair_by_pair(*tensors, decay), tensors, towards)
    torch.testing.assert_close(ours, expected)
    assert all(each.abs().min() > 0 for each in ours), "each word's query, key and value count"


def test_a_small_decay_has_gradients() -> None:
    tensors = [each.requires_grad_() for each in drawn(words=64, dtype=torch.float32)]
    assert all(each.isfinite().all() for each in torch.autograd.grad(linear(*tensors, 0.01).sum(), tensors))


def test_no_word_sees_those_after_it() -> None:
    """Not even what is added and taken off again: to the last bit."""
    query, key, value = drawn(words=10)
    before = linear(query, key, value, chunk=4)
    key[6:], value[6:] = 5.0, -5.0
    after = linear(query, key, value, chunk=4)
    torch.testing.assert_close(after[:6], before[:6], rtol=0, atol=0)


@pytest.mark.parametrize("decay", [1.0, 0.8])
@pytest.mark.parametrize("sizes", [[1] * 7, [1, 3, 3], [7]])
def test_a_state_goes_on_from_where_it_is(sizes: list[int], decay: float) -> None:
    tensors = drawn(2, words=7)
    state, outputs = None, []
    for words in zip(*(each.split(sizes, dim=-2) for each in tensors), strict=True):
        before = None if state is None else state.clone()
        output, further = linear_step(*words, state, decay)
        assert before is None or torch.equal(state, before), "it is not changed in its place"
        assert further.shape == (2, 3, 3)  # however many words it has read
        outputs, state = [*outputs, output], further
    torch.testing.assert_close(torch.cat(outputs, dim=-2), linear(*tensors, decay))


def test_keys_may_be_shared_by_heads() -> None:
    query, key, value = drawn(2, 3, words=5)
    shared = linear(query, key[:, :1], value[:, :1], 0.9, 2)
    expected = linear(query, key[:, :1].expand_as(key), value[:, :1].expand_as(value), 0.9, 2)
    torch.testing.assert_close(shared, expected)


def test_a_query_without_features_gets_0() -> None:
    query, key, value = drawn(words=5, dtype=torch.float32)
    query[2] = -math.inf
    found = linear(query, key, value)
    assert found[2].tolist() == [0.0, 0.0]
    assert found.isfinite().all()


WORDS = dict(zip(("query", "key", "value"), drawn(2, words=5, dtype=torch.float32), strict=True))


@pytest.mark.parametrize(
    ("function", "changed", "words"),
    [
        (linear, {"decay": 0.0}, "decay must be above 0 and at most 1, got 0.0"),
        (linear, {"decay": 1.5}, "decay must be above 0 and at most 1, got 1.5"),
        (linear, {"decay": math.nan}, "decay must be above 0 and at most 1, got nan"),
        (linear, {"chunk": 0}, "chunk must be at least 1, got 0"),
        (linear, {"query": torch.ones(3)}, "query must be (…, time, d_k), got (3,)"),
        (linear, {"key": torch.ones(5, 4)}, "key must be (…, time = 5, d_k = 3), got (5, 4)"),
        (linear, {"key": torch.ones(4, 3)}, "key must be (…, time = 5, d_k = 3), got (4, 3)"),
        (linear, {"value": torch.ones(6, 2)}, "value must be (…, time = 5, d_v), got (6, 2)"),
        (linear, {"key": torch.ones(3, 5, 3)}, "query (2, 5, 3), key (3, 5, 3), value (2, 5, 2)"),
        *(
            (function, {name: torch.ones(2, 5, 3).long()}, f"{name} must be floating-point vectors")
            for function in (linear, linear_step)
            for name in ("query", "key", "value")
        ),
        (linear_step, {"decay": -0.5}, "decay must be above 0"),
        (linear_step, {"state": torch.ones(3, 2)}, "state must be (…, d_k = 3, d_v + 1 = 3), got (3, 2)"),
        (linear_step, {"state": torch.ones(2, 3)}, "state must be (…, d_k = 3, d_v + 1 = 3), got (2, 3)"),
        (linear_step, {"state": torch.ones(4, 3, 3)}, "equal or 1, got query (2, 5, 3), state (4, 3, 3)"),
    ],
)
def test_what_cannot_be_is_refused(function, changed, words) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        function(**WORDS | changed)
