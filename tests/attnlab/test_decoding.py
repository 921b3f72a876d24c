"""Writing: a beam against all rows there are, draws, rows in one batch, a cache, and a helper's guesses."""

import itertools
import math
import re
from functools import partial

import pytest
import torch
from tensors import random
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.decoding import beam, chances, left_padded, speculated, writable, written
from attnlab.runtime import generator
from attnlab.today.model import Today

START, END, WORDS = 0, 1, 5


# ---- beams ----


def odds(seed, ends=True):
    """Log-probabilities of a next word, for each last word."""
    scores = 2 * torch.randn(WORDS, WORDS, generator=generator(seed))
    scores[:, START] = -torch.inf
    if not ends:
        scores[:, END] = -torch.inf
    return scores.log_softmax(-1)


def search(table, width, longest=5):
    return beam(lambda words, state: (table[words], state), torch.zeros(1, 1), START, END, width, longest)


def likelihood(table, row):
    return sum(table[a, b] for a, b in itertools.pairwise([START, *row]))


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_finds_what_its_width_lets_it_find(seed):
    table = odds(seed)
    row, total = search(table, width=500)
    every = [[*row, END] for n in range(5) for row in itertools.product(range(2, WORDS), repeat=n)]
    best = max(every, key=lambda row: likelihood(table, row))
    assert row.tolist() == best, "as wide as all rows"
    torch.testing.assert_close(total, likelihood(table, best))
    row, expected = search(table, width=1, longest=30)[0].tolist(), [START]
    while expected[-1] != END and len(expected) <= 30:
        expected.append(int(table[expected[-1]].argmax()))
    assert row == expected[1:], "the likeliest word at each step"
    for width in (1, 2, 3):
        row, total = search(table, width)
        torch.testing.assert_close(total, likelihood(table, row.tolist()))
    table = odds(seed, ends=False)
    row, total = search(table, width=2, longest=7)
    assert len(row) == 7, "where nothing ends it is cut"
    torch.testing.assert_close(total, likelihood(table, row.tolist()))


@pytest.mark.parametrize("seed", range(5))
def test_states_follow_their_rows(seed):
    """Each row's state holds its words."""

    # By the two words before: the last alone would not tell one state from another.
    likely = 2 * torch.randn(WORDS, WORDS, WORDS, generator=generator(seed))
    likely[..., [START, END]] = -torch.inf  # a row that ends early would have little to remember
    likely = likely.log_softmax(-1)

    def step(words, state):
        state = torch.cat([state, words[:, None].float()], dim=-1)
        before, last = state[:, -2:].long().unbind(-1)
        return likely[before, last], state

    def total_of(row):
        state, total = torch.zeros(1, 1), 0.0
        for before, word in itertools.pairwise([START, *row]):
            logs, state = step(torch.tensor([before]), state)
            total += float(logs[0, word])
        return total

    row, total = beam(step, torch.zeros(1, 1), START, END, width=500, longest=4)
    best = max(itertools.product(range(2, WORDS), repeat=4), key=total_of)
    assert row.tolist() == [*best]
    assert float(total) == pytest.approx(total_of(best), abs=1e-5)


@pytest.mark.parametrize("wrong", [{"width": 0}, {"width": 1, "longest": 0}])
def test_no_width_and_no_length_are_refused(wrong):
    with pytest.raises(ValueError, match="at least 1"):
        search(odds(0), **wrong)


# ---- drawing ----


def test_a_least_share_keeps_those_that_have_it_of_the_likeliests():
    shares = torch.tensor([[0.05, 0.4, 0.1, 0.15, 0.3]], dtype=torch.float64)
    for least, stay in {1.0: [1], 0.5: [1, 4], 0.26: [1, 3, 4], 0.1: [0, 1, 2, 3, 4]}.items():
        expected = torch.zeros_like(shares)
        expected[0, stay] = shares[0, stay] / shares[0, stay].sum()
        torch.testing.assert_close(chances(shares.log(), min_p=least), expected)


def test_cuts_add_up_rows_are_cut_by_themselves_and_without_a_cut_it_is_a_softmax():
    logits = random(5, 9)
    torch.testing.assert_close(chances(logits, 0.3), (logits / 0.3).softmax(-1))
    together = chances(logits, 0.8, top_k=4, top_p=0.7)
    for row, cut in zip(logits, together, strict=True):
        torch.testing.assert_close(chances(row, 0.8, top_k=4, top_p=0.7), cut)
    left = [(chances(logits, 0.8, **how) > 0).sum(-1) for how in ({"top_k": 4}, {"top_p": 0.7})]
    assert ((together > 0).sum(-1) == torch.minimum(*left)).all()
    torch.testing.assert_close(together.sum(-1), torch.ones(5, dtype=torch.float64))


@pytest.mark.parametrize("how", [{"temperature": 0.0}, {"top_k": 0}, {"top_p": 0.0}])
def test_what_can_not_be_drawn_from_is_refused(how):
    ((name, value),) = how.items()
    with pytest.raises(ValueError, match=rf"{name} must be .*, got {value}$"):
        chances(torch.zeros(3), **how)


def test_writing_goes_on_with_each_row_and_sees_the_context_alone():
    seen = []

    def model(ids):
        """After an id comes the next one, surely."""
        seen.append(ids)
        return 100.0 * F.one_hot((ids + 1) % 10, 10).float()

    rows = written(model, torch.tensor([[1, 2], [7, 8]]), 4, generator(0), context=3)
    assert rows.tolist() == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 0, 1, 2]]
    assert [ids.shape[1] for ids in seen] == [2, 3, 3, 3]
    assert seen[-1].tolist() == [[3, 4, 5], [9, 0, 1]]


