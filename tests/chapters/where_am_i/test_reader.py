"""The reader that “Where am I?” trains: what it answers, and what the jobs ask."""

import pytest
import torch

from attnlab.runtime import generator
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
