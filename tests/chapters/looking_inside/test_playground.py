"""What the page is told of the model that reads symbols: texts to try, a head to show, and its picture."""

import torch

from attnlab.inside import watched
from attnlab.runtime import generator
from bookkit import weights
from bookkit.playground import exported, picture
from chapters.looking_inside import models, playground


def test_it_is_the_model_of_the_chapter():
    stored = models.reader(layers=2)
    weights.load("looking_inside/two-layers", stored)
    for name, weight in playground.loaded().state_dict().items():
        assert torch.equal(weight, stored.state_dict()[name]), name


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
    drawn = picture("induction")
    text = playground.OFFERED[0]
    last = playground.chances(text)[-1]
    assert drawn.title == f"After “{text}” it says"
    assert drawn.words == models.SYMBOLS[int(last.argmax())]
    assert drawn.alt.endswith(f"it says {drawn.words}, with {100 * float(last.max()):.0f} %.")
    assert drawn.narrow.width <= 330


def test_the_picture_tells_each_letters_chance_in_the_second_round():
    text = playground.OFFERED[0]
    rows, period = playground.chances(text), len({*text})
    for place in range(period, len(text)):
        chance = float(rows[place - 1][models.SYMBOLS.index(text[place])])
        assert f"{text[place]} {100 * chance:.0f} %" in picture("induction").alt
