"""What the models of this chapter read, write and are judged by, and whether the stored ones are as told."""

import pytest
import torch

from attnlab.corpora import docstrings
from bookkit import weights
from chapters.a_gpt_of_your_own import models
from chapters.a_gpt_of_your_own.copies import longest_copy, repeated


@pytest.fixture(scope="module")
def little():
    return models.read(*docstrings.split(models.LITTLE), models.pieces())


@pytest.mark.thorough
def test_the_stored_pieces_cut_every_text():
    pieces = models.pieces()
    assert len(pieces) == models.VOCABULARY
    for text in ("Return the sum.\n\n>>> f(x_1)\n12345", "naïve 🙂\r\n", ""):
        assert pieces.decode(pieces.encode(text)) == text


@pytest.mark.thorough
@pytest.mark.parametrize("name", models.MODELS)
def test_the_stored_models_need_the_bits_that_were_noted(name, little):
    """On a tenth of the text; what was noted is of all of it, and the tenth's share of that is as hard."""
    model = models.MODELS[name]()
    weights.load(f"a_gpt_of_your_own/{name}", model, weights.STORED)
    noted = weights.notes(f"a_gpt_of_your_own/{name}", weights.STORED)["bits"]
    assert models.in_bits(model, little) == pytest.approx(float(noted), abs=0.06)


@pytest.mark.thorough
def test_an_eighth_is_taken_from_eight_places(little):
    some = models.some_of(little)
    assert len(some.validation) == pytest.approx(len(little.validation) / 8, abs=8)
    assert some.bytes == pytest.approx(little.bytes / 8, rel=0.01)
    assert some.training is little.training


def test_gpt_and_lstm_have_as_many_weights():
    gpt, lstm = (sum(p.numel() for p in build().parameters()) for build in models.MODELS.values())
    assert gpt == 544_608
    assert lstm / gpt == pytest.approx(1, abs=0.01)


@pytest.mark.thorough
def test_starts_are_the_first_pieces_of_held_out_texts(little):
    end = models.pieces().end
    row = torch.cat([little.validation] * 2)  # twenty-four texts are more than the tenth has to spare
    starts = models.starts_of(little._replace(validation=row), end)
    assert starts.shape == (models.STARTS, models.GIVEN)
    _, validation = docstrings.split(models.LITTLE)
    begun = {models.pieces().decode(ids) for ids in starts}
    assert all(any(text.startswith(start) for text in validation) for start in begun)


@pytest.mark.thorough
def test_behind_a_start_stands_what_its_text_goes_on_with(little):
    pieces = models.pieces()
    row = torch.cat([little.validation] * 2)
    starts = models.starts_of(little._replace(validation=row), pieces.end)
    behind = models.behind_starts(little._replace(validation=row), pieces.end)
    _, validation = docstrings.split(models.LITTLE)
    for start, more in zip(starts.tolist(), behind, strict=True):
        (text,) = {text for text in validation if text.startswith(pieces.decode(start))}
        assert text.startswith(pieces.decode([*start, *more]))
        assert len(more) == models.WRITTEN or pieces.decode([*start, *more]) == text


def test_what_stands_behind_the_end_is_left_out():
    assert models.before_end(torch.tensor([5, 7, 0, 9]), end=0) == [5, 7]
    assert models.before_end(torch.tensor([5, 7]), end=0) == [5, 7]


@pytest.mark.parametrize(
    ("text", "read", "copy"),
    [
        ("the cats sat", "a cat sat on the catalogue", "the cat"),
        ("xyz", "abc", ""),
        ("abc", "xxabcxx", "abc"),
        ("aab", "ab aa", "aa"),
        ("", "abc", ""),
    ],
)
def test_the_longest_copy(text, read, copy):
    assert longest_copy(text, read) == copy


def test_repeated_runs():
    assert repeated([1, 2, 1, 2, 1, 2], length=2) == pytest.approx(0.6)
    assert repeated([1, 2, 3, 4, 5]) == 0
    assert repeated([1, 2]) == 0


@pytest.mark.thorough
def test_what_is_followed_is_noted_at_equal_steps(little):
    torch.manual_seed(0)
    model = models.gpt(d_model=8)
    run = models.Run(model, little.training, updates=20, rate=1e-3, rows=2, length=16, warm_up=5)
    noted = models.followed(run, little, notes=4)
    assert noted[:, 0].tolist() == [5, 10, 15, 20]
    assert (noted[:, 1].diff() > 0).all()
    assert noted[-1, 2] == pytest.approx(models.in_bits(model, little), abs=1e-4)
