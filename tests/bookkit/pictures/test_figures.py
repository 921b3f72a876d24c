"""Figures are the same file at every run, fit light and dark pages, and say in words what they show."""

import re
from xml.etree import ElementTree

import pytest
import torch

from bookkit.mime_types import with_copies
from bookkit.pictures import figures
from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import Axis


@pytest.fixture
def shown(monkeypatch):
    outputs = []
    monkeypatch.setattr(figures, "get_ipython", object)
    monkeypatch.setattr(figures, "display", lambda data, raw: outputs.append(data))
    return outputs


def draw_curves(nudge=0.0, alt="two lines that cross"):
    figures.curves(
        [4, 16, 64],
        {"raw": torch.tensor([0.9, 0.5, 0.25]) + nudge, "scaled": [0.91, 0.95, 1.0]},
        Axis("$d_k$", log=2),
        Axis("share right"),
        spread={"raw": ([0.8, 0.4, 0.1], [1.0, 0.6, 0.5])},
        alt=alt,
    )


def draw_heat_map(alt="a dark diagonal"):
    figures.heat_map(torch.eye(2), ["the", "cat"], ["le", "chat"], axes=("query", "key"), alt=alt)


DRAWINGS = [draw_curves, draw_heat_map]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_figure_is_the_same_text_each_time_in_both_sets_of_colours_and_with_its_description(draw, shown):
    draw()
    draw()
    picture, words = shown[0]["image/svg+xml"], shown[0]["text/plain"]
    assert picture == shown[1]["image/svg+xml"]
    assert with_copies({"text/html": shown[0]["text/html"]})["image/svg+xml"] == picture
    title = ElementTree.fromstring(picture).findtext("{http://www.w3.org/2000/svg}title")
    assert words == title != ""
    assert "prefers-color-scheme:dark" in picture
    assert "<dc:date>" not in picture
    body = picture.split("</style>", 1)[1]
    fixed = {light for light, _ in COLOURS.values()} & set(re.findall(r"#[0-9a-f]{6}", body))
    assert not fixed, "a colour of the light page would stay on dark pages"
    with pytest.raises(ValueError, match="alt must describe the figure"):
        draw(alt=" ")


def test_differences_in_the_last_digits_do_not_change_the_figure(shown):
    draw_curves()
    draw_curves(nudge=1e-6)
    assert shown[0] == shown[1]
    draw_curves(nudge=1e-2)
    assert shown[2] != shown[0]


@pytest.mark.parametrize(
    ("number", "kept"),
    [(0.12345, 0.123), (1234.56789, 1234.568), (-0.00123456, -0.00123), (9.87654e-9, 9.88e-9), (0.0, 0.0)],
)
def test_three_decimals_are_kept_and_three_digits_of_what_is_smaller(number, kept):
    assert figures.rounded(torch.tensor([[number]], dtype=torch.float64)).tolist() == [[kept]]


# What curves, bands, legends and heat maps look like, nbval compares in the chapters.


def luminance(colour):
    """As in WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("page", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("name", "least"), [*((name, 3.0) for name in SERIES), ("ink", 7.0)])
def test_every_colour_stands_out_from_its_page(name, least, page):
    """WCAG 2.2 asks 3:1 of what a graph needs to be read, 7:1 of text at its strictest."""
    darker, lighter = sorted([luminance(COLOURS[name][page]), luminance(COLOURS["paper"][page])])
    assert (lighter + 0.05) / (darker + 0.05) >= least
