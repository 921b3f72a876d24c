"""Rows of different lengths in one batch, and a small model that guesses for a large one."""

import itertools
import math
import re
from collections import Counter

import pytest
import torch
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.decoding import chances, left_padded, speculated, written
from attnlab.runtime import generator
from attnlab.today.model import Today

ROWS = [[5, 6, 7, 8, 9], [3], [1, 2, 4]]
PROMPT = torch.tensor([[1, 0, 2]])


def today(seed, vocabulary=10, d_model=8, layers=2, longest=64, spread=0.5):
    torch.manual_seed(seed)
    model = Today(
        vocabulary, d_model, heads=2, groups=1, hidden=8, layers=layers, longest=longest, spread=spread
    )
    return model.eval()


def greedy(logits):
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()


# ---- left padding ----


@torch.no_grad()
def test_each_row_of_a_batch_gets_what_it_gets_alone():
    model = today(0).double()
    ids, visible, places = left_padded(ROWS, filler=0)
    logits = model(ids, visible=visible, places=places)
    assert logits.isfinite().all()
    for row, each in zip(ROWS, logits, strict=True):
        torch.testing.assert_close(each[-len(row) :], model(torch.tensor([row]))[0])


@torch.no_grad()
def test_what_the_filler_is_does_not_matter():
    model = today(0).double()
    ends = [
        model(ids, visible=visible, places=places)[:, -1]
        for ids, visible, places in (left_padded(ROWS, filler) for filler in (0, 9))
    ]
    assert torch.equal(*ends)


@torch.no_grad()
def test_a_batch_goes_on_with_a_cache():
    model = today(1).double()
    ids, visible, places = left_padded(ROWS, filler=0)
    caches = [Cache() for _ in model.blocks]
    model(ids, caches, visible, places)
    seen = F.pad(visible[:, -1:], (0, 1), value=True)  # (B, 1, T + 1)
    logits = model(torch.tensor([[7], [8], [9]]), caches, seen, places[:, -1:] + 1)
    for row, word, each in zip(ROWS, (7, 8, 9), logits, strict=True):
        torch.testing.assert_close(each[-1], model(torch.tensor([[*row, word]]))[0, -1])


def test_places_count_from_each_texts_own_start():
    ids, visible, places = left_padded(ROWS, filler=0)
    assert ids.tolist() == [[5, 6, 7, 8, 9], [0, 0, 0, 0, 3], [0, 0, 1, 2, 4]]
    assert places.tolist() == [[0, 1, 2, 3, 4], [0, 0, 0, 0, 0], [0, 0, 0, 1, 2]]
    assert visible.sum(-1).tolist() == [[1, 2, 3, 4, 5], [1, 1, 1, 1, 1], [1, 1, 1, 2, 3]]
    assert left_padded([[4, 4]], filler=0)[0].tolist() == [[4, 4]]


@pytest.mark.parametrize(
    ("rows", "filler", "error", "words"),
    [
        ([], 0, ValueError, "rows must hold at least one row, got none"),
        ([[1], []], 0, ValueError, "rows[1] must hold at least one id, got none"),
        ([1, 2], 0, TypeError, "rows[0] must be a list of ids, got int"),
        ([[1, 2.0]], 0, TypeError, "rows[0][1] must be a whole number, got 2.0"),
        ([[-1]], 0, ValueError, "rows[0][0] must be at least 0, got -1"),
        ([[1]], -100, ValueError, "filler must be at least 0, got -100"),
    ],
)
def test_rows_that_are_none_are_refused(rows, filler, error, words):
    with pytest.raises(error, match=re.escape(words) + "$"):
        left_padded(rows, filler)


# ---- a cache that forgets ----


def test_a_cache_that_was_cut_goes_on_as_if_the_rest_had_never_come():
    rows, cache = torch.randn(2, 3, 7, 4, generator=generator(0)), Cache()
    cache.extended(rows[:, :, :5], -rows[:, :, :5])
    cache.cut(2)
    assert cache.length == 2
    keys, values = cache.extended(rows[:, :, 5:], -rows[:, :, 5:])
    expected = rows[:, :, [0, 1, 5, 6]]
    assert torch.equal(keys, expected)
    assert torch.equal(values, -expected)
    cache.cut(0)
    assert cache.length == 0


def test_an_empty_cache_has_nothing_to_cut():
    cache = Cache()
    cache.cut(0)
    assert cache.length == 0
    with pytest.raises(ValueError, match=re.escape("length must be at most 0, the words remembered, got 1")):
        cache.cut(1)


@pytest.mark.parametrize(
    ("length", "error", "words"),
    [
        (-1, ValueError, "length must be at least 0, got -1"),
        (4, ValueError, "length must be at most 3, the words remembered, got 4"),
        (1.5, TypeError, "length must be a whole number, got 1.5"),
    ],
)
def test_a_length_that_no_cache_has_is_refused(length, error, words):
    cache = Cache()
    cache.extended(*torch.zeros(2, 1, 1, 3, 2))
    with pytest.raises(error, match=re.escape(words) + "$"):
        cache.cut(length)
    assert cache.length == 3


# ---- guesses ----


@pytest.mark.parametrize("guesses", [1, 2, 5, 40])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_likeliest_stays_the_likeliest(guesses, seed):
    model, helper = today(0), today(seed, d_model=4, layers=1)
    text, kept = speculated(model, helper, PROMPT, 30, generator(0), guesses, choose=greedy)
    assert torch.equal(text, written(model, PROMPT, 30, generator(0), 64, choose=greedy))
    assert sum(kept) + len(kept) == 30
    assert max(kept) <= guesses


