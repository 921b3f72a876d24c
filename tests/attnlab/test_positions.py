"""Positions: the table to the digit, its rotation, learned rows, rotary, ALiBi."""

import copy
import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from position_cases import bases, even_widths, quick, random
from torch import Tensor, nn

from attnlab.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    shift_rotation,
    sinusoidal,
    stretched,
)
from attnlab.training.many_seeds import ManySeeds

# What d_model = 16 prints in float32, to five significant digits.
ROW_1 = """0.84147 0.54030 0.31098 0.95042 0.099833 0.99500 0.031618 0.99950
    0.0099998 0.99995 0.0031623 0.99999 0.0010000 1.0000 0.00031623 1.0000"""


ROW_2 = """0.90930 -0.41615 0.59113 0.80658 0.19867 0.98007 0.063203 0.99800
    0.019999 0.99980 0.0063245 0.99998 0.0020000 1.0000 0.00063246 1.0000"""


ROW_2_LESS_1 = """0.067826 -0.95645 0.28014 -0.14384 0.098836 -0.014938 0.031586 -0.0014994
    0.0099988 -0.00014997 0.0031622 -0.000014961 0.0010000 -0.0000014901 0.00031623 -0.00000011921"""


ROW_3_LESS_2 = """-0.76818 -0.57385 0.22152 -0.22382 0.096851 -0.024730 0.031523 -0.0024973
    0.0099968 -0.00024998 0.0031622 -0.000025034 0.0010000 -0.0000025034 0.00031623 -0.00000023842"""


def digits(row: Tensor) -> list[str]:
    return [f"{value:.4e}" for value in row.tolist()]


def printed(row: str) -> list[str]:
    return [f"{float(value):.4e}" for value in row.split()]


