"""The exercise `beat_the_book`, tried as readers would."""

import math

import numpy as np
import pytest
import torch
from exercise_cases import judged_as, words
from torch import nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.corpora.pieces import Pieces
from attnlab.training.run import Run, row_of
from attnlab.transformer import GPT
from bookkit import weights
from chapters.a_gpt_of_your_own import models, rivals
from chapters.is_it_any_good.exercises import check_beat_the_book
from chapters.is_it_any_good.exercises.beat_the_book_mistakes import knowing, pieces
from chapters.is_it_any_good.exercises.beat_the_book_parts import (
    BAR,
    SAID,
    all_held_out,
    held_out,
    measured,
    others,
)

pytestmark = pytest.mark.thorough


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
    model, cut = Counted(training), models.pieces()
    bits = measured(model, cut, model.context).bits
    assert BAR < bits < BAR + 0.02
    report = check_beat_the_book.judge(lambda: (model, cut, bits))
    assert report.mistake == "by heart"  # what has been counted it knows
    assert [line.split()[0] for line in report.lines[:4]] == ["✓", "✓", "✗", "✓"]


def test_every_fourth_text_is_asked():
    _, validation = docstrings.split(models.LITTLE)
    assert held_out() == validation[::4]
    assert all_held_out() == validation
    assert not set(others()) & set(validation)


# ---- models ----


def gpt(size):
    torch.manual_seed(0)
    return GPT(size, d_model=32, heads=1, layers=1, context=32)


class Net(nn.Module):
    """Vectors for ids, something in between, and logits: as it is drawn."""

    def __init__(self, between):
        super().__init__()
        torch.manual_seed(0)
        self.table, self.between = nn.Embedding(512, 32), between()
        self.logits = nn.Linear(32, 512)

    def forward(self, ids):
        found = self.between(self.table(ids))
        return self.logits(found[0] if isinstance(found, tuple) else found)


class Said(nn.Module):
    """Something else than the model that passes."""

    context = 128

    def __init__(self, change):
        super().__init__()
        self.change, self.normed = change, nn.BatchNorm1d(1)

    def forward(self, ids):
        return self.change(knowing()(ids), self.training)


class One(Said):
    context = 1


def handed(model, tell=lambda bits: bits):
    """With the number that the check measures."""
    return lambda: (model, pieces(), tell(measured(model, pieces(), getattr(model, "context", 128)).bits))


def encoder():
    return nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 2, 32, batch_first=True), 1)