def test_writing_never_writes_what_it_must_not():
    start = torch.zeros(2, 1, dtype=torch.long)
    model = lambda ids: torch.arange(5.0, 0, -1).expand(*ids.shape, 5)  # noqa: E731
    rows = written(model, start, 50, generator(0), 8, lambda logits: chances(writable(logits, [0, 1])))
    assert {*rows[:, 1:].flatten().tolist()} == {2, 3, 4}, "0 would be the likeliest"


# ---- left padding ----

ROWS = [[5, 6, 7, 8, 9], [3], [1, 2, 4]]
PROMPT = torch.tensor([[1, 0, 2]])


def today(seed, vocabulary=10, longest=64):
    torch.manual_seed(seed)
    sizes = {"d_model": 8, "heads": 2, "groups": 1, "hidden": 8, "layers": 2, "longest": longest}
    return Today(vocabulary, **sizes, spread=0.5).eval()


@torch.no_grad()
@pytest.mark.parametrize("filler", [0, 9])
def test_each_row_of_a_batch_gets_what_it_gets_alone(filler):
    model = today(0).double()
    ids, visible, places = left_padded(ROWS, filler)
    caches = [Cache() for _ in model.blocks]
    logits = model(ids, caches, visible, places)
    assert logits.isfinite().all()
    seen = F.pad(visible[:, -1:], (0, 1), value=True)  # (B, 1, T + 1)
    further = model(torch.tensor([[7], [8], [9]]), caches, seen, places[:, -1:] + 1)
    for row, word, each, last in zip(ROWS, (7, 8, 9), logits, further, strict=True):
        alone = model(torch.tensor([[*row, word]]))[0]
        torch.testing.assert_close(torch.cat([each[-len(row) :], last]), alone)


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


# ---- a cache, which can forget ----


def test_a_cache_puts_what_is_new_behind_what_it_keeps():
    rows, cache = random(2, 3, 7, 4), Cache()
    assert cache.length == 0
    for start, end in ((0, 1), (1, 4), (4, 7)):
        keys, values = cache.extended(rows[:, :, start:end], -rows[:, :, start:end])
        assert torch.equal(keys, rows[:, :, :end])
        assert torch.equal(values, -rows[:, :, :end])
        assert cache.length == end
    cache.cut(2)  # then it goes on as if the rest had never come
    assert cache.length == 2
    keys, values = cache.extended(rows[:, :, 5:], -rows[:, :, 5:])
    assert torch.equal(keys, rows[:, :, [0, 1, 5, 6]])
    assert torch.equal(values, -keys)
    cache.cut(0)
    Cache().cut(0)  # of nothing, too
    assert cache.length == 0


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


def greedy(logits):
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()


@pytest.mark.parametrize(
    ("guesses", "choose"),
    [(1, greedy), (2, partial(chances, top_k=1)), (2, greedy), (5, greedy), (40, greedy)],
)
def test_the_likeliest_stays_the_likeliest(guesses, choose):
    model, helper = today(4), today(4)
    for place, weight in enumerate(helper.parameters()):  # it guesses right, but not always
        weight.data += 0.1 * random(*weight.shape, dtype=weight.dtype, seed=place)
    text, kept = speculated(model, helper, PROMPT, 30, generator(0), guesses, choose=choose)
    assert torch.equal(text, written(model, PROMPT, 30, generator(0), 64, choose=greedy))
    assert sum(kept) + len(kept) == 30
    assert 0 < max(kept) <= guesses
    assert min(kept) == 0


def test_who_guesses_as_the_model_would_is_never_refused():
    model = today(4)
    text, kept = speculated(model, model, PROMPT, 30, generator(0), guesses=4, choose=greedy)
    assert kept == [4] * 6
    assert torch.equal(text, written(model, PROMPT, 30, generator(0), 64, choose=greedy))
    text, kept = speculated(model, model, PROMPT, 1, generator(0))
    assert text.shape == (1, 4)
    assert kept == [0], "the last piece needs no guess"


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
    text, _ = speculated(model, helper, PROMPT, 50, generator(0), choose=lambda logits: logits.exp())
    assert text.shape == (1, 53)


def test_a_seed_repeats():
    model, helper = today(0), today(1)
    one, same, other = (speculated(model, helper, PROMPT, 30, generator(seed)).ids for seed in (0, 0, 1))
    assert one.equal(same)
    assert not one.equal(other)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"guesses": 0}, "guesses must be at least 1, got 0"),
        ({"count": 0}, "count must be at least 1, got 0"),
        ({"ids": PROMPT.expand(2, 3)}, "ids must be one row, (1, T), with at least one id, got (2, 3)"),
        ({"ids": PROMPT[0]}, "with at least one id, got (3,)"),
        ({"ids": PROMPT[:, :0]}, "with at least one id, got (1, 0)"),
        ({"count": 62}, "count must be at most 61, as ids are 3 and the models read 64, got 62"),
        ({"helper": today(1, longest=8)}, "at most 5, as ids are 3 and the models read 8, got 20"),
        ({"helper": today(1, vocabulary=9)}, "helper must give chances (10,), got (9,)"),
    ],
)
def test_what_cannot_be_written_is_refused(how, words):
    given = {"model": today(0), "helper": today(1), "ids": PROMPT, "count": 20, "source": generator(0)}
    with pytest.raises(ValueError, match=re.escape(words) + "$"):
        speculated(**given | how)
