"""“Three ways to read a sequence”: what only its exercises say, its chart and its models."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from exercise_cases import telling, told
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch import nn

from attnlab.runtime import generator
from chapters.three_ways_to_read_a_sequence import starts, times
from chapters.three_ways_to_read_a_sequence.charts import WORDS
from chapters.three_ways_to_read_a_sequence.exercises import check_remembering, check_repaired_convolution
from chapters.three_ways_to_read_a_sequence.number_words import (
    LETTERS,
    known_and_held_out,
    spelled,
    written,
)


def round_the_corner(x, weight, dilation):
    return sum(
        x.roll((len(weight) - 1 - place) * dilation, -2) @ matrix for place, matrix in enumerate(weight)
    )


test_a_reader_is_told = telling(
    # A fault of the window is not told as one of the batch.
    told(check_repaired_convolution, round_the_corner, "→", None),
    # Before: its numbers were written out, until no memory was left.
    told(
        check_remembering,
        lambda: torch.ones((), dtype=torch.int64).expand(1_000_000, 1_000_000),
        "of shape (1000000, 1000000): far too many numbers",
        marks=pytest.mark.thorough,
    ),
)


# --- the chart ---


def heard(layers: int, kernel: int, growth: int) -> set[int]:
    """How far back the words are that the last output hears, window by window."""
    places = {0}
    for layer in reversed(range(layers)):
        places = {back + place * growth**layer for back in places for place in range(kernel)}
    return {back for back in places if back < WORDS}


@pytest.mark.thorough
def test_the_words_are_those_that_the_windows_hear(chart: Locator) -> None:
    chart.get_by_label("convolution", exact=True).check()
    layer_slider, kernel_slider, growth_slider = chart.get_by_role("slider").all()
    for layers, growth, kernel in itertools.product((1, 3, 6), (1, 2, 3), (2, 3, 4)):
        layer_slider.fill(str(layers))
        growth_slider.fill(str(growth))
        kernel_slider.fill(str(kernel))
        expected = heard(layers, kernel, growth)
        says(chart, f"hears {len(expected)} of {WORDS} words, up to {max(expected)} back")
        layer, back, filled = (each.tolist() for each in numbers(chart, "layer", "back", "heard"))
        found = {word for at, word, on in zip(layer, back, filled, strict=True) if at == 0 and on}
        assert found == expected


@pytest.mark.thorough
def test_the_other_two_hear_every_word(chart: Locator) -> None:
    chart.get_by_role("slider").all()[0].fill("1")
    for reader, steps in (("recurrence", "47 steps"), ("attention", "1 step")):
        chart.get_by_label(reader, exact=True).check()
        says(chart, f"hears {WORDS} of {WORDS} words")
        says(chart, f"path: {steps}")


# --- number words ---


def test_words_are_spelled_as_in_english():
    # Counts that are known: all letters from one to ninety-nine, and the one number that counts its own.
    assert sum(len(spelled(number).replace("-", "")) for number in range(1, 100)) == 854
    assert [number for number in range(100) if len(spelled(number)) == number] == [4]
    assert [spelled(number) for number in (0, 15, 40, 88)] == ["zero", "fifteen", "forty", "eighty-eight"]


def test_what_comes_after_the_end_is_not_written():
    row = torch.tensor([LETTERS.index(letter) for letter in "ten$ty$"])
    assert written(row) == "ten"
    assert written(row[:2]) == "te"


def test_every_number_is_known_or_held_out_and_each_word_of_the_latter_is_known():
    known, held_out = known_and_held_out()
    assert sorted([*known.tolist(), *held_out.tolist()]) == [*range(100)]
    assert len(held_out) == 16
    assert held_out.min() >= 20
    words = {word for number in known.tolist() for word in spelled(number).split("-")}
    assert words.issuperset(word for number in held_out.tolist() for word in spelled(number).split("-"))


# --- first weights ---


MODELS, SYMBOLS = 5, 8
STARTS = {
    "a GRU that recalls": lambda seed: starts.recall("GRU", seed, MODELS, SYMBOLS),
    "a convolution that recalls": lambda seed: starts.recall("convolution", seed, MODELS, SYMBOLS),
    "an attention that recalls": lambda seed: starts.recall("attention", seed, MODELS, SYMBOLS),
    "labels": lambda seed: starts.labels(seed, MODELS, SYMBOLS),
    "a writer": lambda seed: starts.writer(seed, MODELS, SYMBOLS),
}


def assert_drawn_alike(drawn, theirs):
    """As large at most, and as spread out, which 800 numbers tell to 1.6 in a hundred."""
    largest = theirs.abs().max().item()
    assert drawn.abs().max().item() == pytest.approx(largest, rel=0.01)
    assert drawn.std().item() == pytest.approx(theirs.std().item(), rel=0.04)
    assert drawn.mean().abs().item() < 0.1 * largest


def test_a_gru_begins_as_pytorchs_does():
    torch.manual_seed(0)
    theirs, ours = nn.GRU(24, 48), starts.gru(generator(0), 24, 48)
    for name, weight in {"word": theirs.weight_ih_l0, "state": theirs.weight_hh_l0}.items():
        assert ours[name].mT.shape == weight.shape
        assert_drawn_alike(ours[name], weight)
    for name, bias in {"word bias": theirs.bias_ih_l0, "state bias": theirs.bias_hh_l0}.items():
        assert ours[name].shape == bias.shape
        assert ours[name].abs().max().item() == pytest.approx(bias.abs().max().item(), rel=0.05)


def test_the_other_readers_begin_as_pytorchs_layers_do():
    torch.manual_seed(0)
    convolution, attention = (starts.recall(name, 0, 20, SYMBOLS) for name in ("convolution", "attention"))
    d = convolution["letter"].shape[-1]
    window = nn.Conv1d(d, d, 2)
    for layer in range(4):
        kernel = convolution[f"window {layer}"]
        assert kernel[:, 0, 0].shape == window.weight.permute(2, 1, 0).shape
        assert_drawn_alike(kernel, window.weight)
    d = attention["letter"].shape[-1]
    project, out = nn.Linear(d, 3 * d), nn.Linear(d, d)
    assert_drawn_alike(attention["qkv"], project.weight)
    assert_drawn_alike(attention["out"], out.weight)


@pytest.mark.parametrize("reader", ["GRU", "convolution", "attention"])
def test_letters_may_be_marked_and_there_is_a_question(reader):
    letter = starts.recall(reader, 0, MODELS, SYMBOLS)["letter"]
    assert letter.shape[:2] == (MODELS, 2 * SYMBOLS + 1)
    # An embedding of PyTorch's has this variance.
    assert letter.var().item() == pytest.approx(1, rel=0.1)


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_a_seed_gives_the_same_weights_and_no_two_models_share_any(start):
    weight, again, other = start(0), start(0), start(1)
    for name, tensor in weight.items():
        assert torch.equal(tensor, again[name])
        if name.startswith("bias"):
            continue  # zeros
        assert not tensor.eq(other[name]).any()
        models = tensor.movedim(tensor.shape.index(MODELS), 0)
        assert not any(models[one].eq(models[two]).any() for one in range(MODELS) for two in range(one))


# --- times ---


READERS = ("recurrence", "convolution", "attention", "PyTorch's attention")


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("length", [2, 16, 33])
def test_each_reader_hears_all_that_came_and_nothing_that_comes(name, length):
    reader = times.readers()[name]
    x = torch.randn(1, length, times.WIDTH, generator=torch.Generator().manual_seed(0)).requires_grad_()
    outputs = reader(x)
    assert outputs.shape == x.shape
    middle = length // 2
    (last,) = torch.autograd.grad(outputs[0, -1].sum(), x, retain_graph=True)
    (between,) = torch.autograd.grad(outputs[0, middle].sum(), x)
    heard = last[0].abs().sum(-1)
    # A recurrence hears the first word, too, but next to nothing of it.
    assert heard.gt(0).all()
    assert between[0, middle].abs().sum() > 0
    assert between[0, middle + 1 :].eq(0).all()


def test_medians_are_of_turns_taken_side_by_side(monkeypatch):
    """On a clock of our own. In the second turn of five something slows all readers."""
    took = {"recurrence": 0.003, "convolution": 0.002, "attention": 0.001, "PyTorch's attention": 0.0005}
    now, called = 0.0, []

    def reader(name):
        def read(x):
            nonlocal now
            called.append(name)
            turn = (called.count(name) - 1) // 2  # each takes one at either length
            now += took[name] * x.shape[1] + (turn == 1) + turn * 1e-5
            return x.detach().requires_grad_()

        return read

    monkeypatch.setattr(times, "readers", lambda: {name: reader(name) for name in READERS})
    monkeypatch.setattr(times, "time", SimpleNamespace(process_time=lambda: now))
    found = times.medians([2, 4], turns=5)
    assert called == [*READERS] * 10
    for name, each in found.items():
        # In milliseconds. Besides, the turns took 0, 0.02, 0.03 and 0.04 ms, and 1000: the middle is 0.03.
        assert each == pytest.approx([1000 * took[name] * length + 0.03 for length in (2, 4)])


def test_of_several_crossings_it_is_the_last_at_which_the_one_gets_slower():
    taken = {"one": [1, 4, 1, 4, 1], "other": [2, 2, 2, 2, 2]}
    assert times.crossing([1, 2, 4, 8, 16], taken, "one", "other") == pytest.approx(4 * 2**0.5)
    assert times.crossing([1, 2, 4, 8, 16], taken, "other", "one") == pytest.approx(8 * 2**0.5)


def test_times_that_never_cross_are_told_so():
    taken = {"one": [1, 2, 3], "other": [2, 3, 4]}
    for pair in (("one", "other"), ("other", "one")):
        with pytest.raises(ValueError, match=f"{pair[0]} and {pair[1]} do not cross"):
            times.crossing([1, 2, 4], taken, *pair)
