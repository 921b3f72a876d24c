"""Attention in tiles, against the whole table."""

import math
import re
from collections.abc import Callable
from functools import partial

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensors import assert_same_gradients, learnable, quick, several
from torch import Tensor

from attnlab.attention import attend
from attnlab.masks import causal as causal_mask
from attnlab.today.tiles import tiled
from bookkit.memory import peak_memory

CLOSE = {torch.float64: 1e-12, torch.float32: 1e-6}
CPU = torch.device("cpu")


def whole(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    mask = None
    if causal:
        mask = causal_mask(query.shape[-2], key.shape[-2])
        mask = mask[(None,) * (max(x.dim() for x in (query, key, value)) - 3)] if query.dim() > 2 else mask[0]
    return attend(query, key, value, mask=mask)[0]


def drawn(*leading: int, n: int, m: int, d_k: int = 4, d_v: int = 4, dtype=torch.float64) -> list[Tensor]:
    return several((*leading, n, d_k), (*leading, m, d_k), (*leading, m, d_v), dtype=dtype)


def assert_equals_the_whole(inputs: list[Tensor], causal: bool = False, **options: int) -> None:
    inputs = learnable(*inputs)
    ours, theirs = tiled(*inputs, causal=causal, **options), whole(*inputs, causal=causal)
    close = CLOSE[theirs.dtype]
    torch.testing.assert_close(ours, theirs, rtol=close, atol=close)
    assert_same_gradients(ours, theirs, inputs)


@quick
@given(
    st.sampled_from([(), (2,), (2, 3)]),
    st.tuples(st.integers(1, 9), st.integers(0, 5)),
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.integers(1, 10),
    st.booleans(),
    st.sampled_from(list(CLOSE)),
)
def test_equals_the_whole(leading, lengths, widths, tile, causal, dtype) -> None:
    (n, more), (d_k, d_v) = lengths, widths
    inputs = drawn(*leading, n=n, m=n + more, d_k=d_k, d_v=d_v, dtype=dtype)
    assert_equals_the_whole(inputs, causal, tile=tile)


def test_more_queries_than_keys_leading_axes_and_scores_beyond_an_exponential() -> None:
    for tile in (1, 2, 3):
        assert_equals_the_whole(drawn(n=5, m=3), tile=tile)
    assert_equals_the_whole(several((2, 1, 5, 4), (3, 7, 4), (1, 1, 7, 2)), tile=2)
    assert_equals_the_whole(several((5, 4), (7, 4), (2, 7, 2)), tile=2)
    query, key, value = drawn(n=6, m=9, dtype=torch.float32)
    assert (1000 * query @ key.mT).exp().isinf().any()
    assert_equals_the_whole([1000 * query, key, value], tile=2)
    # Far below zero a float32 score is rounded by more than its weights' gradients are long.
    far = torch.full((2, 4), 100.0), torch.full((3, 4), -100.0), value[:3]
    torch.testing.assert_close(tiled(*far, tile=2), whole(*far), rtol=1e-6, atol=1e-6)


def test_no_keys_give_nothing() -> None:
    query, key, value = learnable(*drawn(n=2, m=0))
    output = tiled(query, key, value)
    assert output.tolist() == [[0.0] * 4] * 2
    (gradient,) = torch.autograd.grad(output.sum(), query)
    assert not gradient.any()


def test_tiles_in_which_all_is_hidden_are_never_looked_at() -> None:
    query, key, value = drawn(n=6, m=6)
    value[4:] = math.nan  # hidden, it would still count: 0 · NaN is NaN
    output = tiled(query, key, value, tile=2, causal=True)
    assert output[:4].isfinite().all()
    assert output[4:].isnan().all()


def test_without_gradients_nothing_is_kept_and_no_input_is_changed() -> None:
    inputs = learnable(*drawn(n=5, m=5))
    before = [each.detach().clone() for each in inputs]
    with torch.no_grad():
        assert not tiled(*inputs, tile=2).requires_grad
    assert all(map(torch.equal, inputs, before))


def test_a_second_derivative_is_refused_and_not_zero() -> None:
    inputs = learnable(*drawn(n=3, m=3))
    with pytest.raises(ValueError, match="create_graph must be False on the way back through tiled"):
        torch.autograd.grad(tiled(*inputs).sum(), inputs[0], create_graph=True)


@pytest.mark.thorough
def test_memory_grows_with_n_and_not_with_its_square() -> None:
    def peak(attention: Callable[..., Tensor], n: int) -> int:
        inputs = learnable(*drawn(n=n, m=n, d_k=32, d_v=32, dtype=torch.float32))
        return peak_memory(lambda: torch.autograd.grad(attention(*inputs).sum(), inputs), CPU)

    in_tiles = partial(tiled, tile=64)
    assert peak(in_tiles, 1024) / peak(in_tiles, 512) <= 2.05
    assert peak(whole, 1024) / peak(whole, 512) >= 3.7
    assert peak(in_tiles, 1024) < peak(whole, 1024) / 12


ONES = torch.ones(3, 4)


@pytest.mark.parametrize(
    ("inputs", "options", "words"),
    [
        ((ONES,) * 3, {"tile": 0}, "tile must be at least 1, got 0"),
        ((ONES,) * 3, {"tile": 2.5}, "tile must be a whole number, got 2.5"),
        ((ONES, ONES[:, :3], ONES), {}, "key must be (…, m, d_k = 4), got (3, 3)"),
        ((ONES, ONES, ONES[:2]), {}, "value must be (…, m = 3, d_v), got (2, 4)"),
        ((ONES[0], ONES, ONES), {}, "query must be (…, length, width), got (4,)"),
        ((ONES.expand(2, 3, 4), ONES.expand(3, 3, 4), ONES), {}, "the leading axes must be equal or 1"),
        ((ONES, ONES[:2], ONES[:2]), {"causal": True}, "got n = 3, m = 2"),
        ((ONES, ONES.double(), ONES), {}, "query, key and value must be all float32 or all float64"),
        ((ONES.half(),) * 3, {}, "must be all float32 or all float64, got torch.float16"),
    ],
)
def test_what_cannot_work_is_refused(inputs, options, words) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        tiled(*inputs, **options)  # type: ignore[arg-type]
