"""What is made of times: medians, the power with which they grow, and where two of them cross."""

from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from chapters.three_ways_to_read_a_sequence import times

READERS = ("recurrence", "convolution", "attention", "PyTorch's attention")


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("length", [2, 16, 33])
def test_each_reader_hears_all_that_came_and_nothing_that_comes(name, length):
    reader = times.readers()[name]
    x = torch.randn(1, length, times.WIDTH, generator=torch.Generator().manual_seed(0)).requires_grad_()
    outputs = reader(x)
    assert outputs.shape == x.shape
    middle = length // 2
    (last,) = torch.autograd.grad(outputs[0, -1].sum(), x, retain_graph=True)
    (between,) = torch.autograd.grad(outputs[0, middle].sum(), x)
    heard = last[0].abs().sum(-1)
    # A recurrence hears the first word, too, but next to nothing of it.
    assert heard.gt(0).all()
    assert between[0, middle].abs().sum() > 0
    assert between[0, middle + 1 :].eq(0).all()


def test_medians_are_of_turns_taken_side_by_side(monkeypatch):
    """On a clock of our own. In the second turn of five something slows all readers."""
    took = {"recurrence": 0.003, "convolution": 0.002, "attention": 0.001, "PyTorch's attention": 0.0005}
    now, called = 0.0, []

    def reader(name):
        def read(x):
            nonlocal now
            called.append(name)
            turn = (called.count(name) - 1) // 2  # each takes one at either length
            now += took[name] * x.shape[1] + (turn == 1) + turn * 1e-5
            return x.detach().requires_grad_()

        return read

    monkeypatch.setattr(times, "readers", lambda: {name: reader(name) for name in READERS})
    monkeypatch.setattr(times, "time", SimpleNamespace(process_time=lambda: now))
    found = times.medians([2, 4], turns=5)
    assert called == [*READERS] * 10
    for name, each in found.items():
        # In milliseconds. Besides, the turns took 0, 0.02, 0.03 and 0.04 ms, and 1000: the middle is 0.03.
        assert each == pytest.approx([1000 * took[name] * length + 0.03 for length in (2, 4)])


@given(
    power=st.floats(-3, 3),
    factor=st.floats(1e-3, 1e3),
    lengths=st.lists(st.integers(1, 4096), min_size=2, unique=True),
)
def test_a_power_is_found_again(power, factor, lengths):
    taken = [factor * length**power for length in lengths]
    assert times.exponent(lengths, taken) == pytest.approx(power, abs=1e-6)


@given(fast=st.floats(0, 1), more=st.floats(0.1, 3), where=st.floats(17, 2047), factor=st.floats(1e-3, 1e3))
def test_two_powers_cross_where_they_are_equal(fast, more, where, factor):
    taken = {
        "one": [factor * (length / where) ** (fast + more) for length in times.LENGTHS],
        "other": [factor * (length / where) ** fast for length in times.LENGTHS],
    }
    assert times.crossing(times.LENGTHS, taken, "one", "other") == pytest.approx(where, rel=1e-6)


def test_of_several_crossings_it_is_the_last_at_which_the_one_gets_slower():
    taken = {"one": [1, 4, 1, 4, 1], "other": [2, 2, 2, 2, 2]}
    assert times.crossing([1, 2, 4, 8, 16], taken, "one", "other") == pytest.approx(4 * 2**0.5)
    assert times.crossing([1, 2, 4, 8, 16], taken, "other", "one") == pytest.approx(8 * 2**0.5)


def test_times_that_never_cross_are_told_so():
    taken = {"one": [1, 2, 3], "other": [2, 3, 4]}
    for pair in (("one", "other"), ("other", "one")):
        with pytest.raises(ValueError, match=f"{pair[0]} and {pair[1]} do not cross"):
            times.crossing([1, 2, 4], taken, *pair)