def slow_table(length: int, d_model: int, base: float) -> Tensor:
    """The formula, one number at a time."""
    rows = []
    for position in range(length):
        row = []
        for column in range(d_model):
            angle = position / base ** (2 * (column // 2) / d_model)
            row.append(math.cos(angle) if column % 2 else math.sin(angle))
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float64).reshape(length, d_model)


class TestSinusoidal:
    @pytest.mark.parametrize(("row", "expected"), [(1, ROW_1), (2, ROW_2)])
    def test_rows_to_the_digit(self, row: int, expected: str) -> None:
        assert digits(sinusoidal(5000, 16)[row]) == printed(expected)

    @pytest.mark.parametrize(("row", "expected"), [(2, ROW_2_LESS_1), (3, ROW_3_LESS_2)])
    def test_differences_to_the_digit(self, row: int, expected: str) -> None:
        table = sinusoidal(5000, 16)
        assert digits(table[row] - table[row - 1]) == printed(expected)

    def test_smallest_difference_is_float32_cancellation(self) -> None:
        exact = sinusoidal(3, 16, dtype=torch.float64)
        assert f"{exact[2, 15] - exact[1, 15]:.2e}" == "-1.50e-07"
        rounded = sinusoidal(3, 16)
        assert f"{rounded[2, 15] - rounded[1, 15]:.2e}" == "-1.19e-07"

    def test_last_digits_are_those_of_a_float32_sine(self) -> None:
        exact, printed_column = sinusoidal(3, 16, dtype=torch.float64), sinusoidal(3, 16)[:, 11]
        assert f"{exact[2, 11] - exact[1, 11]:.4e}" == "-1.5000e-05"
        assert f"{printed_column[2] - printed_column[1]:.4e}" == "-1.4961e-05"
        # Rounding after the cosine in place of before moves one of the two by a float32 step, 6e-8.
        rounded_column = exact.float()[:, 11]
        assert f"{rounded_column[2] - rounded_column[1]:.4e}" == "-1.5020e-05"

    def test_row_0_alternates(self) -> None:
        assert sinusoidal(1, 8).tolist() == [[0, 1, 0, 1, 0, 1, 0, 1]]

    @quick
    @given(length=st.integers(0, 40), d_model=st.integers(1, 33), base=bases)
    def test_equals_the_formula(self, length: int, d_model: int, base: float) -> None:
        table = sinusoidal(length, d_model, base, dtype=torch.float64)
        assert table.shape == (length, d_model)
        # A power and a product may each differ in the last bit of an angle, and angles go up to 40.
        torch.testing.assert_close(table, slow_table(length, d_model, base), rtol=0, atol=1e-13)

    def test_far_rows_are_as_good_as_near_ones_in_float32(self) -> None:
        # Rounding an angle below 2π to float32 costs at most 2^-22, and rounding its sine 2^-24. Angles that
        # are float32 all along would be off by 2e-4 here.
        expected = slow_table(5000, 16, 10000.0)
        torch.testing.assert_close(sinusoidal(5000, 16).double(), expected, rtol=0, atol=2**-22 + 2**-24)

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    def test_half_precision_is_rounded_once(self, dtype: torch.dtype) -> None:
        table = sinusoidal(50, 10, dtype=dtype)
        assert table.dtype == dtype
        assert torch.equal(table, sinusoidal(50, 10).to(dtype))

    @quick
    @given(d_model=even_widths, base=bases)
    def test_every_row_has_the_norm_of_its_cosines(self, d_model: int, base: float) -> None:
        norms = sinusoidal(100, d_model, base, dtype=torch.float64).norm(dim=-1)
        torch.testing.assert_close(norms, torch.full_like(norms, math.sqrt(d_model / 2)), rtol=1e-14, atol=0)

    def test_meta(self) -> None:
        assert sinusoidal(5, 4, device=torch.device("meta")).is_meta

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ((-1, 4), "length must be at least 0, got -1"),
            ((3, 0), "d_model must be at least 1, got 0"),
            ((3, 4, 0.0), "base must be above 0, got 0.0"),
        ],
    )
    def test_refuses(self, arguments: tuple[int, int], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            sinusoidal(*arguments)


class TestShiftRotation:
    @quick
    @given(shift=st.integers(-200, 200), d_model=even_widths, base=bases)
    def test_shifts_every_row(self, shift: int, d_model: int, base: float) -> None:
        table = sinusoidal(600, d_model, base, dtype=torch.float64)
        before, after = table[200:400], table[200 + shift : 400 + shift]
        # Angles go up to 600, whose last bit is 1e-13.
        torch.testing.assert_close(before @ shift_rotation(shift, d_model, base).T, after, rtol=0, atol=1e-12)

    @quick
    @given(first=st.integers(-50, 50), second=st.integers(-50, 50), d_model=even_widths)
    def test_is_a_rotation_and_shifts_add_up(self, first: int, second: int, d_model: int) -> None:
        there, back = shift_rotation(first, d_model), shift_rotation(-first, d_model)
        torch.testing.assert_close(there @ there.T, torch.eye(d_model, dtype=torch.float64))
        torch.testing.assert_close(there.T, back)
        both = shift_rotation(first + second, d_model)
        torch.testing.assert_close(there @ shift_rotation(second, d_model), both)

    def test_no_shift_is_the_identity(self) -> None:
        assert torch.equal(shift_rotation(0, 6), torch.eye(6, dtype=torch.float64))

    def test_refuses_an_odd_width(self) -> None:
        with pytest.raises(
            ValueError, match="d_model must be even, since pairs of columns turn together, got 7"
        ):
            shift_rotation(1, 7)


class TestSinusoidalPositions:
    @quick
    @given(batch=st.integers(1, 5), length=st.integers(0, 12), d_model=st.integers(1, 9), base=bases)
    def test_adds_the_row_of_each_position(self, batch: int, length: int, d_model: int, base: float) -> None:
        # Batch and length are sometimes equal, which hides a length read from the wrong axis, and often not.
        inputs = random(batch, length, d_model)
        outputs = SinusoidalPositions(d_model, max_length=5, base=base).double()(inputs)
        # As in test_equals_the_formula.
        torch.testing.assert_close(outputs, inputs + slow_table(length, d_model, base), rtol=0, atol=1e-13)

    def test_one_sentence_alone(self) -> None:
        positions, inputs = SinusoidalPositions(6), random(3, 7, 6, dtype=torch.float32)
        assert torch.equal(positions(inputs)[1], positions(inputs[1]))

    def test_the_buffer_moves_but_is_neither_trained_nor_saved(self) -> None:
        positions = SinusoidalPositions(4, max_length=10)
        assert [name for name, _ in positions.named_buffers()] == ["table"]
        assert list(positions.parameters()) == []
        assert positions.state_dict() == {}
        assert positions.to("meta").table.is_meta

    def test_a_checkpoint_of_another_length_loads(self) -> None:
        def model(max_length: int) -> nn.Module:
            return nn.Sequential(nn.Linear(4, 4), SinusoidalPositions(4, max_length))

        saved, loaded = model(50), model(7)
        loaded.load_state_dict(saved.state_dict())
        inputs = random(2, 30, 4, dtype=torch.float32)
        assert torch.equal(loaded(inputs), saved(inputs))

    def test_grows_without_changing_what_stood(self) -> None:
        positions = SinusoidalPositions(6, max_length=4)
        short, long = torch.zeros(1, 4, 6), torch.zeros(1, 9, 6)
        before = positions(short)
        assert torch.equal(positions(long)[0], sinusoidal(9, 6))
        assert torch.equal(positions(short), before)
        assert positions.table.shape == (9, 6)
        positions(torch.zeros(1, 10, 6))
        assert positions.table.shape == (18, 6)

    def test_grows_from_nothing(self) -> None:
        assert SinusoidalPositions(4, max_length=0)(torch.zeros(1, 3, 4)).shape == (1, 3, 4)

    def test_the_table_is_exact_after_every_change_of_dtype(self) -> None:
        # Float16 numbers made float64 would be off by 5e-4.
        table = SinusoidalPositions(8, max_length=30).half().double().table
        assert torch.equal(table, sinusoidal(30, 8, dtype=torch.float64))

    def test_the_table_is_filled_on_the_way_back_from_meta(self) -> None:
        with torch.device("meta"):
            positions = SinusoidalPositions(8, max_length=30)
        assert positions.table.is_meta
        assert torch.equal(positions.to_empty(device="cpu").table, sinusoidal(30, 8))

    def test_takes_the_default_dtype(self) -> None:
        torch.set_default_dtype(torch.float64)
        try:
            table = SinusoidalPositions(8, max_length=30).table
        finally:
            torch.set_default_dtype(torch.float32)
        assert torch.equal(table, sinusoidal(30, 8, dtype=torch.float64))

    @pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
    def test_keeps_the_dtype_of_its_input(self, dtype: torch.dtype) -> None:
        inputs = random(2, 3, 4, dtype=dtype)
        assert SinusoidalPositions(4)(inputs).dtype == dtype
        assert SinusoidalPositions(4).to(dtype)(inputs).dtype == dtype

    def test_meta_input(self) -> None:
        outputs = SinusoidalPositions(4, max_length=2).to("meta")(torch.empty(2, 5, 4, device="meta"))
        assert outputs.is_meta
        assert outputs.shape == (2, 5, 4)

    def test_dropout_is_on_the_sum_and_only_in_training(self) -> None:
        positions = SinusoidalPositions(4, dropout=1.0)
        inputs = torch.ones(1, 3, 4)
        assert positions(inputs).count_nonzero() == 0
        assert torch.equal(positions.eval()(inputs), inputs + sinusoidal(3, 4))

    def test_refuses(self) -> None:
        positions = SinusoidalPositions(4)
        with pytest.raises(ValueError, match=r"inputs must be \(…, time, d_model = 4\), got \(2, 3, 5\)"):
            positions(torch.zeros(2, 3, 5))
        with pytest.raises(ValueError, match=r"inputs must be \(…, time, d_model = 4\), got \(4,\)"):
            positions(torch.zeros(4))
        with pytest.raises(TypeError, match=r"inputs must be floating-point vectors, got torch\.int64"):
            positions(torch.zeros(2, 4, dtype=torch.int64))


class TestLearnedPositions:
    def test_adds_and_trains_only_the_rows_in_use(self) -> None:
        positions, inputs = LearnedPositions(4, max_length=6), random(3, 5, 4, dtype=torch.float32)
        outputs = positions(inputs)
        assert torch.equal(outputs, inputs + positions.table[:5])
        outputs.sum().backward()
        # One gradient of 1 from each of the three sentences, and none for the row that no sentence reached.
        assert positions.table.grad.tolist() == [[3.0] * 4] * 5 + [[0.0] * 4]

    def test_the_longest_sentence_takes_every_row(self) -> None:
        positions, inputs = LearnedPositions(4, max_length=6), random(3, 6, 4, dtype=torch.float32)
        assert torch.equal(positions(inputs), inputs + positions.table)

    def test_starts_as_loud_as_the_sinusoidal_table(self) -> None:
        torch.manual_seed(0)
        learned = LearnedPositions(64, max_length=500).table.square().mean().item()
        sinusoids = sinusoidal(500, 64).square().mean().item()
        # Four standard errors: the square of a number of variance 1/2 has variance 1/2, and there are 32,000.
        assert learned == pytest.approx(sinusoids, abs=4 * math.sqrt(0.5 / 32000))

    def test_state_dict_round_trip(self) -> None:
        saved, loaded = LearnedPositions(4, max_length=6), LearnedPositions(4, max_length=6)
        loaded.load_state_dict(saved.state_dict())
        assert list(saved.state_dict()) == ["table"]
        assert torch.equal(loaded.table, saved.table)

    def test_dropout_is_on_the_sum_and_only_in_training(self) -> None:
        positions = LearnedPositions(4, max_length=6, dropout=1.0)
        inputs = torch.ones(1, 3, 4)
        assert positions(inputs).count_nonzero() == 0
        assert torch.equal(positions.eval()(inputs), inputs + positions.table[:3])

    def test_meta(self) -> None:
        outputs = LearnedPositions(4, max_length=6).to("meta")(torch.empty(2, 5, 4, device="meta"))
        assert outputs.shape == (2, 5, 4)

    def test_refuses(self) -> None:
        positions = LearnedPositions(4, max_length=6)
        with pytest.raises(ValueError, match="inputs has 7 positions, and max_length is 6"):
            positions(torch.zeros(2, 7, 4))
        with pytest.raises(ValueError, match=r"inputs must be \(…, time, d_model = 4\), got \(2, 3, 5\)"):
            positions(torch.zeros(2, 3, 5))


MODULES = {
    "sinusoidal": lambda: SinusoidalPositions(8, max_length=4),
    "rotary": lambda: RotaryPositions(8, max_length=4),
    "learned": lambda: LearnedPositions(8, max_length=20),
}


@pytest.mark.parametrize("build", MODULES.values(), ids=MODULES)
class TestEveryModule:
    @pytest.mark.thorough
    def test_compiles(self, build: Callable[[], nn.Module]) -> None:
        module, inputs = build(), random(2, 10, 8, dtype=torch.float32)
        compiled = torch.compile(copy.deepcopy(module), backend="eager", fullgraph=True)
        assert torch.equal(compiled(inputs), module(inputs))

    def test_vmaps(self, build: Callable[[], nn.Module]) -> None:
        module, inputs = build(), random(3, 2, 10, 8, dtype=torch.float32)
        assert torch.equal(torch.vmap(module)(inputs), torch.stack([module(example) for example in inputs]))

    def test_stacks_and_moves_over_seeds(self, build: Callable[[], nn.Module]) -> None:
        members, inputs = [build(), build()], random(2, 10, 8)
        many = ManySeeds(members).double()
        expected = torch.stack([member.double()(inputs) for member in members])
        torch.testing.assert_close(many(inputs), expected, rtol=0, atol=1e-12)


class TestStretched:
    # Radians a place of 4 pairs: within 100 places they turn 63, 6.3, 0.63 and 0.063 times, in turns of 2π.
    FREQUENCIES = 2 * math.pi * torch.tensor([0.63, 0.063, 0.0063, 0.00063], dtype=torch.float64)

    def shares(self, factor: float, how: str, **ends: float) -> list[float]:
        return (stretched(self.FREQUENCIES, factor, 100, how, **ends) / self.FREQUENCIES).tolist()

    def test_interpolated_divides_each_pair(self) -> None:
        assert self.shares(4, "interpolated") == pytest.approx([1 / 4] * 4)

    def test_a_larger_base_leaves_the_fastest_and_divides_the_slowest(self) -> None:
        assert self.shares(8, "larger base") == pytest.approx([1, 1 / 2, 1 / 4, 1 / 8])

    def test_a_larger_base_is_a_base(self) -> None:
        """The rule: the base times factor^(d_k / (d_k - 2))."""
        pairs = torch.arange(0, 16, 2, dtype=torch.float64) / 16
        larger = (10_000 * 4 ** (16 / 14)) ** -pairs
        made = stretched(10_000**-pairs, 4, 128, "larger base")
        torch.testing.assert_close(made, larger, rtol=1e-6, atol=0)

    def test_mixed_leaves_fast_pairs_and_divides_slow_ones(self) -> None:
        assert self.shares(4, "mixed") == pytest.approx([1, 1 / 4 + 3 / 4 * 5.3 / 31, 1 / 4, 1 / 4])
        middle = self.shares(4, "mixed", slow=0.5, fast=6.3)
        assert middle == pytest.approx([1, 1, 1 / 4 + 3 / 4 * 0.13 / 5.8, 1 / 4])

    @pytest.mark.parametrize("how", ["interpolated", "larger base", "mixed"])
    def test_a_factor_of_1_changes_nothing(self, how: str) -> None:
        assert torch.equal(stretched(self.FREQUENCIES, 1, 100, how), self.FREQUENCIES)

    def test_keeps_the_dtype_and_leaves_what_it_is_given(self) -> None:
        given = self.FREQUENCIES.float()
        before = given.clone()
        for how in ("interpolated", "larger base", "mixed"):
            assert stretched(given, 4, 100, how).dtype == torch.float32
        assert torch.equal(given, before)

    @pytest.mark.parametrize(
        ("changed", "words"),
        [
            ({"factor": 0.5}, "factor must be at least 1, got 0.5"),
            ({"factor": math.nan}, "factor must be at least 1, got nan"),
            ({"longest": 0}, "longest must be at least 1, got 0"),
            ({"how": "yarn"}, "how must be one of 'interpolated', 'larger base', 'mixed', got 'yarn'"),
            ({"slow": 2, "fast": 2}, "slow must be at least 0 and below fast, got slow = 2 and fast = 2"),
            ({"slow": -1}, "slow must be at least 0 and below fast, got slow = -1 and fast = 32"),
        ],
    )
    def test_refuses(self, changed: dict[str, Any], words: str) -> None:
        with pytest.raises(ValueError, match=f"^{words}$"):
            stretched(
                **{"frequencies": self.FREQUENCIES, "factor": 4, "longest": 8, "how": "mixed"} | changed
            )
