"""“A GPT of your own”: what its models read and need, what the page is told, and what a GPT has to beat."""

import lzma
import re
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from attnlab.corpora import docstrings
from attnlab.runtime import generator
from bookkit import weights
from bookkit.registry import BOOK
from chapters.a_gpt_of_your_own import models, playground
from chapters.a_gpt_of_your_own.copies import longest_copy, repeated
from chapters.a_gpt_of_your_own.playground import MODELS, OPACITIES, SHADES, expected, loaded, named
from chapters.a_gpt_of_your_own.rivals import BITS, KneserNey, Recurrent, packed_bits


@pytest.fixture(scope="module")
def little():
    return models.read(*docstrings.split(models.LITTLE), models.pieces())


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


@pytest.mark.weekly
def test_starts_begin_held_out_texts_and_behind_them_stands_what_those_go_on_with(little):
    pieces = models.pieces()
    # Twenty-four texts are more than the tenth has to spare.
    twice = little._replace(validation=torch.cat([little.validation] * 2))
    starts, behind = models.starts_of(twice, pieces.end), models.behind_starts(twice, pieces.end)
    assert starts.shape == (models.STARTS, models.GIVEN)
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


@pytest.mark.weekly
def test_what_is_followed_is_noted_at_equal_steps(little):
    torch.manual_seed(0)
    model = models.gpt(d_model=8)
    run = models.Run(model, little.training, updates=20, rate=1e-3, rows=2, length=16, warm_up=5)
    noted = models.followed(run, little, notes=4)
    assert noted[:, 0].tolist() == [5, 10, 15, 20]
    assert (noted[:, 1].diff() > 0).all()
    assert noted[-1, 2] == pytest.approx(models.in_bits(model, little), abs=1e-4)


# --- what the page is told ---


@pytest.fixture(scope="module")
def stored():
    model = models.gpt()
    weights.load("a_gpt_of_your_own/gpt", model)
    return model


@pytest.mark.thorough
def test_rounding_costs_a_thousandth_of_a_bit_a_byte(stored):
    texts = models.read([], docstrings.read("networkx", held_out=True)[:40], models.pieces())
    # Measured on all of that package's held-out text: 1.6042 before, 1.6047 after.
    assert models.in_bits(loaded(), texts) - models.in_bits(stored, texts) < 0.003


def test_the_picture_says_what_it_shows_and_fits_a_phone():
    drawn = MODELS["gpt"].picture()
    ids, chances = expected(playground.OFFERED[0])
    best = named(int(chances[-1].argmax()))
    assert drawn.narrow.width <= 330
    assert drawn.title.split("“")[1].split("”")[0] == playground.OFFERED[0]
    assert drawn.words == best.replace("·", " ").strip()
    for number, row in zip(ids, chances, strict=False):
        assert f"{named(number)} {-float(row[number].log2()):.1f}" in drawn.alt
    assert f"{best} {100 * float(chances[-1].max()):.0f} %" in drawn.alt


def test_shades_are_those_of_the_page():
    script = (BOOK / "_static/gpt_bench.js").read_text("utf-8")
    styles = (BOOK / "_static/bench/gpt.css").read_text("utf-8")
    assert f"const SHADES = {list(SHADES)};" in script
    shares = re.findall(
        r"shade-(\d) > button\) \{ background: color-mix\(in srgb, var\(--purple\) (\d+)%", styles
    )
    assert [(int(shade), int(share) / 100) for shade, share in shares] == [*enumerate(OPACITIES)][1:]


# --- rivals ---


quick = settings(deadline=None, derandomize=True, max_examples=50)
ROWS = st.lists(st.integers(0, 4), min_size=5, max_size=80)
ORDERS = st.integers(1, 5)


