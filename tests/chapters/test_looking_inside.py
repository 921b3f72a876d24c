"""“Looking inside”: what only its exercises say, its chart, and what its page is told."""

import math

import pytest
import torch
from exercise_cases import telling, told, words
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch import nn

from attnlab.inside import heads_changed, watched, zeroed
from attnlab.runtime import generator
from attnlab.transformer import LanguageModel
from bookkit.playground import exported, picture
from chapters.looking_inside import models, playground
from chapters.looking_inside.accepted import hand_made, looks_and_costs, scores
from chapters.looking_inside.charts import CELLS, LETTERS, PERCENT, STEPS
from chapters.looking_inside.circuits import Circuit
from chapters.looking_inside.exercises import check_induction_forms, check_induction_head, check_without_head
from chapters.looking_inside.exercises.head_scores import SIX_PLACES


def without_by_context(model, words, layer, head):
    with heads_changed(model.layers[layer].self_attention, zeroed(head)):
        return model(words)


test_a_reader_is_told = telling(
    # The text asks to do without a hook.
    told(check_without_head, without_by_context, "heads_changed and zeroed are there already", "ready-made"),
)


def test_by_hand_the_scores_of_the_drawing_are_045_and_05():
    previous, induction = scores(torch.tensor([SIX_PLACES]), 3)
    assert torch.allclose(previous, torch.tensor([0.45]))
    assert torch.allclose(induction, torch.tensor([0.5]))


@pytest.mark.thorough
def test_what_is_handed_over_is_asked_for_in_words():
    two, one, gap = hand_made()
    for handed, said in {
        (two, one): "three things",
        (two, "one layer", gap): "A model is expected, and str came",
        (two, LanguageModel(9, 8, 1, 8, 1), gap): "below 12",
        (two, one, "large"): "The gap is one number",
        (two, nn.Sequential(nn.Embedding(12, 12)), gap): "A model has no attention of attnlab's",
        (Circuit({}, 3), one, gap): "Two layers of attention and one are expected, and 3 and 1 came",
        (two, one, gap + 5): f"Your gap is {gap + 5:.2f}, and here one layer loses {gap:.2f} more",
        (two, one, float("nan")): "Your gap is nan",
    }.items():
        assert said in words(check_induction_forms.judge(lambda handed=handed: handed))


def test_a_head_that_is_heard_by_nobody_looks_more_surely_and_costs_nothing():
    _, deceiving, _ = check_induction_head.cases
    looks, costs = looks_and_costs(*deceiving.fresh())
    assert looks[1, 0] > looks[1, 2] > 0.5
    assert abs(costs[1, 0]) < 0.05
    assert costs[1, 2] > 1
    # The one who stood before costs more than the induction head.
    assert costs[0, 1] > costs[1, 2]


# --- the chart ---


ROWS, COLUMNS = torch.tril_indices(len(LETTERS), len(LETTERS))


def whole(number):
    """A half goes up, as browsers write it."""
    return math.floor(number + 0.5)


def test_its_letters_are_those_that_were_shown():
    assert [models.SYMBOLS[word] for word in models.SHOWN[0]] == [*LETTERS]
    assert len(ROWS) == CELLS


@pytest.mark.thorough
def test_each_head_at_each_moment(chart: Locator) -> None:
    half = len(LETTERS) // 2
    before = ROWS.gt(0) & ROWS.lt(half) & (ROWS - 1 == COLUMNS)
    answer = ROWS.ge(half) & (ROWS - half + 1 == COLUMNS)
    # It begins with the last of all, and says so once something has moved.
    for name, percent in PERCENT.items():
        chart.get_by_label(name, exact=True).check()
        for moment, step in enumerate(STEPS, start=1):
            chart.get_by_role("slider").fill(str(moment))
            looked = torch.tensor(percent, dtype=torch.float64).view(len(STEPS), CELLS)[moment - 1]
            told = says(chart, f"update {step}, {name}: weight")
            assert f"{whole(looked[before].mean())} % on the letter before" in told
            assert f"{whole(looked[answer].mean())} % on the answer" in told
            (drawn,) = numbers(chart, "percent")
            assert torch.equal(drawn, looked)


# --- what the page is told ---


def test_the_texts_offered_are_of_its_symbols_and_fit():
    for text in exported("induction")["offered"]:
        assert {*text} <= {*models.SYMBOLS}
        assert len(text) < models.LENGTH


def test_what_is_said_of_the_texts_that_are_offered_is_so():
    one, other, twice, never = playground.OFFERED
    for text in (one, other):
        period = len({*text})
        assert text == (text[:period] * 3)[: len(text)]
    assert twice == ("attention" * 3)[: len(twice)]
    assert len({*never}) == len(never)


def test_the_head_that_is_shown_looks_most_behind_an_earlier_copy():
    place, head = exported("induction")["shown"]
    read = models.repeated(200, generator(6))
    with watched(playground.loaded()) as found, torch.no_grad():
        playground.loaded()(read.words)
    scores = {
        (name, number): float(score)
        for name, each in found.items()
        for number, score in enumerate(models.induction_scores(each, read))
    }
    assert max(scores, key=scores.get) == (place, head)
    assert place == "layers.1.self_attention"


def test_a_second_round_is_foreseen_and_a_first_one_is_not():
    text = playground.OFFERED[0]
    rows = playground.chances(text)
    shares = [float(row[models.SYMBOLS.index(symbol)]) for row, symbol in zip(rows, text[1:], strict=False)]
    period = len({*text})
    assert max(shares[: period - 1]) < 0.05
    assert min(shares[period:]) > 0.7


def test_the_picture_says_what_the_model_says_and_fits_a_phone():
    drawn, text = picture("induction"), playground.OFFERED[0]
    rows, period = playground.chances(text), len({*text})
    assert drawn.narrow.width <= 330
    assert drawn.title == f"After “{text}” it says"
    assert drawn.words == models.SYMBOLS[int(rows[-1].argmax())]
    assert drawn.alt.endswith(f"it says {drawn.words}, with {100 * float(rows[-1].max()):.0f} %.")
    for symbol, row in zip(text[period:], rows[period - 1 :], strict=False):
        assert f"{symbol} {100 * float(row[models.SYMBOLS.index(symbol)]):.0f} %" in drawn.alt
