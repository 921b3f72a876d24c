"""“Is it noise?”: what only its exercises say, its chart and its models."""

import math
import re

import pytest
import torch
from exercise_cases import telling, told
from living_charts import drawn

from attnlab.training.many_seeds import student
from bookkit import weights
from chapters.is_it_noise import bank, charts, models
from chapters.is_it_noise.accepted import around
from chapters.is_it_noise.bank import stored
from chapters.is_it_noise.charts import AGAINST, DRAWS, FEWEST, HOW, MOST
from chapters.is_it_noise.exercises import check_worth_it
from chapters.is_it_noise.exercises.worth_it import SAID, SPREAD, SPREAD_OF_ONE, TRUTH, WIDEST
from chapters.is_it_noise.models import DICE, LONGER, LONGER_SEEDS, SEEDS, VARIANTS, Variant, judged, trained

test_a_reader_is_told = telling(
    told(check_worth_it, lambda: 3.0, "Two numbers are expected, and float came."),
    told(check_worth_it, lambda: (1.0, 2.0, 3.0), "the ends of an interval, and 3 came."),
)


def test_what_is_asked_for_takes_few_pairs_and_many_trainings_that_are_not():
    def half(spread, n, freedom):
        return student(freedom) * spread / n**0.5

    assert half(SPREAD, 10, 9) < WIDEST / 2
    assert half(2**0.5 * SPREAD_OF_ONE, 30, 58) > WIDEST / 2
    # 0, and the sign turned, lie far outside.
    assert abs(TRUTH) > WIDEST
    assert {*SAID} == {*check_worth_it.mistakes}


@pytest.mark.weekly
def test_a_few_pairs_say_what_hundreds_say():
    rates = Variant(updates=60, rate=5e-3), Variant(updates=60, rate=6e-3)
    apart = []
    for seed in range(8):
        before, after = (judged(trained(each, seed)[0])[0] for each in rates)
        apart.append(after - before)
    apart = torch.tensor(apart)
    half = student(7) * apart.std() / 8**0.5
    assert check_worth_it.judge(around(float(apart.mean()), float(half))).passed


# --- the chart ---


BANK = {name: (10_000 * each).round() / 10_000 for name, each in stored().items()}


def said(count, again, against, how):
    """What the readout of the intervals says: the truth, half a width, how many miss."""
    found = re.search(
        r"truth ([-+.\d]+), ± ([.\d]+) on average.*?(\d+) of 30 miss it",
        drawn(charts.intervals(), count=count, again=again, against=against, how=how),
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
    assert truth == pytest.approx(expected, abs=6e-4)
    assert half == pytest.approx(wide, abs=7e-4)
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
        drawn(charts.best_of(), ours=ours, theirs=theirs),
        re.DOTALL,
    )
    wins, by = int(found[3]), float(found[4])
    source = torch.Generator().manual_seed(0)
    losses = BANK["as it is"]
    ends = [losses[torch.randint(40, (100_000, count), generator=source)].amin(1) for count in (ours, theirs)]
    assert (int(found[1]), int(found[2])) == (ours, theirs)
    assert wins == round(100 * ours / (ours + theirs))
    assert by == pytest.approx((ends[1] - ends[0]).mean().item(), abs=1e-3)


# --- what is trained ---


FEW = Variant(updates=3)


def test_a_training_repeats_and_its_two_dice_are_apart():
    state = models.trained(FEW, 4)[0].state_dict()
    repeated = models.trained(FEW, 4)[0].state_dict()
    other_order = models.trained(FEW, 4, order=5)[0].state_dict()
    assert all(torch.equal(state[name], repeated[name]) for name in state)
    assert any(not torch.equal(state[name], other_order[name]) for name in state)
    # Of the same seed are the first weights: the first loss, of the same sentences, tells.
    assert models.trained(FEW, 4)[1][0] == models.trained(FEW, 4, order=4)[1][0]
    assert models.trained(FEW, 5, order=4)[1][0] != models.trained(FEW, 4)[1][0]


def test_what_is_held_out_is_drawn_from_a_seed_of_its_own():
    assert models.UNSEEN > 1000 * 100 + SEEDS
    assert len(models.held_out().previous) == models.MANY + models.FEW


def test_the_bank_has_every_variant_and_both_dice():
    stored = bank.stored()
    assert [*stored] == [*VARIANTS, *DICE]
    assert {each.shape for each in stored.values()} == {(SEEDS,)}
    noted = weights.notes("is_it_noise/bank")
    assert noted["few above new"].shape == (len(VARIANTS), SEEDS)
    assert {name: each.shape for name, each in bank.longer().items()} == dict.fromkeys(
        LONGER, (LONGER_SEEDS,)
    )


def test_each_text_has_its_numbers():
    noted = weights.notes("is_it_noise/by-text")
    assert len({each.shape for each in noted.values()}) == 1
    assert noted["pieces"].min() >= 1
    # A mean square is at least the square of the mean, but for 16 bits.
    assert (noted["GPT squared"] > 0.99 * noted["GPT"] ** 2).all()


@pytest.mark.thorough
def test_a_stored_loss_is_what_a_training_ends_at():
    for name, seed in (("as it is", 3), ("one head", 1)):
        model, _ = models.trained(VARIANTS[name], seed)
        assert models.judged(model)[0] == pytest.approx(float(bank.stored()[name][seed]), abs=0.02)


def test_the_first_three_in_front_are_found():
    first, second = torch.tensor([1.0, 5, 5, 5]), torch.tensor([0.5, 4, 4, 4, 1])
    ours, theirs = bank.first_sweep(first, second)
    assert (list(ours), list(theirs)) == ([1, 2, 3], [0, 1, 2])
    with pytest.raises(ValueError, match="no three seeds"):
        bank.first_sweep(second[1:4] - 4, first)