class Slow:
    """Kneser and Ney's formula as it is printed, with a dictionary for each length of gram."""

    def __init__(self, row: list[int], order: int, vocabulary: int) -> None:
        self.vocabulary = vocabulary
        self.counts = {order: Counter(tuple(row[i : i + order]) for i in range(len(row) - order + 1))}
        for length in range(order - 1, 0, -1):
            # Not how often it came, but behind how many others.
            self.counts[length] = Counter(gram[1:] for gram in self.counts[length + 1])

    def discount(self, length: int, count: int) -> float:
        seen = Counter(self.counts[length].values())
        share, count = seen[1] / max(1, seen[1] + 2 * seen[2]), min(count, 3)
        return max(0, count - (count + 1) * share * seen[count + 1] / max(1, seen[count])) if count else 0

    def chance(self, before: tuple[int, ...], number: int, length: int) -> float:
        if length == 0:
            return 1 / self.vocabulary
        context = before[len(before) - length + 1 :] if length > 1 else ()
        shorter = self.chance(before, number, length - 1)
        behind = {
            gram[-1]: count for gram, count in self.counts[length].items() if gram[:-1] == context
        }  # fmt: skip
        if len(before) < length - 1 or not behind:
            return shorter
        kept = behind.get(number, 0) - self.discount(length, behind.get(number, 0))
        left_over = sum(self.discount(length, count) for count in behind.values())
        return (kept + left_over * shorter) / sum(behind.values())


@quick
@given(ROWS, ROWS, ORDERS)
def test_chances_are_those_of_the_formula(training: list[int], row: list[int], order: int) -> None:
    slow = Slow(training, order, vocabulary=6)
    expected = [slow.chance(tuple(row[:place]), number, order) for place, number in enumerate(row)]
    chances = KneserNey(torch.tensor(training), order).chances(torch.tensor(row), 6)
    np.testing.assert_allclose(chances, expected, rtol=1e-12)


@quick
@given(ROWS, st.lists(st.integers(0, 5), max_size=6), ORDERS)
def test_behind_are_the_chances_of_all_ids(training: list[int], before: list[int], order: int) -> None:
    """Also behind contexts that were never seen, and of an id that was not."""
    model = KneserNey(torch.tensor(training), order)
    one_by_one = [model.chances(torch.tensor([*before, number]), 6)[-1] for number in range(6)]
    assert sum(one_by_one) == pytest.approx(1, rel=1e-12)
    assert min(one_by_one) >= 0
    np.testing.assert_allclose(model.behind(np.array(before, dtype=np.int64), 6), one_by_one, rtol=1e-12)
    largest = KneserNey(torch.tensor([3, 2**BITS - 1] * 9), order=2).behind(np.array([3]), 2**BITS)
    assert largest.argmax() == 2**BITS - 1


@pytest.mark.parametrize(
    ("row", "order", "words"),
    [
        ([1, 2, 3], 0, "order must be at least 1, got 0"),
        ([*range(9)], 6, "order must be at most 5, of a row of 9 ids, got 6"),
        ([1, 2048], 1, "ids must be from 0 to 2047, got 1 to 2048"),
    ],
)
def test_what_cannot_be_counted_is_refused(row: list[int], order: int, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words) + "$"):
        KneserNey(torch.tensor(row), order)


def test_bits_are_of_bytes_and_as_xz_packs_them() -> None:
    before, text = "où est-elle? " * 20, "là où elle était, là-bas"
    alone, both = (
        len(lzma.compress(each.encode(), preset=9 | lzma.PRESET_EXTREME)) for each in (before, before + text)
    )
    assert packed_bits(before, text) == 8 * (both - alone) / len(text.encode())
    with pytest.raises(ValueError, match="text must hold at least one byte, got none"):
        packed_bits(before, "")


def test_the_lstm_sees_nothing_ahead_and_has_one_table() -> None:
    torch.manual_seed(0)
    model = Recurrent(11, width=6).double()
    ids = torch.randint(11, (3, 7), generator=generator(0))
    logits, other = model(ids), ids.clone()
    assert logits.shape == (3, 7, 11)
    other[:, 4:] = 10 - other[:, 4:]
    assert torch.equal(model(other)[:, :4], logits[:, :4])
    assert not torch.allclose(model(other)[:, 4:], logits[:, 4:])
    assert {name.partition(".")[0] for name, _ in model.named_parameters()} == {"pieces", "lstm"}
    state = model.lstm(model.pieces.weight[ids])[0]
    torch.testing.assert_close(logits, state @ model.pieces.weight.T)


def test_its_table_starts_as_large_as_was_best() -> None:
    table = Recurrent(500, width=100).pieces
    assert isinstance(table, nn.Embedding)
    assert table.weight.std().item() == pytest.approx(0.24, rel=0.05)
