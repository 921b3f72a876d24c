"""“Longer than it was trained”: what only its exercises say, and its chart."""

import math
import re

import pytest
import torch
from exercise_cases import of, telling, told
from living_charts import drawn
from torch import nn

from attnlab.corpora import docstrings
from attnlab.masks import causal
from attnlab.positions import stretched
from attnlab.today.model import Today
from attnlab.training.run import Run, row_of
from chapters.longer_than_it_was_trained import charts
from chapters.longer_than_it_was_trained.accepted import Around, slower, stored
from chapters.longer_than_it_was_trained.charts import FAST, LONGEST, SLOW, WAYS
from chapters.longer_than_it_was_trained.exercises import check_longest_text, check_stretched_turns
from chapters.longer_than_it_was_trained.exercises import longest_text as longest

test_a_reader_is_told = telling(
    *of(
        check_longest_text,
        (lambda: nn.Linear, "Linear is a class. Hand over the model itself."),
        (lambda: "model", "A model is expected, and str came."),
        (lambda: Around(lambda model, ids: ids), "must make logits (1, 2, 2048)"),
        marks=pytest.mark.thorough,
    ),
    told(
        check_stretched_turns,
        lambda turns, longest, times, fast, slow: stretched(turns, times, longest, "mixed", slow, fast),
        "stretched is there already",
    ),
)


@pytest.mark.thorough
def test_the_window_is_one_of_128():
    assert longest.near(6, 3).int().sum(-1)[0].tolist() == [1, 2, 3, 3, 3, 3]
    assert torch.equal(longest.near() & causal(512), longest.near())


@pytest.mark.thorough
@pytest.mark.parametrize(("model", "least", "most"), [
    (lambda: slower("interpolated"), longest.BAR + 0.1, 1.0),
    (stored, 1.2, 2.2),
    (lambda: slower(slow=1, fast=4), 0.1, longest.BAR - 0.1),
])  # fmt: skip
def test_the_bar_lies_well_between(model, least, most):
    assert least < longest.nats(model()) - longest.nats(longest.untouched(), 128) < most


def trained(how, row, updates, rate):
    model = slower(how)
    Run(model, row, updates=updates, rate=rate, rows=2, length=512, warm_up=10).go(updates)
    return model


@pytest.mark.weekly
def test_interpolated_places_pass_after_a_little_training():
    row = row_of(map(longest.pieces().encode, docstrings.split(["networkx"])[0]), longest.pieces().end)
    model = trained("interpolated", row, 60, 1e-3)
    assert check_longest_text.judge(lambda: model).passed


@pytest.mark.weekly
def test_a_model_that_learned_what_it_is_judged_by_is_told():
    model = trained("mixed", longest.windows().flatten(), 200, 3e-3)
    assert check_longest_text.judge(lambda: model).mistake == "knows what it is judged by"


# --- the chart ---


FREQUENCIES = Today(16, 96, heads=6, groups=2, hidden=8, layers=1, longest=LONGEST).frequencies.double()


def said(distance: int, factor: int, how: str) -> tuple[int, float]:
    """How many pairs the readout counts, and the radians of the slowest."""
    picture = drawn(charts.angles(), distance=distance, factor=factor, how=how)
    found = re.search(r"(\d) of 8 pairs.*turned ([\d.]+) radians", picture, re.DOTALL)
    return int(found[1]), float(found[2])


def counted(distance: int, factor: int, how: str) -> tuple[int, float]:
    """The same, by attnlab."""
    made = stretched(FREQUENCIES, factor, LONGEST, how, slow=SLOW, fast=FAST) * distance
    reached = (FREQUENCIES * (LONGEST - 1)).clamp(max=2 * math.pi)
    return int((made % (2 * math.pi) > reached + 1e-9).sum()), made.min().item()


@pytest.mark.thorough
@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize(("distance", "factor"), [(8, 1), (508, 1), (1016, 4), (1016, 8), (1016, 128)])
def test_it_counts_what_was_never_seen(distance, factor, how):
    never, slowest = said(distance, factor, how)
    expected, angle = counted(distance, factor, how)
    assert never == expected
    assert slowest == pytest.approx(angle, rel=5e-4)


@pytest.mark.thorough
def test_the_description_says_what_it_begins_with():
    assert said(508, 1, "interpolated")[0] == 4
    assert said(508, 4, "interpolated")[0] == 0
    assert "508 places, four dots" in charts.DESCRIPTION
