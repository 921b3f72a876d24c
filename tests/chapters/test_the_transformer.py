"""“The Transformer”: what only its exercises say, and its models."""

import dataclasses
import itertools
import math

import pytest
import torch
from exercise_cases import assert_still_broken, words
from torch import nn
from torch.nn import functional as F

from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.positions import SinusoidalPositions
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
from chapters.the_transformer.exercises.language_model_mistakes import _Model
from chapters.the_transformer.exercises.near_the_limit_parts import _excess, _Knows, _mean_loss, _spoken_of
from chapters.the_transformer.exercises.next_words import _CALLS, _CLOSE, _ROWS, _apart
from chapters.the_transformer.exercises.next_words_parts import _DRAWN, _chances

# --- assembled_layer ---


def layer_in_place(x, mask, attention, feed_forward, norm_1, norm_2):
    x += attention(norm_1(x), mask=mask)[0]
    x += feed_forward(norm_2(x))
    return x


def test_an_input_that_is_changed_is_told_beside_the_gradient_that_it_costs():
    said = " ".join(str(check_assembled_layer.judge(layer_in_place)).split())
    assert "not with inputs that need gradients" in said
    assert "It changes x" in said


# --- language_model ---


@pytest.mark.thorough
def test_the_whole_model_names_at_least_thirty_mistakes():
    assert len(check_language_model.mistakes) >= 30


@pytest.mark.thorough
def test_the_parts_are_together_the_model_of_the_library():
    assert check_language_model.judge(_Model).passed


@pytest.mark.thorough
def test_a_failing_answer_leaves_the_random_numbers_as_they_were():
    """Neither what it draws itself, nor what the known mistakes draw when they are first tried, is left."""
    check = dataclasses.replace(check_language_model)  # one that nothing has been tried with
    before = torch.get_rng_state()
    report = check.judge(model(__init__=raising))
    assert "It raises RuntimeError: too wide" in words(report), report
    assert torch.equal(torch.get_rng_state(), before)


def raising(self, *sizes):
    MyModel.__init__(self, *sizes)
    raise RuntimeError("too wide")


@pytest.mark.thorough
def test_a_result_stretched_without_end_is_not_reckoned_with_of_language_model():
    stretched = torch.zeros(1).expand(1_000_000, 1_000_000)
    report = check_language_model.judge(model(forward=lambda self, words: stretched))
    assert "It returns a tensor of shape (1000000, 1000000): far too many numbers." in words(report), report


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("code", "marks"),
    [
        # Its blocks, its feed-forward network alone, its attention alone; and both together.
        (block(feed=lambda self, x: self.narrow(F.silu(self.widen(x)))), "✓✗✓✗"),
        (block(attention=lambda self, x: 0.9 * MyBlock.attention(self, x)), "✓✓✗✗"),
        (model(begin=lambda self, words: self.norm(MyModel.begin(self, words))), "✗✗✗✗"),
    ],
    ids=["feed-forward network", "attention", "around"],
)
def test_what_is_not_known_is_told_in_which_part_it_is(code, marks):
    report = check_language_model.judge(code)
    assert [line.split()[0] for line in report.lines[: len(marks)]] == list(marks), report


# --- next_words ---


draw_words = check_next_words.reference


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
        drawn = torch.cat([draw_words(rows, temperature, source) for source in calls])
        shares = F.one_hot(drawn, logits.shape[-1]).double().view(-1, *logits.shape).mean(0)
        assert _apart(shares, _chances(logits, temperature)) < _CLOSE / 2


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


@pytest.mark.thorough
def test_a_softmax_over_rows_that_are_hidden_is_not_said_to_be_missing():
    """A column of -inf is NaN then, as it is where no softmax makes chances: one sentence tells of both."""
    over_rows = or_greedy(sampled(lambda logits, temperature: (picky(logits) / temperature).softmax(0)))
    report = check_next_words.judge(over_rows)
    assert report.mistake == "no chances", report
    assert "is it over the words, dim=-1?" in words(report), report


# --- cached_step ---


step = check_cached_step.reference


def in_a_list(begins_anew):
    """The words so far stand in a list outside, and `kept` is filled for show."""
    pieces = []

    def code(words, kept, *more):
        if begins_anew and kept[0].shape[1] == 0:
            pieces.clear()
        pieces.append(words)
        empty = words[:, :0]
        output, stored = fused_step(torch.cat(pieces, 1), (empty, empty), *more)
        return output[:, -words.shape[1] :], stored

    return code


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


@pytest.mark.parametrize("code", [in_a_list(begins_anew=False), in_a_list(begins_anew=True), by_length()])
def test_what_is_kept_outside_is_noticed_by_another_text_in_between(code):
    report = check_cached_step.judge(code)
    assert not report.passed, report
    assert "when another text comes between the pieces" in words(report), report


