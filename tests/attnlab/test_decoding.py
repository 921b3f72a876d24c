"""Beam search: against every row there is, and against the likeliest word at each step."""

import itertools

import pytest
import torch

from attnlab.decoding import beam
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
