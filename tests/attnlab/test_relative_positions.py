"""Positions that go into the scores: rotated queries and keys, and penalties for distance."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from position_cases import bases, even_widths, quick, random
from torch import Tensor

from attnlab.positions import (
    RotaryPositions,
    alibi,
    alibi_bias,
    alibi_slopes,
    rotary,
    rotate,
    shift_rotation,
)
from attnlab.scores import scaled_dot


class TestRotary:
    @quick
    @given(length=st.integers(1, 20), d_k=even_widths, offset=st.integers(0, 50), base=bases)
    def test_equals_complex_multiplication(self, length: int, d_k: int, offset: int, base: float) -> None:
        vectors = random(2, 3, length, d_k)
        pairs = torch.view_as_complex(vectors.unflatten(-1, (-1, 2)))
        turns = torch.tensor(
            [
                [complex(0, (offset + row) / base ** (2 * pair / d_k)) for pair in range(d_k // 2)]
                for row in range(length)
            ],
            dtype=torch.complex128,
        ).exp()
        expected = torch.view_as_real(pairs * turns).flatten(-2)
        # As in test_equals_the_formula: angles go up to 70.
        torch.testing.assert_close(rotate(vectors, offset, base), expected, rtol=0, atol=1e-12)

    @quick
    @given(d_k=even_widths, offset=st.integers(0, 1000))
    def test_scores_depend_only_on_the_distance(self, d_k: int, offset: int) -> None:
        query, key = random(2, 4, 7, d_k), random(2, 4, 9, d_k).flip(-1)
        here = rotate(query) @ rotate(key).transpose(-2, -1)
        there = rotate(query, offset) @ rotate(key, offset).transpose(-2, -1)
        # Angles of 1000 have a last bit of 1e-13, and d_k ≤ 64 products are summed.
        torch.testing.assert_close(here, there, rtol=0, atol=1e-10)

    @quick
    @given(d_k=even_widths, position=st.integers(0, 100))
    def test_is_the_rotation_of_a_shift_the_other_way(self, d_k: int, position: int) -> None:
        # In the table an angle's sine comes first and its cosine second, in a vector x before y: it turns the
        # other way, from y to x.
        vector = random(1, d_k)
        torch.testing.assert_close(rotate(vector, position), vector @ shift_rotation(position, d_k))

    def test_keeps_lengths_and_gradients(self) -> None:
        vectors = random(3, 8).requires_grad_()
        torch.testing.assert_close(rotate(vectors, 5).norm(dim=-1), vectors.norm(dim=-1))
        assert torch.autograd.gradcheck(rotate, vectors)

    def test_the_module_grows_and_equals_the_function(self) -> None:
        rotary = RotaryPositions(8, max_length=4, base=500.0)
        vectors = random(2, 3, 6, 8, dtype=torch.float32)
        assert torch.equal(rotary(vectors, offset=3), rotate(vectors, 3, base=500.0))
        assert rotary.table.shape == (9, 8)
        assert rotary.state_dict() == {}

    def test_a_cache_grows_key_by_key(self) -> None:
        rotary, keys = RotaryPositions(8, max_length=4), random(1, 2, 6, 8)
        one_by_one = [rotary(keys[..., t : t + 1, :], offset=t) for t in range(6)]
        # The first four come from a float32 table, for it is the module's own dtype.
        torch.testing.assert_close(torch.cat(one_by_one, dim=-2), rotate(keys), rtol=0, atol=1e-6)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
    def test_dtypes(self, dtype: torch.dtype) -> None:
        vectors = random(2, 5, 8)
        turned = rotate(vectors.to(dtype))
        assert turned.dtype == dtype
        assert torch.equal(RotaryPositions(8).to(dtype)(vectors.to(dtype)), turned)
        assert RotaryPositions(8)(vectors.to(dtype)).dtype == dtype
        # The vector, the table, two products and a sum are each rounded once; values stay below 4.
        torch.testing.assert_close(turned.double(), rotate(vectors), rtol=0, atol=10 * torch.finfo(dtype).eps)

    def test_a_table_grown_in_inference_mode_can_train(self) -> None:
        rotary = RotaryPositions(8, max_length=2)
        with torch.inference_mode():
            rotary(torch.ones(1, 6, 8))
        vectors = torch.ones(1, 6, 8, requires_grad=True)
        rotary(vectors).sum().backward()
        assert vectors.grad is not None

    def test_meta(self) -> None:
        vectors = torch.empty(2, 5, 8, device="meta")
        assert rotate(vectors).shape == RotaryPositions(8).to("meta")(vectors).shape == (2, 5, 8)

    def test_refuses(self) -> None:
        with pytest.raises(ValueError, match="d_k must be even, since pairs of columns turn together, got 7"):
            rotate(torch.zeros(2, 7))
        with pytest.raises(ValueError, match="d_k must be even, since pairs of columns turn together, got 7"):
            RotaryPositions(7)
        with pytest.raises(ValueError, match=r"vectors must be \(…, time, d_k = 8\), got \(2, 6\)"):
            RotaryPositions(8)(torch.zeros(2, 6))
        for turn in (rotate, RotaryPositions(8)):
            with pytest.raises(ValueError, match="offset must be at least 0, got -1"):
                turn(torch.zeros(2, 8), offset=-1)
            with pytest.raises(ValueError, match=r"vectors must be \(…, time, d_k( = 8)?\), got \(8,\)"):
                turn(torch.zeros(8))
            with pytest.raises(TypeError, match=r"vectors must be floating-point vectors, got torch\.int64"):
                turn(torch.zeros(2, 8, dtype=torch.int64))


class TestAlibi:
    def test_slopes_of_a_power_of_two(self) -> None:
        assert alibi_slopes(8) == [1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64, 1 / 128, 1 / 256]
        assert alibi_slopes(16)[:2] == [2**-0.5, 2**-1]
        assert alibi_slopes(1) == [1 / 256]

    def test_slopes_of_other_numbers_of_heads(self) -> None:
        # Eight heads' slopes, then the 1st, 3rd, 5th and 7th of sixteen heads'.
        assert alibi_slopes(12) == [*alibi_slopes(8), 2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5]
        assert alibi_slopes(6) == [2**-2, 2**-4, 2**-6, 2**-8, 2**-1, 2**-3]

    @pytest.mark.parametrize("heads", range(1, 40))
    def test_slopes_are_different_and_between_0_and_1(self, heads: int) -> None:
        slopes = alibi_slopes(heads)
        assert len(set(slopes)) == heads
        assert all(2**-8 <= slope < 1 for slope in slopes)

    @quick
    @given(heads=st.integers(1, 9), n=st.integers(0, 6), cached=st.integers(0, 3))
    def test_equals_the_formula(self, heads: int, n: int, cached: int) -> None:
        m = n + cached
        bias = alibi_bias(heads, n, m, dtype=torch.float64)
        assert bias.shape == (heads, n, m)
        for head, slope in enumerate(alibi_slopes(heads)):
            for row in range(n):
                for key in range(m):
                    assert bias[head, row, key].item() == -slope * abs(cached + row - key)

    def test_the_same_in_both_directions(self) -> None:
        bias = alibi_bias(3, 7, 7)
        assert torch.equal(bias, bias.transpose(-2, -1))

    def test_one_query_at_a_time_with_a_cache(self) -> None:
        whole = alibi_bias(4, 6, 6)
        for length in range(1, 7):
            assert torch.equal(alibi_bias(4, 1, length)[:, 0], whole[:, length - 1, :length])

    def test_under_a_causal_mask_it_is_a_ramp_along_the_keys(self) -> None:
        # Softmax ignores what is added to a whole row, so slope · key says what -slope · (query - key) says.
        past = torch.ones(6, 6).tril().bool()
        scores = random(3, 6, 6)
        ramp = torch.tensor(alibi_slopes(3), dtype=torch.float64)[:, None, None] * torch.arange(6)
        biased = scores + alibi_bias(3, 6, 6, torch.float64)
        weights, expected = (s.masked_fill(~past, -math.inf).softmax(-1) for s in (biased, scores + ramp))
        torch.testing.assert_close(weights, expected)

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
    def test_far_distances_are_rounded_once(self, dtype: torch.dtype) -> None:
        bias = alibi_bias(1, 1, 1000, dtype)
        assert bias.dtype == dtype
        assert torch.equal(bias[0, 0], (-torch.arange(999, -1, -1, dtype=torch.float64) / 256).to(dtype))

    def test_meta(self) -> None:
        assert alibi_bias(2, 3, 4, device=torch.device("meta")).shape == (2, 3, 4)

    def test_refuses(self) -> None:
        with pytest.raises(ValueError, match="heads must be at least 1, got 0"):
            alibi_bias(0, 2, 2)
        for n, m in ((-1, 2), (3, 2)):
            with pytest.raises(ValueError, match=f"n must be from 0 to m, .* got n = {n}, m = {m}"):
                alibi_bias(2, n, m)


class TestScores:
    @quick
    @given(heads=st.integers(1, 4), n=st.integers(1, 5), cached=st.integers(0, 3), d_k=even_widths)
    def test_equal_what_they_are_made_of(self, heads: int, n: int, cached: int, d_k: int) -> None:
        m = n + cached
        query, key = random(2, heads, n, d_k), random(2, heads, m, d_k).flip(-1)
        # All m queries, of which the last n are asked for.
        padded = torch.cat([random(2, heads, cached, d_k), query], dim=-2)
        turned = scaled_dot(rotate(padded), rotate(key))[..., cached:, :]
        # Numbers of order 1, in sums of up to 64.
        torch.testing.assert_close(rotary(query, key), turned, rtol=0, atol=1e-12)
        biased = scaled_dot(query, key) + alibi_bias(heads, n, m, torch.float64)
        torch.testing.assert_close(alibi(query, key), biased, rtol=0, atol=0)

    def test_one_head_at_a_time(self) -> None:
        query = random(1, 3, 4)
        torch.testing.assert_close(rotary(query[0], query[0]), rotary(query, query)[0])
        with pytest.raises(ValueError, match=r"query must be \(…, heads, n, d_k\), got \(3, 4\)"):
            alibi(query[0], query[0])

    @pytest.mark.parametrize("score", [rotary, alibi])
    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
    def test_keep_the_dtype_and_the_device(
        self, score: Callable[[Tensor, Tensor], Tensor], dtype: torch.dtype
    ) -> None:
        query, key = torch.empty(2, 3, 4, 8, dtype=dtype), torch.empty(2, 3, 5, 8, dtype=dtype)
        assert score(query, key).dtype == dtype
        assert score(query.to("meta"), key.to("meta")).device.type == "meta"

    @pytest.mark.parametrize("score", [rotary, alibi])
    def test_refuse_more_queries_than_keys(self, score: Callable[[Tensor, Tensor], Tensor]) -> None:
        with pytest.raises(ValueError, match=r"n must be from 0 to m, .* got n = 3, m = 2"):
            score(torch.zeros(1, 3, 4), torch.zeros(1, 2, 4))
