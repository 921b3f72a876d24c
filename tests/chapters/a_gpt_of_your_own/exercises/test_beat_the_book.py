"""The exercise `beat_the_book`, tried as readers would."""

import numpy as np
import pytest
import torch
from torch import nn

from attnlab.corpora import docstrings
from attnlab.corpora.pieces import Pieces
from attnlab.training.run import Run, row_of
from attnlab.transformer import GPT
from chapters.a_gpt_of_your_own import models, rivals
from chapters.a_gpt_of_your_own.exercises import check_beat_the_book
from chapters.a_gpt_of_your_own.exercises.beat_the_book_parts import BAR, held_out, measured


class Counted(nn.Module):
    """5-grams, whose chances are computed for each place anew."""

    context = 64

    def __init__(self, row):
        super().__init__()
        self.grams = rivals.KneserNey(row, order=5)

    def forward(self, ids):
        places = range(ids.shape[1])
        rows = [
            [self.grams.behind(row[max(0, at - 3) : at + 1], 2048) for at in places] for row in ids.numpy()
        ]
        return torch.from_numpy(np.array(rows)).log()


@pytest.fixture(scope="module")
def training():
    texts, _ = docstrings.split(models.LITTLE)
    return row_of(map(models.pieces().encode, texts), models.pieces().end)


def test_counting_alone_is_told_to_be_not_enough(training):
    """And it needs what the bar was set by."""
    model, pieces = Counted(training), models.pieces()
    bits = measured(model, pieces, model.context).bits
    assert BAR < bits < BAR + 0.02
    report = check_beat_the_book.judge(lambda: (model, pieces, bits))
    assert report.mistake == "not below counting"
    assert [line.split()[0] for line in report.lines[:3]] == ["✓", "✓", "✗"]


def test_every_fourth_text_is_asked():
    _, validation = docstrings.split(models.LITTLE)
    assert held_out() == validation[::4]


def gpt(size):
    torch.manual_seed(0)
    return GPT(size, d_model=32, heads=1, layers=1, context=32)


def test_a_network_as_it_is_drawn_has_learned_nothing():
    report = check_beat_the_book.judge(lambda: (gpt(2048), models.pieces(), 3.3))
    assert report.mistake == "nothing learned"


@pytest.mark.thorough
def test_a_small_network_after_seconds_is_not_below_counting(training):
    model = gpt(2048)
    Run(model, training, updates=60, rate=1e-2, rows=8, length=32, warm_up=10).go(60)
    report = check_beat_the_book.judge(lambda: (model, models.pieces(), 3.0))
    assert report.mistake == "not below counting"


@pytest.mark.parametrize(
    ("handed", "words"),
    [
        (lambda: gpt(259), "Hand over three things"),
        (lambda: ("model", Pieces([]), 1.0), "A model is expected first, and str came."),
        (lambda: (gpt(257), [], 1.0), "The pieces need encode, decode, end and a length"),
        (lambda: (gpt(300), Pieces([]), 1.0), r"return logits (B, T, 257)"),
        (lambda: (gpt(257), Pieces([]), "low"), "Your bits per byte are one number."),
    ],
)
def test_what_is_no_such_thing_is_told(handed, words):
    report = check_beat_the_book.judge(handed)
    assert not report.passed
    assert words.replace("\n", " ") in " ".join(str(report).split())
