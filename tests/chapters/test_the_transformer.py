"""“The Transformer”: what only its exercises say."""

import itertools
import math

import pytest
import torch
from exercise_cases import of, telling, told
from torch import nn
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.transformer import LanguageModel
from chapters.the_transformer import models
from chapters.the_transformer.accepted import (
    MyBlock,
    MyModel,
    block,
    fused_step,
    handed_in,
    mended,
    model,
    results,
)
from chapters.the_transformer.exercises import (
    check_assembled_layer,
    check_cached_step,
    check_language_model,
    check_near_the_limit,
    check_next_words,
    check_repaired_model,
)
from chapters.the_transformer.exercises.language_model import _Model
from chapters.the_transformer.exercises.near_the_limit_parts import _excess, _Knows, _mean_loss, _spoken_of
from chapters.the_transformer.exercises.next_words import _CALLS, _CLOSE, _DRAWN, _ROWS, _apart, _chances

# --- assembled_layer and cached_step ---


def layer_in_place(x, mask, attention, feed_forward, norm_1, norm_2):
    x += attention(norm_1(x), mask=mask)[0]
    x += feed_forward(norm_2(x))
    return x


def by_length():
    """Its table outside is read up to as many words as `kept` has."""
    pieces = {}

    def code(words, kept, *more):
        before = kept[0].shape[1]
        pieces[before] = words
        for place in [place for place in pieces if place > before]:
            del pieces[place]  # of a longer text, before this one
        so_far = [pieces[place] for place in sorted(pieces)]
        empty = words[:, :0]
        output, stored = fused_step(torch.cat(so_far, 1), (empty, empty), *more)
        return output[:, -words.shape[1] :], stored

    return code


def written_into(words, kept, table, *matrices):
    words += table[kept[0].shape[1] :][: words.shape[1]]
    return fused_step(words, kept, 0 * table, *matrices)


test_a_reader_is_told = telling(
    told(check_assembled_layer, layer_in_place, "not with inputs that need gradients"),
    *of(
        check_cached_step,
        (by_length(), "when another text comes between the pieces"),
        (written_into, "", "changes its inputs"),  # as that, and not as a list outside
        (
            lambda *inputs: check_cached_step.reference(*inputs)[0],
            "Return the output, (B, n, d), and a pair",
        ),
    ),
)


def test_the_check_takes_what_the_stub_takes():
    assert check_cached_step.takes == ("words", "pieces", "table", "w_q", "w_k", "w_v")


# --- language_model ---


# What is not known is told in which part it is: its blocks, its feed-forward network alone, its attention
# alone; and both together.
test_who_builds_a_model_is_told = telling(
    *of(
        check_language_model,
        (block(feed=lambda self, x: self.narrow(F.silu(self.widen(x)))), "", ..., "✓✗✓✗"),
        (block(attention=lambda self, x: 0.9 * MyBlock.attention(self, x)), "", ..., "✓✓✗✗"),
        (model(begin=lambda self, words: self.norm(MyModel.begin(self, words))), "", ..., "✗✗✗✗"),
        marks=pytest.mark.weekly,
    )
)


@pytest.mark.thorough
def test_the_parts_are_together_the_model_of_the_library():
    assert check_language_model.judge(_Model).passed


# --- next_words ---


@pytest.mark.thorough
def test_chances_with_mistakes_are_told_apart_by_counting():
    """Each two that differ at all differ by more than twice what counting is wrong by: see below."""
    for case in check_next_words.cases:
        known = [_chances, *(code for _, code in _DRAWN.values())]
        chances = [code(*case.inputs) for code in known]
        for first, second in itertools.combinations(chances, 2):
            gap = _apart(first, second)
            assert gap < 1e-6 or gap > _CLOSE, (case.label, gap)


@pytest.mark.thorough
@pytest.mark.parametrize("case", check_next_words.cases, ids=lambda case: case.label)
def test_counted_shares_lie_close_to_their_chances(case):
    logits, temperature = case.inputs
    rows = logits.repeat(_ROWS // len(logits), 1)
    for seed in range(20):
        calls = [generator(100 * (seed + 1) + call) for call in range(_CALLS)]
        drawn = torch.cat([check_next_words.reference(rows, temperature, source) for source in calls])
        shares = F.one_hot(drawn, logits.shape[-1]).double().view(-1, *logits.shape).mean(0)
        assert _apart(shares, _chances(logits, temperature)) < _CLOSE / 2


def over_the_rows(logits, temperature, source):
    """Of rows in which the first word is hidden; right at temperature 0."""
    logits = logits.masked_fill(torch.arange(logits.shape[1]) == 0, -math.inf)
    if not temperature:
        return logits.argmax(-1)
    return torch.multinomial((logits / temperature).softmax(0), 1, generator=source).squeeze(1)


# A column of -inf is NaN then, as it is where no softmax makes chances: one sentence tells of both.
test_a_softmax_over_rows_that_are_hidden_is_not_said_to_be_missing = pytest.mark.thorough(
    telling(told(check_next_words, over_the_rows, "is it over the words, dim=-1?", "no chances"))
)


# --- repaired_model ---


test_who_repairs_is_told = telling(
    *of(
        check_repaired_model,
        (mended(hold=lambda self, layers: nn.ModuleList([next(layers)] * 2)), "", "one layer"),
        (
            mended(mask=lambda self, length: None, hold=lambda self, layers: list(layers)),
            "There is no mask left",
        ),
        marks=pytest.mark.thorough,
    )
)


# --- near_the_limit ---


test_who_trains_is_told = telling(
    *of(
        check_near_the_limit,
        ((3, 0.1, []), "Give the check the function itself"),
        (handed_in(excess="small"), " question = is its excess right?"),
        (handed_in(model=_Knows(0.75), excess=0.0), "has learned much of the grammar"),
        marks=pytest.mark.thorough,
    )
)


@pytest.mark.thorough
def test_a_model_that_was_trained_is_judged_by_what_it_learned():
    torch.manual_seed(0)
    small = LanguageModel(len(models.WORDS), d_model=16, heads=2, hidden=32, layers=1)
    report = check_near_the_limit.judge(lambda: (small, _excess(small), results()[2]))
    assert [line.strip()[0] for line in report.lines[:4]] == list("✓✗✓✓")


def test_a_model_that_knows_the_grammar_is_at_the_limit():
    fresh = _spoken_of("fresh")
    exact = _Knows(1 - 1e-9)
    assert abs(_mean_loss(exact(fresh.previous), fresh.targets) - fresh.limit) < 1e-6
