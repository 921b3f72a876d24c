"""Attention in tiles, against the whole table."""

import math
from collections.abc import Callable
from functools import partial

import pytest
import torch
from attention_cases import assert_same_gradients, learnable, quick, random
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from attnlab.attention import attend
from attnlab.masks import causal as causal_mask
from attnlab.today.tiles import tiled
from bookkit.memory import peak_memory

CLOSE = {torch.float64: 1e-12, torch.float32: 1e-6}


def whole(query: Tensor, key: Tensor, value: Tensor, causal: bool = False) -> Tensor:
    mask = None
    if causal:
        mask = causal_mask(query.shape[-2], key.shape[-2])
        mask = mask[(None,) * (max(x.dim() for x in (query, key, value)) - 3)] if query.dim() > 2 else mask[0]
    return attend(query, key, value, mask=mask)[0]


def drawn(
    *leading: int, n: int, m: int, d_k: int = 4, d_v: int = 4, dtype: torch.dtype = torch.float64
) -> list[Tensor]:
    shapes = (n, d_k), (m, d_k), (m, d_v)
    return [random(*leading, *shape, dtype=dtype, seed=seed) for seed, shape in enumerate(shapes)]


def assert_close(ours: Tensor, theirs: Tensor) -> None:
    close = CLOSE[theirs.dtype]
    torch.testing.assert_close(ours, theirs, rtol=close, atol=close)


@quick
@given(
    st.sampled_from([(), (2,), (2, 3)]),
    st.integers(1, 9),
    st.integers(0, 5),
    st.integers(1, 5),
    st.integers(1, 5),
    st.integers(1, 10),
    st.booleans(),
    st.sampled_from(list(CLOSE)),
)
def test_equals_the_whole(
    leading: tuple[int, ...],
    n: int,
    more: int,
    d_k: int,
    d_v: int,
    tile: int,
    causal: bool,
    dtype: torch.dtype,
) -> None:
    inputs = learnable(*drawn(*leading, n=n, m=n + more, d_k=d_k, d_v=d_v, dtype=dtype))
    ours, theirs = tiled(*inputs, tile=tile, causal=causal), whole(*inputs, causal=causal)
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, inputs)


@pytest.mark.parametrize("dtype", CLOSE)
@pytest.mark.parametrize("causal", [False, True])
def test_equals_the_whole_where_tiles_do_not_divide_it(dtype: torch.dtype, causal: bool) -> None:
    inputs = learnable(*drawn(2, 2, n=150, m=201, d_k=8, dtype=dtype))
    ours, theirs = tiled(*inputs, tile=64, causal=causal), whole(*inputs, causal=causal)
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, inputs)


@pytest.mark.parametrize("tile", [1, 2, 3])
def test_more_queries_than_keys_and_a_single_one(tile: int) -> None:
    for n, m in ((5, 3), (1, 4)):
        inputs = drawn(n=n, m=m)
        assert_close(tiled(*inputs, tile=tile), whole(*inputs))


def test_no_keys_give_nothing() -> None:
    query, key, value = learnable(*drawn(n=2, m=0))
    output = tiled(query, key, value)
    assert output.tolist() == [[0.0] * 4] * 2
    (gradient,) = torch.autograd.grad(output.sum(), query)
    assert not gradient.any()


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("tile", [2, 3, 8])
def test_the_way_back_is_that_of_the_differences(tile: int, causal: bool) -> None:
    inputs = learnable(*drawn(2, n=5, m=7, d_k=3, d_v=2))
    assert torch.autograd.gradcheck(partial(tiled, tile=tile, causal=causal), inputs)


def test_scores_too_large_for_an_exponential_are_no_trouble() -> None:
    query, key, value = drawn(n=6, m=9, dtype=torch.float32)
    query = 1000 * query
    assert (query @ key.mT).exp().isinf().any()
    assert_close(tiled(query, key, value, tile=2), whole(query, key, value))


def test_scores_far_below_zero_are_no_trouble() -> None:
    query, key = torch.full((2, 4), 100.0), torch.full((3, 4), -100.0)
    value = random(3, 4, dtype=torch.float32)
    assert_close(tiled(query, key, value, tile=2), whole(query, key, value))


