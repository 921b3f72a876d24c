"""The exercise `reach`, tried as readers would."""

import math

import pytest
import torch
from exercise_cases import words

from chapters.where_am_i.exercises import (
    check_reach,
)
from chapters.where_am_i.reader import Reader, copying, share_right, train

pytestmark = pytest.mark.thorough


def reaches(found):
    """An experiment that finds these mean shares, each start a little off them."""
    asked = {(314.0, 24): 0, (314.0, 96): 1, (63.0, 96): 2, (63.0, 48): 3}
    return lambda wave, length: found[asked[wave, length]] + 0.01 * torch.arange(-2, 3)


def reach(base, *, length=24, trained=True):
    """The chapter's own readers, with the slow hand that a `base` gives to a wave."""

    def experiment(wave, tested):
        reader = Reader("rotary", width=16, base=base(wave))
        if trained:
            train(reader, copying, length=length or tested)
        return share_right(reader, copying, tested)

    return experiment


def right_base(wave):
    return (wave / math.tau) ** 2


@pytest.mark.parametrize("kind", [torch.as_tensor, torch.Tensor.tolist, lambda shares: shares.float()])
def test_an_honest_experiment_passes_however_its_shares_come(kind):
    honest = reaches([0.97, 0.95, 0.12, 0.6])
    assert check_reach.judge(lambda wave, length: kind(honest(wave, length))).passed


@pytest.mark.slow
def test_the_chapters_readers_show_what_the_check_asks_for():
    assert check_reach.judge(reach(right_base)).passed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "experiment"),
    [
        ("not trained", reach(right_base, trained=False)),
        ("lengths mixed up, or base 10000", reach(right_base, length=None)),
        ("lengths mixed up, or base 10000", reach(lambda wave: 10_000)),
        ("wave for base", reach(lambda wave: wave)),
        ("without 2π", reach(lambda wave: wave**2)),
    ],
)
def test_a_real_experiment_gone_wrong_is_named(name, experiment):
    report = check_reach.judge(experiment)
    assert not report.passed, report
    assert report.mistake == name, report


def test_starts_that_are_all_alike_are_noticed():
    report = check_reach.judge(
        lambda wave, length: reaches([0.97, 0.95, 0.12, 0.6])(wave, length)[2:3].expand(5)
    )
    assert report.mistake == "one start many times", report


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (torch.tensor(0.5), "each start's own share, not their mean"),
        (torch.full((4,), 0.5), "at least 5 starts"),
        (torch.full((5,), 50.0), "between 0 and 1"),
        (0.5, "returns float"),
        (["all"] * 5, "something else than numbers"),
    ],
)
def test_what_is_no_share_for_each_start_is_told(answer, said):
    assert said in words(check_reach.judge(lambda wave, length: answer))


def test_other_work_than_an_experiment_is_told():
    assert check_reach.judge(...).state == "not written yet"
    assert check_reach.judge(lambda wave, length: ...).state == "not written yet"
    assert "function itself" in words(check_reach.judge(torch.ones(5)))
    assert "ZeroDivisionError" in words(check_reach.judge(lambda wave, length: 1 / 0))
    # Shares that fit no mistake get no name.
    report = check_reach.judge(reaches([0.5, 0.5, 0.5, 0.5]))
    assert (report.state, report.mistake) == ("not yet", None), report
