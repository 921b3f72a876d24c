"""Beam search, against every row there is and the likeliest word at each step; and drawing."""

import itertools

import pytest
import torch
from torch import nn

from attnlab.decoding import beam, chances, writable, written
from attnlab.runtime import generator

START, END, WORDS = 0, 1, 5


def odds(seed, ends=True):
    """Log-probabilities of a next word, for each last word."""
    scores = 2 * torch.randn(WORDS, WORDS, generator=generator(seed))
    scores[:, START] = -torch.inf
    if not ends:
        scores[:, END] = -torch.inf
    return scores.log_softmax(-1)


def by_the_last_word(table):
    return lambda words, state: (table[words], state)


def search(table, width, longest=5):
    return beam(by_the_last_word(table), torch.zeros(1, 1), START, END, width, longest)


def likelihood(table, row):
    return sum(table[a, b] for a, b in itertools.pairwise([START, *row]))


def every_row(longest):
    for length in range(longest):
        for words in itertools.product(range(2, WORDS), repeat=length):
            yield [*words, END]


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_as_wide_as_all_rows_finds_the_likeliest(seed):
    table = odds(seed)
    row, total = search(table, width=500)
    best = max(every_row(5), key=lambda row: likelihood(table, row))
    assert row.tolist() == best
    torch.testing.assert_close(total, likelihood(table, best))


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_of_one_takes_the_likeliest_word_at_each_step(seed):
    table = odds(seed)
    row, expected = search(table, width=1, longest=30)[0].tolist(), [START]
    while expected[-1] != END and len(expected) <= 30:
        expected.append(int(table[expected[-1]].argmax()))
    assert row == expected[1:]


@pytest.mark.parametrize("width", [1, 2, 3])
def test_what_comes_back_is_as_likely_as_it_says(width):
    for seed in range(10):
        table = odds(seed)
        row, total = search(table, width)
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


def test_where_nothing_ends_it_is_cut():
    table = odds(0, ends=False)
    row, total = search(table, width=2, longest=7)
    assert len(row) == 7
    torch.testing.assert_close(total, likelihood(table, row.tolist()))


@pytest.mark.parametrize("wrong", [{"width": 0}, {"width": 1, "longest": 0}])
def test_no_width_and_no_length_are_refused(wrong):
    with pytest.raises(ValueError, match="at least 1"):
        search(odds(0), **wrong)


# ---- drawing ----


@pytest.mark.parametrize("temperature", [0.3, 1.0, 2.5])
def test_chances_without_a_cut_are_a_softmax(temperature):
    logits = torch.randn(4, 7, generator=generator(0), dtype=torch.float64)
    torch.testing.assert_close(chances(logits, temperature), (logits / temperature).softmax(-1))


def test_each_cut_keeps_what_it_says():
    odds = torch.tensor([[0.05, 0.4, 0.1, 0.15, 0.3]], dtype=torch.float64)
    kept = {
        "top_k": {1: [1], 2: [1, 4], 9: [0, 1, 2, 3, 4]},
        "top_p": {0.3: [1], 0.45: [1, 4], 0.71: [1, 3, 4], 1.0: [0, 1, 2, 3, 4]},
        "min_p": {1.0: [1], 0.5: [1, 4], 0.26: [1, 3, 4], 0.1: [0, 1, 2, 3, 4]},
    }
    for how, places in kept.items():
        for value, stay in places.items():
            left = chances(odds.log(), **{how: value})
            expected = torch.zeros_like(odds)
            expected[0, stay] = odds[0, stay] / odds[0, stay].sum()
            torch.testing.assert_close(left, expected)


def test_cuts_add_up_and_rows_are_cut_by_themselves():
    logits = torch.randn(5, 9, generator=generator(1))
    together = chances(logits, 0.8, top_k=4, top_p=0.7)
    for row, cut in zip(logits, together, strict=True):
        torch.testing.assert_close(chances(row, 0.8, top_k=4, top_p=0.7), cut)
    fewest = torch.minimum(
        *((chances(logits, 0.8, **how) > 0).sum(-1) for how in ({"top_k": 4}, {"top_p": 0.7}))
    )
    assert ((together > 0).sum(-1) == fewest).all()
    torch.testing.assert_close(together.sum(-1), torch.ones(5))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"temperature": 0.0}, "temperature must be above 0, got 0.0"),
        ({"top_k": 0}, "top_k must be at least 1, got 0"),
        ({"top_p": 0.0}, "top_p must be above 0, got 0.0"),
    ],
)
def test_what_can_not_be_drawn_from_is_refused(how, words):
    with pytest.raises(ValueError, match=words):
        chances(torch.zeros(3), **how)


class Counting(nn.Module):
    """After an id comes the next one, surely; what it was given is kept."""

    def __init__(self):
        super().__init__()
        self.given = []

    def forward(self, ids):
        self.given.append(ids)
        return 100.0 * nn.functional.one_hot((ids + 1) % 10, 10).float()


def test_writing_goes_on_with_each_row_and_sees_the_context_alone():
    model = Counting()
    rows = written(model, torch.tensor([[1, 2], [7, 8]]), 4, generator(0), context=3)
    assert rows.tolist() == [[1, 2, 3, 4, 5, 6], [7, 8, 9, 0, 1, 2]]
    assert [given.shape[1] for given in model.given] == [2, 3, 3, 3]
    assert model.given[-1].tolist() == [[3, 4, 5], [9, 0, 1]]


def test_what_is_never_to_be_written_is_not_drawn_though_it_be_the_likeliest():
    model = lambda ids: torch.arange(5.0, 0, -1).expand(*ids.shape, 5)  # noqa: E731
    start = torch.zeros(2, 1, dtype=torch.long)
    rows = written(model, start, 50, generator(0), 8, lambda logits: chances(writable(logits, [0, 1])))
    assert {*rows[:, 1:].flatten().tolist()} == {2, 3, 4}


def test_writing_repeats_with_its_seed():
    model = lambda ids: torch.zeros(*ids.shape, 50)  # noqa: E731
    start = torch.zeros(2, 1, dtype=torch.long)
    one, same, other = (written(model, start, 20, generator(seed), 8) for seed in (0, 0, 1))
    assert one.equal(same)
    assert not one.equal(other)
    assert one[0].tolist() != one[1].tolist()