def test_tiles_in_which_all_is_hidden_are_never_looked_at() -> None:
    query, key, value = drawn(n=6, m=6)
    value[4:] = math.nan  # hidden, it would still count: 0 · NaN is NaN
    output = tiled(query, key, value, tile=2, causal=True)
    assert output[:4].isfinite().all()
    assert output[4:].isnan().all()


def test_leading_axes_fit_as_everywhere() -> None:
    query, key, value = random(2, 1, 5, 4), random(3, 7, 4, seed=1), random(1, 1, 7, 2, seed=2)
    inputs = learnable(query, key, value)
    ours, theirs = tiled(*inputs, tile=2), whole(*inputs)
    assert ours.shape == (2, 3, 5, 2)
    assert_close(ours, theirs)
    assert_same_gradients(ours, theirs, inputs)


def test_without_gradients_nothing_is_kept_and_no_input_is_changed() -> None:
    inputs = learnable(*drawn(n=5, m=5))
    before = [each.detach().clone() for each in inputs]
    with torch.no_grad():
        output = tiled(*inputs, tile=2)
    assert not output.requires_grad
    assert_close(output, whole(*inputs).detach())
    assert all(map(torch.equal, inputs, before))


def test_a_second_derivative_is_refused_and_not_zero() -> None:
    inputs = learnable(*drawn(n=3, m=3))
    with pytest.raises(
        ValueError, match="create_graph must be False on the way back through tiled, got True"
    ):
        torch.autograd.grad(tiled(*inputs).sum(), inputs[0], create_graph=True)


@pytest.mark.parametrize("back", [False, True])
def test_memory_grows_with_n_and_not_with_its_square(back: bool) -> None:
    def peak(attention: Callable[..., Tensor], n: int) -> int:
        inputs = learnable(*drawn(n=n, m=n, d_k=32, d_v=32, dtype=torch.float32))

        def run() -> object:
            with torch.set_grad_enabled(back):
                output = attention(*inputs)
            return torch.autograd.grad(output.sum(), inputs) if back else output

        return peak_memory(run, torch.device("cpu"))

    in_tiles = partial(tiled, tile=64)
    assert peak(in_tiles, 1024) / peak(in_tiles, 512) <= 2.05
    assert peak(whole, 1024) / peak(whole, 512) >= 3.7
    assert peak(in_tiles, 1024) < peak(whole, 1024) / 12


def test_a_smaller_tile_takes_less() -> None:
    inputs = drawn(n=512, m=512, dtype=torch.float32)
    small, large = (
        peak_memory(partial(tiled, *inputs, tile=tile), torch.device("cpu")) for tile in (32, 256)
    )
    assert small < large / 16


ONES = torch.ones(3, 4)


@pytest.mark.parametrize(
    ("inputs", "options", "error", "message"),
    [
        ((ONES,) * 3, {"tile": 0}, ValueError, "tile must be at least 1, got 0"),
        ((ONES,) * 3, {"tile": 2.5}, TypeError, "tile must be a whole number, got 2.5"),
        ((ONES, ONES[:, :3], ONES), {}, ValueError, r"key must be \(…, m, d_k = 4\), got \(3, 3\)"),
        ((ONES, ONES, ONES[:2]), {}, ValueError, r"value must be \(…, m = 3, d_v\), got \(2, 4\)"),
        ((ONES[0], ONES, ONES), {}, ValueError, r"query must be \(…, length, width\), got \(4,\)"),
        (
            (ONES.expand(2, 3, 4), ONES.expand(3, 3, 4), ONES),
            {},
            ValueError,
            "the leading axes must be equal or 1",
        ),
        ((ONES, ONES[:2], ONES[:2]), {"causal": True}, ValueError, "got n = 3, m = 2"),
        (
            (ONES, ONES.double(), ONES),
            {},
            TypeError,
            "query, key and value must be all float32 or all float64, got torch.float32, torch.float64",
        ),
        ((ONES.half(),) * 3, {}, TypeError, "must be all float32 or all float64, got torch.float16"),
    ],
)
def test_what_cannot_work_is_refused(
    inputs: tuple[Tensor, ...], options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tiled(*inputs, **options)  # type: ignore[arg-type]