def test_who_guesses_as_the_model_would_is_never_refused():
    model = today(0)
    text, kept = speculated(model, model, PROMPT, 30, generator(0), guesses=4)
    assert kept == [4] * 6
    assert text.shape == (1, 33)
    assert torch.equal(text[:, :3], PROMPT)


def test_its_draws_have_the_chances_of_the_model():
    """Three pieces behind a beginning, against the product of their chances, by chi-square."""
    model = today(0, vocabulary=3, spread=0.25)
    helper = today(4, vocabulary=3, d_model=4, layers=1, spread=0.25)
    draws, source = 400, generator(0)
    counted = Counter(
        tuple(speculated(model, helper, PROMPT, 3, source, guesses=2).ids[0, 3:].tolist())
        for _ in range(draws)
    )
    every = list(itertools.product(range(3), repeat=3))
    with torch.no_grad():
        logits = model(torch.cat([PROMPT.expand(27, 3), torch.tensor(every)], dim=1))[:, 2:5]
    by_piece = logits.softmax(-1).gather(-1, torch.tensor(every)[..., None])  # (27, 3, 1)
    expected = draws * by_piece.prod(1).flatten()
    assert expected.sum() == pytest.approx(draws, rel=1e-5)
    off = sum((counted[each] - float(n)) ** 2 / float(n) for each, n in zip(every, expected, strict=True))
    # With 26 degrees of freedom the sum is 26 in the mean, and above 55 once in a thousand seeds.
    assert off < 55, off


class Fixed:
    """The same chances behind every id; what it was given is kept."""

    longest = 1000

    def __init__(self, *shares):
        self.blocks, self.logits, self.given = [None], torch.tensor(shares).log(), []

    def __call__(self, ids, caches):
        caches[0].extended(*torch.zeros(2, 1, 1, ids.shape[1], 1))
        self.given.append(ids.shape[1])
        return self.logits.expand(*ids.shape, -1)


def test_guesses_are_kept_as_often_as_the_chances_overlap():
    model, helper = Fixed(0.5, 0.3, 0.2), Fixed(0.2, 0.6, 0.2)
    text, kept = speculated(model, helper, PROMPT, 900, generator(1), guesses=1)
    share = sum(kept) / len(kept)
    # 0.2 + 0.3 + 0.2, within three times the error of so many draws.
    assert share == pytest.approx(0.7, abs=3 * math.sqrt(0.21 / len(kept)))
    counts = torch.bincount(text[0, 3:], minlength=3) / 900
    torch.testing.assert_close(counts, torch.tensor([0.5, 0.3, 0.2]), rtol=0, atol=3 * math.sqrt(0.25 / 900))


def test_what_was_kept_is_not_read_twice():
    model, helper = Fixed(0.5, 0.5), Fixed(0.5, 0.5)
    speculated(model, helper, PROMPT, 10, generator(0), guesses=4)
    assert model.given == [3 + 4, 1 + 4]
    # The last guess is read with the piece that the model adds.
    assert helper.given == [3, 1, 1, 1, 2, 1, 1, 1]


def test_a_refusal_by_rounding_alone_draws_from_the_model():
    """Where no chance is above the helper's, nothing would be left to draw from."""
    model, helper = Fixed(0.25, 0.25), Fixed(0.5, 0.5)
    halves = lambda logits: logits.exp()  # noqa: E731
    text, _ = speculated(model, helper, PROMPT, 50, generator(0), choose=halves)
    assert text.shape == (1, 53)


def test_the_last_piece_needs_no_guess():
    model = today(0)
    text, kept = speculated(model, model, PROMPT, 1, generator(0))
    assert text.shape == (1, 4)
    assert kept == [0]


def test_a_seed_repeats_and_chances_may_be_cut():
    model, helper = today(0), today(1)
    one, same, other = (speculated(model, helper, PROMPT, 30, generator(seed)).ids for seed in (0, 0, 1))
    assert one.equal(same)
    assert not one.equal(other)
    likeliest = speculated(
        model, helper, PROMPT, 30, generator(5), choose=lambda logits: chances(logits, top_k=1)
    )
    assert likeliest.ids.equal(written(model, PROMPT, 30, generator(0), 64, choose=greedy))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"guesses": 0}, "guesses must be at least 1, got 0"),
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"ids": PROMPT.expand(2, 3)}, "ids must be one row, (1, T), with at least one id, got (2, 3)"),
        ({"ids": PROMPT[0]}, "ids must be one row, (1, T), with at least one id, got (3,)"),
        ({"ids": PROMPT[:, :0]}, "ids must be one row, (1, T), with at least one id, got (1, 0)"),
        ({"count": 62}, "count must be at most 61, as ids are 3 and the models read 64, got 62"),
        (
            {"helper": today(1, longest=8)},
            "count must be at most 5, as ids are 3 and the models read 8, got 20",
        ),
        ({"helper": today(1, vocabulary=9)}, "helper must give chances (10,), got (9,)"),
    ],
)
def test_what_cannot_be_written_is_refused(how, words):
    given = {"model": today(0), "helper": today(1), "ids": PROMPT, "count": 20, "source": generator(0)}
    with pytest.raises(ValueError, match=re.escape(words) + "$"):
        speculated(**given | how)
