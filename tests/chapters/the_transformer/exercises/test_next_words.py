"""The exercise `next_words`, tried as readers would."""

import itertools
import math

import exercise_cases
import pytest
import torch
from exercise_cases import judged_as
from torch.nn import functional as F

from attnlab.runtime import generator
from chapters.the_transformer.exercises import (
    check_next_words,
)
from chapters.the_transformer.exercises.next_words import _CALLS, _CLOSE, _ROWS, _apart
from chapters.the_transformer.exercises.next_words_parts import _DRAWN, _chances

pytestmark = pytest.mark.thorough

draw_words = check_next_words.reference


def test_chances_with_mistakes_are_told_apart_by_counting():
    """Each two that differ at all differ by more than twice what counting is wrong by: see below."""
    for case in check_next_words.cases:
        known = [_chances, *(code for _, code in _DRAWN.values())]
        chances = [code(*case.inputs) for code in known]
        for first, second in itertools.combinations(chances, 2):
            gap = _apart(first, second)
            assert gap < 1e-6 or gap > _CLOSE, (case.label, gap)


@pytest.mark.parametrize("case", check_next_words.cases, ids=lambda case: case.label)
def test_counted_shares_lie_close_to_their_chances(case):
    logits, temperature = case.inputs
    rows = logits.repeat(_ROWS // len(logits), 1)
    for seed in range(20):
        calls = [generator(100 * (seed + 1) + call) for call in range(_CALLS)]
        drawn = torch.cat([draw_words(rows, temperature, source) for source in calls])
        shares = F.one_hot(drawn, logits.shape[-1]).double().view(-1, *logits.shape).mean(0)
        assert _apart(shares, _chances(logits, temperature)) < _CLOSE / 2


def gumbel(logits, temperature, source):
    """The largest of logits and noise is drawn by its chance."""
    logits = logits.masked_fill(torch.arange(logits.shape[1]) == 0, -math.inf)
    if not temperature:
        return logits.argmax(-1)
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=source)))
    return (logits / temperature + noise).argmax(-1)


def by_cumulated_chances(logits, temperature, source):
    chances = _chances(logits, temperature)
    places = torch.rand(len(logits), 1, generator=source, dtype=chances.dtype)
    return torch.searchsorted(chances.cumsum(-1), places).squeeze(1)


def row_by_row(logits, temperature, source):
    drawn = []
    for row in logits[:, 1:]:
        if temperature == 0:
            drawn.append(int(row.argmax()) + 1)
        else:
            shifted = ((row - row.max()) / temperature).exp()
            drawn.append(int(torch.multinomial(shifted, 1, generator=source)) + 1)
    return torch.tensor(drawn)


def picky(logits):
    return logits.masked_fill(torch.arange(logits.shape[1]) == 0, -math.inf)


def sampled(chances):
    """Drawn from chances (B, words), however they were made."""
    return lambda logits, temperature, source: torch.multinomial(
        chances(logits, temperature), 1, generator=source
    ).squeeze(1)


def or_greedy(code):
    """Right at temperature 0."""
    return lambda logits, temperature, source: (
        code(logits, temperature, source) if temperature else picky(logits).argmax(-1)
    )


def times(logits, temperature, source):
    chances = (logits[:, 1:] * temperature).softmax(-1)
    return 1 + torch.multinomial(chances, 1, generator=source).squeeze(1)


def in_place(logits, temperature, source):
    logits[:, 0] = -math.inf
    return gumbel(logits, temperature, source)


def own_randomness(logits, temperature, source):
    return or_greedy(
        lambda logits, temperature, source: torch.multinomial(_chances(logits, temperature), 1).squeeze(1)
    )(logits, temperature, source)


def test_a_softmax_over_rows_that_are_hidden_is_not_said_to_be_missing():
    """A column of -inf is NaN then, as it is where no softmax makes chances: one sentence tells of both."""
    over_rows = or_greedy(sampled(lambda logits, temperature: (picky(logits) / temperature).softmax(0)))
    report = check_next_words.judge(over_rows)
    assert report.mistake == "no chances", report
    assert "is it over the words, dim=-1?" in exercise_cases.words(report), report


RIGHT = {
    check_next_words: {
        "Gumbel": gumbel,
        "cumulated": by_cumulated_chances,
        "row by row": row_by_row,
    }
}


NAMED = {
    check_next_words: {
        "multiplied": or_greedy(times),
        "multiplied at 0, too": times,
        "softmax over the rows": or_greedy(
            lambda logits, temperature, source: (
                1 + torch.multinomial((logits[:, 1:] / temperature).softmax(0), 1, generator=source)[:, 0]
            )
        ),
        "first row for all": lambda logits, temperature, source: draw_words(
            logits[:1].expand_as(logits), temperature, source
        ),
        "one place off": lambda *inputs: draw_words(*inputs) - 1,
        "one place off at 0": lambda logits, temperature, source: (
            draw_words(logits, temperature, source) if temperature else logits[:, 1:].argmax(-1)
        ),
        "padding at 0": lambda logits, temperature, source: (
            draw_words(logits, temperature, source) if temperature else logits.argmax(-1)
        ),
        "drawn at 0": lambda logits, temperature, source: draw_words(logits, temperature or 1, source),
        "no chances": or_greedy(sampled(lambda logits, temperature: picky(logits) / temperature)),
        "temperature used at 0 alone": or_greedy(
            sampled(lambda logits, temperature: picky(logits).softmax(-1) / temperature)
        ),
        "always the likeliest": lambda logits, temperature, source: picky(logits).argmax(-1),
        "divided by 0": sampled(
            lambda logits, temperature: (picky(logits) / torch.tensor(temperature)).softmax(-1)
        ),
        "padding drawn": lambda logits, temperature, source: (
            torch.multinomial((logits / temperature).softmax(-1), 1, generator=source).squeeze(1)
            if temperature
            else logits.argmax(-1)
        ),
        "softmax twice": or_greedy(
            sampled(lambda logits, temperature: picky((picky(logits) / temperature).softmax(-1)).softmax(-1))
        ),
        "overflow": or_greedy(
            sampled(
                lambda logits, temperature: (
                    (picky(logits) / temperature).exp()
                    / (picky(logits) / temperature).exp().sum(-1, keepdim=True)
                )
            )
        ),
        "one draw for all": lambda logits, temperature, source: gumbel(
            logits[:1], temperature, source
        ).repeat(len(logits)),
        "writes into the logits": in_place,
        "randomness from elsewhere": own_randomness,
    }
}


UNKNOWN = {
    check_next_words: {
        "the two likeliest alone": or_greedy(
            sampled(
                lambda logits, temperature: (
                    (picky(logits) / temperature)
                    .masked_fill(picky(logits) < picky(logits).topk(2).values[:, -1:], -math.inf)
                    .softmax(-1)
                )
            )
        ),
        "seldom another at 0": lambda logits, temperature, source: draw_words(
            logits, max(temperature, 0.1), source
        ),
        "a column": lambda logits, temperature, source: draw_words(logits, temperature, source)[:, None],
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
