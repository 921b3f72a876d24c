"""What the page is told of the GPT: rounded weights, merges, starts to try, and a picture of the first."""

import re

import pytest
import torch

from attnlab.corpora import docstrings
from bookkit import weights
from bookkit.registry import BOOK
from chapters.a_gpt_of_your_own import models, playground
from chapters.a_gpt_of_your_own.playground import MODELS, OPACITIES, SHADES, expected, loaded, named


@pytest.fixture(scope="module")
def stored():
    model = models.gpt()
    weights.load("a_gpt_of_your_own/gpt", model)
    return model


def test_rounding_costs_a_thousandth_of_a_bit_a_byte(stored):
    texts = models.read([], docstrings.read("networkx", held_out=True)[:40], models.pieces())
    # Measured on all of that package's held-out text: 1.6042 before, 1.6047 after.
    assert models.in_bits(loaded(), texts) - models.in_bits(stored, texts) < 0.003


def test_the_rounded_weights_are_near_the_stored_ones(stored):
    for (name, rounded), weight in zip(loaded().named_parameters(), stored.parameters(), strict=True):
        assert (rounded - weight).abs().max() <= weight.abs().max() / 85, name


def test_the_page_is_told_all_merges_and_sizes():
    data = MODELS["gpt"].data()
    assert [tuple(pair) for pair in data["merges"]] == models.pieces().merges
    assert (data["heads"], data["layers"], data["context"]) == (3, 3, models.CONTEXT)
    assert not any(start.endswith(" ") for start in data["offered"])


def test_chances_are_of_each_piece_where_it_stands():
    ids, chances = expected("Return the")
    assert [named(number) for number in ids] == ["Return", "·the"]
    with torch.no_grad():
        logits = loaded()(torch.tensor([[models.pieces().end, ids[0]]]))[0, -1]
    assert torch.allclose(chances[1], logits.softmax(-1), atol=1e-6)
    assert len(chances) == 3


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