def test_an_input_written_into_is_told_as_that_and_not_as_a_list_outside():
    def code(words, kept, table, *matrices):
        words += table[kept[0].shape[1] :][: words.shape[1]]
        return fused_step(words, kept, 0 * table, *matrices)

    report = check_cached_step.judge(code)
    assert report.mistake == "changes its inputs", report


def test_a_result_stretched_without_end_is_not_reckoned_with_of_cached_step():
    stretched = torch.zeros(1, 1, 1).expand(1, 1_000_000, 1_000_000)
    report = check_cached_step.judge(lambda *inputs: (stretched, (stretched, stretched)))
    assert "Return the output, (B, n, d), and a pair" in words(report), report


def test_a_report_has_the_names_of_the_stub():
    report = check_cached_step.judge(lambda *inputs: step(*inputs)[0])
    assert check_cached_step.takes == ("words", "pieces", "table", "w_q", "w_k", "w_v")
    assert "    words = " in repr(report), report


# --- repaired_model ---


@pytest.mark.thorough
def test_the_broken_model_fails_all_three():
    assert_still_broken(check_repaired_model, ModelToRepair, "✗✗✗")


class ModelToRepair(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.embedding = ScaledEmbedding(words, 32)
        self.positions = SinusoidalPositions(32)
        self.layers = [EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2)]
        self.norm = LayerNorm(32)
        self.word = nn.Parameter(torch.randn(32, words))

    def forward(self, words):
        length = words.shape[1]
        mask = torch.ones(1, length, length, dtype=torch.bool, device=words.device).tril(1)
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x, mask)
        return self.norm(x) @ self.word


@pytest.mark.thorough
def test_a_result_stretched_without_end_is_not_reckoned_with_of_repaired_model():
    """Its shape is wrong already: to look at each of its numbers would take minutes."""
    report = check_repaired_model.judge(
        mended(forward=lambda self, words: torch.zeros(1).expand(1_000_000, 1_000_000))
    )
    assert "a tensor of shape (1000000, 1000000): far too many numbers" in words(report), report


@pytest.mark.thorough
def test_a_stub_is_not_written_yet():
    assert check_repaired_model.judge(mended(forward=lambda self, words: ...)).state == "not written yet"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "hold",
    [
        lambda self, layers: nn.ModuleList([next(layers)] * 2),
        lambda self, layers: nn.ModuleList([next(layers)]),
    ],
    ids=["the same twice", "one"],
)
def test_a_model_of_one_layer_is_not_the_one_to_mend(hold):
    assert check_repaired_model.judge(mended(hold=hold)).mistake == "one layer"


@pytest.mark.thorough
def test_a_second_layer_that_is_held_and_not_used_does_not_count():
    def forward(self, words):
        x = self.layers[0](self.positions(self.embedding(words)), self.mask(words.shape[1]))
        return self.norm(x) @ self.word

    assert check_repaired_model.judge(mended(forward=forward)).mistake == "one layer"


# --- near_the_limit ---


@pytest.mark.thorough
def test_a_function_is_asked_for_where_the_check_calls_it_in_a_way_of_its_own():
    assert "Give the check the function itself" in words(check_near_the_limit.judge((3, 0.1, [])))


@pytest.mark.thorough
def test_a_model_that_was_trained_passes():
    """What the chapter's solution does, with fewer steps: the check accepts what is learned."""
    torch.manual_seed(0)
    small = LanguageModel(len(models.WORDS), d_model=16, heads=2, hidden=32, layers=1)
    report = check_near_the_limit.judge(lambda: (small, _excess(small), results()[2]))
    assert [line.strip()[0] for line in report.lines[:4]] == list("✓✗✓✓")


@pytest.mark.thorough
def test_a_report_asks_in_words():
    report = check_near_the_limit.judge(handed_in(excess="small"))
    assert "    question = is its excess right?" in repr(report), report
    assert check_near_the_limit.judge(lambda: ...).state == "not written yet"


# --- together ---


@pytest.mark.parametrize("check", [check_assembled_layer, check_next_words, check_cached_step])
def test_others_name_at_least_six(check):
    assert len(check.mistakes) >= 6


def test_a_model_that_knows_the_grammar_is_at_the_limit():
    fresh = _spoken_of("fresh")
    exact = _Knows(1 - 1e-9)
    assert abs(_mean_loss(exact(fresh.previous), fresh.targets) - fresh.limit) < 1e-6


@pytest.mark.thorough
def test_two_faults_at_once_are_told_in_words():
    code = mended(mask=lambda self, length: None, hold=lambda self, layers: list(layers))
    assert "There is no mask left" in words(check_repaired_model.judge(code))
    code = handed_in(model=_Knows(0.75), excess=0.0)
    assert "has learned much of the grammar" in words(check_near_the_limit.judge(code))
