"""“Writing faster”: what only its exercises say, and its chart."""

import re

import pytest
import torch
from exercise_cases import telling, told
from living_charts import drawn

from attnlab import decoding
from chapters.writing_faster import charts, measuring
from chapters.writing_faster.accepted import by_padding
from chapters.writing_faster.exercises.left_padded import check_left_padded


def mask_to_be_added(rows, filler):
    ids, visible, places = by_padding(rows, filler)
    return ids, torch.zeros(visible.shape).masked_fill(~visible, -torch.inf), places


test_a_reader_is_told = telling(
    told(check_left_padded, mask_to_be_added, "It returns float32 numbers where bool ones are expected"),
    told(check_left_padded, decoding.left_padded, "✗ is written without what is there already"),
)


@pytest.mark.thorough
@pytest.mark.parametrize("chosen", [(0.53, 4, 0.55), (0.99, 8, 0.05), (0, 3, 1), (0.8, 0, 0.1)])
def test_its_chart_says_how_many_times_as_fast(chosen):
    told = drawn(charts.gain(), **dict(zip(("chance", "guesses", "cost"), chosen, strict=True)))
    found = re.search(
        r"([\d.]+) pieces a reading, at a cost of [\d.]+<.*?([\d.]+) times as fast", told, re.DOTALL
    )
    expected = measuring.pieces_a_reading(*chosen[:2]), measuring.times_as_fast(*chosen)
    assert [float(number) for number in found.groups()] == pytest.approx(expected, abs=0.006)
