"""Both sides of each comparison do the same. No time is asserted."""

import pytest
import torch

from tools.bench import the_package

CPU = torch.device("cpu")
COMPARISONS = [*the_package.comparisons(3, CPU), *the_package.comparisons(70, CPU)]


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda one: one.title)
def test_both_sides_do_the_same(comparison):
    ways = comparison.ours, comparison.theirs
    (ours, back), (theirs, their_back) = (
        (way(), the_package.there_and_back(way, comparison.inputs)()) for way in ways
    )
    assert ours.shape == theirs.shape
    if not comparison.title.startswith("linear"):
        # float32 rounds at 1e-7, and gradients here add up a few dozen numbers of size 1.
        torch.testing.assert_close((ours, back), (theirs, their_back), rtol=1e-4, atol=1e-5)


def test_a_ratio_is_that_of_the_same_turn(monkeypatch):
    """An interruption doubles both times of the last turns. The ratio does not feel it."""
    times = iter([1.0, 1.0, *[2.0, 4.0] * 10, *[4.0, 8.0] * 10])

    class Timer:
        def __init__(self, *arguments, **options):
            self.timeit = lambda count: self
            self.take = times

        @property
        def mean(self):
            return next(self.take)

    monkeypatch.setattr(the_package, "Timer", Timer)
    monkeypatch.setattr(the_package, "peak_memory", lambda run, device: run())
    told = the_package.line(lambda: 1_000_000, lambda: 16_000_000, CPU)
    assert told.split() == ["3e+03", "/", "6e+03", "0.50", "[0.50–0.50]", "1", "/", "16"]
