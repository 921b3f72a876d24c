"""The charts draw from the bank, and reckon as the chapter does."""

import math
import re

import pytest
import torch
import vl_convert

from chapters.is_it_noise import charts
from chapters.is_it_noise.bank import stored, student
from chapters.is_it_noise.charts import AGAINST, DRAWS, FEWEST, HOW, MOST

BANK = {name: (10_000 * each).round() / 10_000 for name, each in stored().items()}


def picture(chart, **settings):
    """The chart as SVG, its controls moved."""
    spec = chart.to_dict()
    for control in spec["params"]:
        control["value"] = settings.get(control["name"], control["value"])
    return vl_convert.vegalite_to_svg(spec).replace("−", "-")


def said(count, again, against, how):
    """What the readout of the intervals says: the truth, half a width, how many miss."""
    found = re.search(
        r"truth ([-+.\d]+), ± ([.\d]+) on average.*?(\d+) of 30 miss it",
        picture(charts.intervals(), count=count, again=again, against=against, how=how),
        re.DOTALL,
    )
    return float(found[1]), float(found[2]), int(found[3])


def rolled(key):
    return math.floor(40 * abs(math.fmod(math.sin(key * 12.9898 + 4.1414) * 43758.5453, 1)))


def counted(count, again, against, how):
    """The same, from the bank."""
    halves, missed = [], 0
    truth = (BANK[against].mean() - BANK["as it is"].mean()).item()
    for draw in range(DRAWS):
        keys = [draw + DRAWS * again + 0.37 * place for place in range(count)]
        here = [rolled(key) for key in keys]
        there = here if how == HOW[1] else [rolled(7.77 + key) for key in keys]
        first, second = BANK["as it is"][here], BANK[against][there]
        groups = ((first.var() + second.var()) / count).sqrt() * student(2 * (count - 1))
        pairs = (second - first).std() / count**0.5 * student(count - 1)
        halves.append(float(pairs if how == HOW[1] else groups))
        missed += abs((second - first).mean().item() - truth) > halves[-1]
    return truth, sum(halves) / DRAWS, missed


@pytest.mark.parametrize(
    ("count", "again", "against", "how"),
    [
        (3, 1, AGAINST[1], HOW[0]), (FEWEST, 2, AGAINST[0], HOW[0]), (MOST, 40, AGAINST[2], HOW[0]),
        (3, 1, AGAINST[1], HOW[1]), (10, 7, AGAINST[3], HOW[1]),
    ],
)  # fmt: skip
def test_intervals_are_those_of_the_bank(count, again, against, how):
    truth, half, missed = said(count, again, against, how)
    expected, wide, misses = counted(count, again, against, how)
    assert truth == pytest.approx(expected, abs=6e-5)
    assert half == pytest.approx(wide, abs=2e-4)
    assert missed == misses


def test_its_dice_are_fair():
    """Over all draws one interval in twenty misses, or a little more: the losses follow no bell."""
    missed = [counted(5, again, "the same again", HOW[0])[2] for again in range(1, 41)]
    assert 0.03 < sum(missed) / (40 * DRAWS) < 0.09
    rolls = torch.tensor([rolled(draw + 0.37 * place) for draw in range(600) for place in range(20)])
    assert torch.bincount(rolls, minlength=40).double().std() < 40


@pytest.mark.parametrize(("ours", "theirs"), [(5, 1), (1, 1), (20, 3)])
def test_the_best_of_several_is_what_draws_come_to(ours, theirs):
    found = re.search(
        r"best of (\d+) against the best of (\d+): we win (\d+).*?by ([-+.\d]+) nats",
        picture(charts.best_of(), ours=ours, theirs=theirs),
        re.DOTALL,
    )
    wins, by = int(found[3]), float(found[4])
    drawn = torch.Generator().manual_seed(0)
    losses = BANK["as it is"]
    ends = [losses[torch.randint(40, (100_000, count), generator=drawn)].amin(1) for count in (ours, theirs)]
    assert (int(found[1]), int(found[2])) == (ours, theirs)
    assert wins == round(100 * ours / (ours + theirs))
    assert by == pytest.approx((ends[1] - ends[0]).mean().item(), abs=1e-3)


def test_each_step_of_the_slider_is_told():
    """To three digits the average width is another with each number of seeds."""
    told = [f"{counted(count, 1, AGAINST[1], HOW[0])[1]:.4f}" for count in range(FEWEST, MOST + 1)]
    assert len({*told}) == len(told)
