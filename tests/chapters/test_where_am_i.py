"""“Where am I? Positional-encoding tables”: what only its exercises say, its chart and its models."""

import math

import pytest
import torch
from exercise_cases import assert_right_shapes, of, telling
from living_charts import numbers, says
from playwright.sync_api import Locator

from attnlab import positions
from attnlab.positions import sinusoidal
from attnlab.runtime import generator
from chapters.where_am_i.charts import POSITIONS
from chapters.where_am_i.exercises import check_position_shapes, check_reach
from chapters.where_am_i.reader import (
    NOTHING,
    SEEDS,
    SYMBOLS,
    Reader,
    backwards,
    copying,
    latest,
    most_seen,
    share_right,
    train,
)

HONEST = check_reach.right_work()


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


test_who_reaches_is_told = pytest.mark.thorough(
    telling(
        *of(
            check_reach,
            (reach(right_base, trained=False), "", "not trained"),
            (reach(right_base, length=None), "", "lengths mixed up, or base 10000"),
            (reach(lambda wave: 10_000), "", "lengths mixed up, or base 10000"),
            (reach(lambda wave: wave), "", "wave for base"),
            (reach(lambda wave: wave**2), "", "without 2π"),
            marks=pytest.mark.slow,
        ),
        *of(
            check_reach,
            (lambda wave, length: torch.tensor(0.5), "each start's own share, not their mean"),
            (lambda wave, length: torch.full((4,), 0.5), "at least 5 starts"),
            (lambda wave, length: torch.full((5,), 50.0), "between 0 and 1"),
            (lambda wave, length: 0.5, "returns float"),
            (lambda wave, length: HONEST(wave, length)[2:3].expand(5), "", "one start many times"),
            (torch.ones(5), "function itself"),
            (lambda wave, length: 1 / 0, "ZeroDivisionError"),
            # Shares that fit no mistake get no name.
            (check_reach.mistaken([0.5, 0.5, 0.5, 0.5]), "→", None),
        ),
    )
)


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [torch.as_tensor, torch.Tensor.tolist, lambda shares: shares.float()])
def test_an_honest_experiment_passes_however_its_shares_come(kind):
    assert check_reach.judge(lambda wave, length: kind(HONEST(wave, length))).passed


@pytest.mark.thorough
@pytest.mark.slow
def test_the_chapters_readers_show_what_the_check_asks_for():
    assert check_reach.judge(reach(right_base)).passed


def test_the_shapes_are_what_pytorch_says():
    names = {
        "positions": torch.ones(5000, 1),
        "frequencies": torch.ones(8),
        "table": torch.ones(5000, 16),
        "words": torch.ones(32, 6, 16),
        "query": torch.ones(32, 4, 6, 4),
        "shift_rotation": positions.shift_rotation,
        "rotate": positions.rotate,
        "alibi_bias": positions.alibi_bias,
    }
    assert_right_shapes(check_position_shapes, names)


# --- the chart ---


COLUMNS, BASE, CHOSEN = "columns (d_model)", "base, as a power of 10", "chosen position"


@pytest.mark.thorough
def test_the_table_and_the_profile_are_attnlabs(chart: Locator) -> None:
    for d_model, exponent, chosen in [(16, 3, 20), (2, 4, 0), (8, 1, 31), (32, 6, 27), (30, 0.5, 7)]:
        base = 10**exponent
        for control, value in {COLUMNS: d_model, BASE: exponent, CHOSEN: chosen}.items():
            chart.get_by_role("slider", name=control).fill(str(value))
        words = f"{base:,.0f}" if base >= 10 else f"{base:.3f}"
        said = says(chart, f"position {chosen}, {d_model} columns, base {words}, ")
        table = sinusoidal(POSITIONS, d_model, base, torch.float64)
        alike = table @ table[chosen] / (d_model / 2)
        longest = 2 * math.pi * base ** ((d_model - 2) / d_model)
        value, drawn, wave, first, last = numbers(chart, "value", "alike", "longest", "first", "last")
        torch.testing.assert_close([value, drawn], [table.flatten(), alike], atol=1e-9, rtol=0)
        assert wave.item() == pytest.approx(longest, rel=1e-7)
        alike[chosen] = -math.inf
        closest = [place for place in range(POSITIONS) if alike[place] > alike.max() - 1e-9]
        assert (first.item(), last.item()) == (closest[0], closest[-1])
        assert f", {alike.max():.3f}" in said


# --- the reader ---


SCHEMES = ("none", "sinusoidal", "learned", "rotary", "ALiBi")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_last_places_alone_get_the_same_answers(scheme):
    reader, (ids, _) = Reader(scheme), copying(3, 40, generator(0))
    torch.testing.assert_close(reader(ids, 7), reader(ids)[..., -7:, :])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_nobody_sees_what_comes_later(scheme):
    reader, (ids, _) = Reader(scheme), copying(3, 12, generator(0))
    later = ids.clone()
    later[:, 6:] = (later[:, 6:] + 1) % SYMBOLS
    torch.testing.assert_close(reader(later)[:, :, :6], reader(ids)[:, :, :6])
    assert not torch.allclose(reader(later)[:, :, 6:], reader(ids)[:, :, 6:])


def test_only_positions_tell_two_orders_apart():
    ids = torch.tensor([[1, 2, 3, 4], [3, 2, 1, 4]])
    for scheme in SCHEMES:
        first, second = Reader(scheme)(ids)[:, :, -1].unbind(1)
        assert torch.allclose(first, second) == (scheme == "none")


def test_the_seeds_learn_apart():
    # Whatever one seed starts from, the others learn the same.
    one, other = Reader("rotary"), Reader("rotary")
    with torch.no_grad():
        other.words[0] += 1
    train(one, copying, steps=3)
    train(other, copying, steps=3)
    torch.testing.assert_close(one.project[1:], other.project[1:])
    assert not torch.allclose(one.project[0], other.project[0])


def test_what_the_jobs_ask():
    ids, target = copying(2, 9, generator(0))
    assert torch.equal(target[:, 3:], ids[:, :-3])
    assert (target[:, :3] == NOTHING).all()
    ids, target = latest(4, 30, generator(0))
    for line, asked in zip(ids.tolist(), target.tolist(), strict=True):
        last = None
        for symbol, answer in zip(line, asked, strict=True):
            last = last if symbol == SYMBOLS else symbol
            assert answer == last
    ids, target = backwards(2, 8, generator(0))
    assert torch.equal(target.flip(-1), ids)


def test_shares_count_answers():
    shares = share_right(Reader(), copying, 48)
    assert shares.shape == (SEEDS,)
    # Untrained, it guesses: of 720 answers a tenth, with a spread of 0.011 if they were independent.
    assert (shares - 1 / SYMBOLS).abs().max() < 0.08


def test_counting_symbols_knows_no_order():
    # Three back is one of the symbols seen so far: a tenth would be mere guessing.
    assert 0.15 < most_seen(copying, 24) < 0.4
    assert 0.5 < most_seen(latest, 24) < 0.8