def turned(channels_first):
    """A convolution wants its axes the other way round."""

    class Turned(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = channels_first

        def forward(self, inputs):
            return self.inner(inputs.mT).mT

    return Turned


def dropped(logits, training):
    return F.dropout(logits, 0.1)


class Both:
    """Pieces of another kind: characters, and all others as their bytes."""

    def __init__(self):
        self.letters = sorted(set("".join(held_out())))
        self.end = len(self.letters) + 256

    def __len__(self):
        return self.end + 1

    def encode(self, text):
        known = {letter: number for number, letter in enumerate(self.letters)}
        bytewise = [[known[s]] if s in known else [len(known) + b for b in s.encode()] for s in text]
        return [number for each in bytewise for number in each]

    def decode(self, ids):
        spelled = [letter.encode() for letter in self.letters] + [bytes([byte]) for byte in range(256)]
        return b"".join(spelled[number] for number in ids).decode()


RIGHT = {
    check_beat_the_book: {
        "a list, and a tensor": lambda: [*handed(knowing())()[:2], torch.tensor(handed(knowing())()[2])],
        "a number that is a little off": lambda: handed(knowing(), lambda bits: bits + 0.015)(),
        "logarithms of chances": handed(Said(lambda logits, training: logits.log_softmax(-1))),
        "drawn while it is asked": lambda: (torch.rand(3), *handed(knowing())())[1:],
    }
}
NAMED = {
    check_beat_the_book: {
        "sees later ids": handed(Net(encoder)),
        "rows of a batch mixed": handed(Net(lambda: nn.LSTM(32, 32))),
        "another answer each time": handed(Said(dropped)),
        "nothing learned": handed(Net(lambda: nn.LSTM(32, 32, batch_first=True))),
        "no number": handed(Said(lambda logits, training: logits - math.inf)),
        "chances": handed(Said(lambda logits, training: logits.softmax(-1))),
        "another vocabulary": lambda: (gpt(512), Pieces(pieces().merges[:9]), 1.0),
        "in training mode": lambda: (
            Said(lambda logits, training: logits * (0.5 if training else 1)),
            pieces(),
            measured(Said(lambda logits, training: logits * 0.5), pieces(), 128).bits,
        ),
        "of all held-out texts": lambda: (
            knowing(),
            pieces(),
            measured(knowing(), pieces(), 128, all_held_out).bits,
        ),
        "measured otherwise": lambda: handed(knowing(), lambda bits: bits - 0.05)(),
        "nats a byte": lambda: handed(knowing(), lambda bits: bits * math.log(2))(),
    }
}
UNKNOWN = {
    check_beat_the_book: {
        "two things": lambda: (gpt(257), 1.0),
        "a class": lambda: (GPT, pieces(), 1.0),
        "no pieces": lambda: (gpt(257), [], 1.0),
        "the last place alone": lambda: (Said(lambda logits, training: logits[:, -1]), pieces(), 1.0),
        "a context that is longer than the model's": lambda: (
            Said(lambda logits, training: gpt(512)(torch.zeros(2, 64, dtype=torch.long))),
            pieces(),
            1.0,
        ),
        "a context of one": lambda: (One(lambda logits, training: logits), pieces(), 1.0),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


@pytest.mark.parametrize(
    "between",
    [
        lambda: nn.LSTM(32, 16, batch_first=True, bidirectional=True),
        turned(nn.Conv1d(32, 32, 3, padding=1)),
    ],
)
def test_whoever_looks_ahead_is_told(between):
    assert check_beat_the_book.judge(handed(Net(between))).mistake == "sees later ids"


def test_a_network_as_it_is_drawn_has_learned_nothing():
    """And a GPT, whose one table at both ends favours the piece that it stands on."""
    model, cut = gpt(2048), models.pieces()
    bits = measured(model, cut, model.context).bits
    assert check_beat_the_book.judge(lambda: (model, cut, bits)).mistake == "nothing learned"


@pytest.mark.parametrize("name", ["gpt", "lstm"])
def test_a_network_that_has_read_ten_times_as_much_is_told(name):
    """It is below the bar, and hardly knows any of this by heart."""
    model, cut = models.MODELS[name](), models.pieces()
    weights.load(f"a_gpt_of_your_own/{name}", model, weights.STORED)
    bits = measured(model, cut, 128).bits
    report = check_beat_the_book.judge(lambda: (model, cut, bits))
    assert report.mistake == "knows what it is judged by"


def test_two_things_that_are_wrong_are_told_one_after_the_other():
    report = check_beat_the_book.judge(lambda: (gpt(512), pieces(), 1.0))
    assert [line.split()[0] for line in report.lines[:4]] == ["✓", "✓", "✗", "✗"]
    assert SAID["nothing learned"] in words(report)


def test_a_model_that_has_learned_since_is_measured_anew():
    model = gpt(512)
    bits = measured(model, pieces(), model.context).bits
    work = lambda: (model, pieces(), bits)  # noqa: E731
    assert check_beat_the_book.judge(work).lines[3].split()[0] == "✓"
    with torch.no_grad():
        model.pieces.weight.mul_(3)
    assert check_beat_the_book.judge(work).lines[3].split()[0] == "✗"


def test_other_pieces_will_do():
    torch.manual_seed(0)
    cut = Both()
    report = check_beat_the_book.judge(lambda: (GPT(len(cut), 32, 1, 1, context=64), cut, 3.0))
    assert [line.split()[0] for line in report.lines[:2]] == ["✓", "✓"]


def test_a_small_network_after_seconds_is_not_below_counting(training):
    model, cut = gpt(2048), models.pieces()
    Run(model, training, updates=60, rate=1e-2, rows=8, length=32, warm_up=10).go(60)
    bits = measured(model, cut, model.context).bits
    assert check_beat_the_book.judge(lambda: (model, cut, bits)).mistake == "not below counting"


def test_a_network_that_learns_from_what_it_is_judged_by_is_told():
    """From these texts alone, until it is below the bar."""
    row = row_of(map(pieces().encode, held_out()), pieces().end)
    model = GPT(512, d_model=64, heads=2, layers=1, context=32)
    Run(model, row, updates=1000, rate=1e-2, rows=16, length=32, warm_up=30).go(1000)
    bits = measured(model, pieces(), model.context).bits
    assert bits < BAR
    report = check_beat_the_book.judge(lambda: (model, pieces(), bits))
    assert report.mistake == "knows what it is judged by"


@pytest.mark.parametrize(
    ("work", "said"),
    [
        (lambda: gpt(259), "Hand over three things"),
        (lambda: ("model", Pieces([]), 1.0), "A model is expected first, and str came."),
        (lambda: (GPT, Pieces([]), 1.0), "GPT is a class. Hand over the model that you have trained."),
        (lambda: (gpt(257), [], 1.0), "The pieces need encode, decode, end and a length"),
        (lambda: (gpt(300), Pieces([]), 1.0), SAID["another vocabulary"]),
        (lambda: (gpt(100), Pieces([]), 1.0), "The model can't read ids of shape (2, 16). It raises"),
        (lambda: (Said(lambda logits, _: logits[0]), pieces(), 1.0), "must make logits (2, 16, 512)"),
        (lambda: (gpt(257), Pieces([]), "low"), "Your bits per byte are one number."),
    ],
)
def test_what_is_no_such_thing_is_told(work, said):
    report = check_beat_the_book.judge(work)
    assert not report.passed
    assert said in words(report)
