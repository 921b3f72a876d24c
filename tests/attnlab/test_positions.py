"""Positions: the table, its rotation, learned rows, and those that go into scores."""

import copy
import math
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensors import ALL_DTYPES, HALVES, META, bases, even_widths, quick, random
from torch import Tensor, nn

from attnlab.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    alibi,
    alibi_bias,
    alibi_slopes,
    rotary,
    rotate,
    shift_rotation,
    sinusoidal,
    stretched,
)
from attnlab.scores import scaled_dot
from attnlab.training.many_seeds import ManySeeds


def slow_table(length: int, d_model: int, base: float) -> Tensor:
    """The formula, one number at a time."""
    rows = []
    for position in range(length):
        angles = [position / base ** (2 * (column // 2) / d_model) for column in range(d_model)]
        rows.append([math.cos(a) if column % 2 else math.sin(a) for column, a in enumerate(angles)])
    return torch.tensor(rows, dtype=torch.float64).reshape(length, d_model)


# ---- the table ----


@quick
@given(length=st.integers(0, 40), d_model=st.integers(1, 33), base=bases)
def test_the_table_equals_the_formula(length: int, d_model: int, base: float) -> None:
    table = sinusoidal(length, d_model, base, dtype=torch.float64)
    # A power and a product may each differ in the last bit of an angle, and angles go up to 40.
    torch.testing.assert_close(table, slow_table(length, d_model, base), rtol=0, atol=1e-13)


def test_far_rows_are_as_good_as_near_ones_in_float32_and_rounded_once_in_less() -> None:
    # Rounding an angle below 2π to float32 costs at most 2^-22, and rounding its sine 2^-24. Angles that
    # are float32 all along would be off by 2e-4 here.
    table = sinusoidal(5000, 16)
    torch.testing.assert_close(table.double(), slow_table(5000, 16, 10000.0), rtol=0, atol=2**-22 + 2**-24)
    for dtype in HALVES:
        assert torch.equal(sinusoidal(50, 16, dtype=dtype), table[:50].to(dtype))


@quick
@given(shift=st.integers(-200, 200), d_model=even_widths, base=bases)
def test_a_shift_is_a_rotation(shift: int, d_model: int, base: float) -> None:
    table = sinusoidal(600, d_model, base, dtype=torch.float64)
    there = shift_rotation(shift, d_model, base)
    # Angles go up to 600, whose last bit is 1e-13.
    shifted = table[200 + shift : 400 + shift]
    torch.testing.assert_close(table[200:400] @ there.T, shifted, rtol=0, atol=1e-12)
    torch.testing.assert_close(there @ there.T, torch.eye(d_model, dtype=torch.float64))


# ---- the modules ----


@quick
@given(batch=st.integers(1, 5), length=st.integers(0, 12), d_model=st.integers(1, 9), base=bases)
def test_the_row_of_each_position_is_added(batch: int, length: int, d_model: int, base: float) -> None:
    # Batch and length are sometimes equal, which hides a length read from the wrong axis, and often not.
    inputs = random(batch, length, d_model)
    positions = SinusoidalPositions(d_model, max_length=5, base=base).double()
    torch.testing.assert_close(
        positions(inputs), inputs + slow_table(length, d_model, base), rtol=0, atol=1e-13
    )
    assert torch.equal(positions(inputs)[0], positions(inputs[0]))


def test_a_table_of_waves_is_neither_trained_nor_saved_and_grows() -> None:
    for positions in (SinusoidalPositions(6, max_length=4), RotaryPositions(6, max_length=4)):
        assert [name for name, _ in positions.named_buffers()] == ["table"]
        assert not [*positions.parameters()]
        assert positions.state_dict() == {}
        before = positions(torch.ones(1, 4, 6))
        assert positions(torch.ones(1, 9, 6)).shape == (1, 9, 6)
        assert torch.equal(positions.table, sinusoidal(9, 6))
        assert torch.equal(positions(torch.ones(1, 4, 6)), before)
        positions(torch.ones(1, 10, 6))
        assert positions.table.shape == (18, 6)
        assert positions.to("meta").table.is_meta
    assert SinusoidalPositions(4, max_length=0)(torch.zeros(1, 3, 4)).shape == (1, 3, 4)


def test_the_table_is_exact_wherever_it_comes_from() -> None:
    # Float16 numbers made float64 would be off by 5e-4.
    table = SinusoidalPositions(8, max_length=30).half().double().table
    assert torch.equal(table, sinusoidal(30, 8, dtype=torch.float64))
    with META:
        positions = SinusoidalPositions(8, max_length=30)
    assert positions.table.is_meta
    assert torch.equal(positions.to_empty(device="cpu").table, sinusoidal(30, 8))
    torch.set_default_dtype(torch.float64)
    try:
        table = SinusoidalPositions(8, max_length=30).table
    finally:
        torch.set_default_dtype(torch.float32)
    assert torch.equal(table, sinusoidal(30, 8, dtype=torch.float64))


def test_learned_rows_are_added_and_only_those_in_use_learn() -> None:
    positions, inputs = LearnedPositions(4, max_length=6), random(3, 6, 4, dtype=torch.float32)
    assert torch.equal(positions(inputs), inputs + positions.table)
    positions(inputs[:, :5]).sum().backward()
    # One gradient of 1 from each of the three sentences, and none for the row that no sentence reached.
    assert positions.table.grad.tolist() == [[3.0] * 4] * 5 + [[0.0] * 4]
    assert [*positions.state_dict()] == ["table"]


def test_learned_rows_start_as_loud_as_waves() -> None:
    torch.manual_seed(0)
    learned = LearnedPositions(64, max_length=500).table.square().mean().item()
    waves = sinusoidal(500, 64).square().mean().item()
    # Four standard errors: the square of a number of variance 1/2 has variance 1/2, and there are 32,000.
    assert learned == pytest.approx(waves, abs=4 * math.sqrt(0.5 / 32000))


MODULES: dict[str, Callable[..., nn.Module]] = {
    "sinusoidal": lambda **more: SinusoidalPositions(8, max_length=4, **more),
    "learned": lambda **more: LearnedPositions(8, max_length=20, **more),
    "rotary": lambda **more: RotaryPositions(8, max_length=4, **more),
}


@pytest.mark.parametrize("name", ["sinusoidal", "learned"])
def test_dropout_is_on_the_sum_and_only_in_training(name: str) -> None:
    positions, inputs = MODULES[name](dropout=1.0), torch.ones(1, 3, 8)
    assert positions(inputs).count_nonzero() == 0
    assert torch.equal(positions.eval()(inputs), inputs + positions.table[:3])


@pytest.mark.parametrize("build", MODULES.values(), ids=MODULES)
class TestEveryModule:
    @pytest.mark.thorough
    def test_compiles(self, build: Callable[[], nn.Module]) -> None:
        module, inputs = build(), random(2, 10, 8, dtype=torch.float32)
        compiled = torch.compile(copy.deepcopy(module), backend="eager", fullgraph=True)
        assert torch.equal(compiled(inputs), module(inputs))

    def test_stacks_over_seeds(self, build: Callable[[], nn.Module]) -> None:
        members, inputs = [build(), build()], random(2, 10, 8)
        many = ManySeeds(members).double()
        for member in members:
            member.double()
        expected = torch.stack([member(inputs) for member in members])
        torch.testing.assert_close(many(inputs), expected, rtol=0, atol=1e-12)

    @pytest.mark.parametrize("dtype", ALL_DTYPES)
    def test_keeps_the_dtype_and_the_device(self, build: Callable[[], nn.Module], dtype: torch.dtype) -> None:
        inputs = random(2, 3, 8, dtype=dtype)
        assert build().to(dtype)(inputs).dtype == dtype
        assert build().to("meta")(torch.empty(2, 5, 8, device="meta")).shape == (2, 5, 8)

    def test_an_offset_goes_on_where_the_words_before_ended(self, build: Callable[[], nn.Module]) -> None:
        positions, text = build(), random(2, 9, 8, dtype=torch.float32)
        whole = positions(text)
        for start in (0, 1, 5):
            assert torch.equal(positions(text[:, start:], offset=start), whole[:, start:])

    def test_refuses(self, build: Callable[[], nn.Module]) -> None:
        with pytest.raises(ValueError, match="offset must be at least 0, got -1"):
            build()(torch.zeros(2, 8), offset=-1)
        for shape in ((8,), (2, 6)):
            with pytest.raises(ValueError, match=r"must be \(…, time, d_(model|k) = 8\), got"):
                build()(torch.zeros(shape))
        with pytest.raises(TypeError, match=r"must be floating-point vectors, got torch\.int64"):
            build()(torch.zeros(2, 8, dtype=torch.int64))


# ---- rotary ----


@quick
@given(length=st.integers(1, 20), d_k=even_widths, offset=st.integers(0, 50), base=bases)
def test_a_rotation_is_a_complex_multiplication(length: int, d_k: int, offset: int, base: float) -> None:
    vectors = random(2, 3, length, d_k)
    pairs = torch.view_as_complex(vectors.unflatten(-1, (-1, 2)))
    places, columns = torch.arange(length).double() + offset, torch.arange(0, d_k, 2).double()
    angles = places[:, None] / base ** (columns / d_k)
    expected = torch.view_as_real(pairs * torch.polar(torch.ones_like(angles), angles)).flatten(-2)
    # As for the table: angles go up to 70.
    torch.testing.assert_close(rotate(vectors, offset, base), expected, rtol=0, atol=1e-12)


def test_rotations_have_gradients_and_the_module_is_the_function() -> None:
    assert torch.autograd.gradcheck(rotate, random(3, 8).requires_grad_())
    vectors = random(2, 3, 6, 8, dtype=torch.float32)
    turning = RotaryPositions(8, max_length=4, base=500.0)
    assert torch.equal(turning(vectors, offset=3), rotate(vectors, 3, base=500.0))
    with torch.inference_mode():  # a table that grew there can train
        turning(torch.ones(1, 20, 8))
    turning(vectors.requires_grad_()).sum().backward()
    assert vectors.grad is not None


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_rotations_in_any_precision(dtype: torch.dtype) -> None:
    vectors = random(2, 5, 8)
    turned = rotate(vectors.to(dtype))
    assert torch.equal(RotaryPositions(8).to(dtype)(vectors.to(dtype)), turned)
    assert RotaryPositions(8)(vectors.to(dtype)).dtype == turned.dtype == dtype
    # The vector, the table, two products and a sum are each rounded once; values stay below 4.
    torch.testing.assert_close(turned.double(), rotate(vectors), rtol=0, atol=10 * torch.finfo(dtype).eps)


# ---- ALiBi ----


@quick
@given(heads=st.integers(1, 9), n=st.integers(0, 6), cached=st.integers(0, 3))
def test_a_bias_equals_the_formula(heads: int, n: int, cached: int) -> None:
    m = n + cached
    places = [[abs(cached + row - key) for key in range(m)] for row in range(n)]
    expected = [[[-slope * away for away in row] for row in places] for slope in alibi_slopes(heads)]
    bias = alibi_bias(heads, n, m, dtype=torch.float64)
    assert bias.shape == (heads, n, m)
    assert bias.tolist() == expected


@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_far_distances_are_rounded_once(dtype: torch.dtype) -> None:
    bias = alibi_bias(1, 1, 1000, dtype)
    assert torch.equal(bias[0, 0], (-torch.arange(999, -1, -1, dtype=torch.float64) / 256).to(dtype))
    assert alibi_bias(2, 3, 4, device=META).shape == (2, 3, 4)


# ---- as scores ----


@quick
@given(heads=st.integers(1, 4), n=st.integers(1, 5), cached=st.integers(0, 3), d_k=even_widths)
def test_scores_are_what_they_are_made_of(heads: int, n: int, cached: int, d_k: int) -> None:
    m = n + cached
    query, key = random(2, heads, n, d_k), random(2, heads, m, d_k).flip(-1)
    # All m queries, of which the last n are asked for.
    padded = torch.cat([random(2, heads, cached, d_k), query], dim=-2)
    turned = scaled_dot(rotate(padded), rotate(key))[..., cached:, :]
    # Numbers of order 1, in sums of up to 64.
    torch.testing.assert_close(rotary(query, key), turned, rtol=0, atol=1e-12)
    torch.testing.assert_close(rotary(query[0, 0], key[0, 0]), turned[0, 0], rtol=0, atol=1e-12)
    biased = scaled_dot(query, key) + alibi_bias(heads, n, m, torch.float64)
    torch.testing.assert_close(alibi(query, key), biased, rtol=0, atol=0)


@pytest.mark.parametrize("score", [rotary, alibi])
@pytest.mark.parametrize("dtype", ALL_DTYPES)
def test_scores_keep_the_dtype_and_the_device(score: Callable[..., Tensor], dtype: torch.dtype) -> None:
    query, key = torch.empty(2, 3, 4, 8, dtype=dtype), torch.empty(2, 3, 5, 8, dtype=dtype)
    assert score(query, key).dtype == dtype
    assert score(query.to("meta"), key.to("meta")).is_meta


# ---- what cannot work ----

FREQUENCIES = torch.tensor([1.0, 0.1])


def test_a_stretch_by_one_is_none() -> None:
    assert torch.equal(stretched(FREQUENCIES, 1, 8, "mixed", slow=0), FREQUENCIES)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sinusoidal(-1, 4), "length must be at least 0, got -1"),
        (lambda: sinusoidal(3, 0), "d_model must be at least 1, got 0"),
        (lambda: sinusoidal(3, 4, 0.0), "base must be above 0, got 0.0"),
        (lambda: shift_rotation(1, 7), "d_model must be even"),
        (lambda: LearnedPositions(4, 6)(torch.zeros(2, 7, 4)), "inputs has 7 positions, and max_length is 6"),
        (lambda: LearnedPositions(4, 20)(torch.zeros(1, 3, 4), offset=18), "inputs has 21 positions"),
        (lambda: rotate(torch.zeros(2, 7)), "d_k must be even, since pairs of columns turn together, got 7"),
        (lambda: rotate(torch.zeros(2, 0)), "d_k must be even"),
        (lambda: rotate(torch.zeros(8)), "vectors must be (…, time, d_k), got (8,)"),
        (lambda: rotate(torch.zeros(2, 8), offset=-1), "offset must be at least 0"),
        (lambda: RotaryPositions(7), "d_k must be even"),
        (lambda: alibi_bias(0, 2, 2), "heads must be at least 1, got 0"),
        (lambda: alibi_bias(2, -1, 2), "n must be from 0 to m"),
        (lambda: alibi(torch.zeros(3, 4), torch.zeros(3, 4)), "query must be (…, heads, n, d_k), got (3, 4)"),
        (lambda: alibi(torch.zeros(1, 3, 4), torch.zeros(1, 2, 4)), "n must be from 0 to m"),
        (lambda: rotary(torch.zeros(1, 3, 4), torch.zeros(1, 2, 4)), "n must be from 0 to m"),
        (lambda: stretched(FREQUENCIES, 4, 0, "mixed"), "longest must be at least 1, got 0"),
        (lambda: stretched(FREQUENCIES, 0.5, 8, "mixed"), "factor must be at least 1, got 0.5"),
        (lambda: stretched(FREQUENCIES, math.nan, 8, "mixed"), "factor must be at least 1, got nan"),
        (lambda: stretched(FREQUENCIES, 4, 8, "yarn"), "one of 'interpolated', 'larger base', 'mixed', got"),
        (lambda: stretched(FREQUENCIES, 4, 8, "mixed", slow=-1), "slow = -1 and fast = 32"),
        (lambda: stretched(FREQUENCIES, 4, 8, "mixed", 2, 2), "slow must be at least 0 and below fast"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        call()
