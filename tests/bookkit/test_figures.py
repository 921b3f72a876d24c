"""Figures are the same file at every run, fit light and dark pages, and say in words what they show."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from bookkit import figures
from bookkit.figures import Axis


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


def draw_histograms(alt="two bells"):
    values = np.linspace(-3, 3, 50)
    figures.histograms({"one": values, "two": 2 * values}, Axis("score"), bins=range(-6, 7), alt=alt)


def draw_heat_map(alt="a dark diagonal"):
    figures.heat_map(torch.eye(2), ["the", "cat"], ["le", "chat"], alt=alt)


DRAWINGS = [draw_curves, draw_histograms, draw_heat_map]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_figure_is_the_same_text_each_time(draw, shown):
    draw()
    draw()
    assert shown[0]["image/svg+xml"] == shown[1]["image/svg+xml"]


def test_differences_in_the_last_digits_do_not_change_the_figure(shown):
    draw_curves()
    draw_curves(nudge=1e-6)
    assert shown[0] == shown[1]
    draw_curves(nudge=1e-2)
    assert shown[2] != shown[0]


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_figure_holds_both_sets_of_colours_and_no_date(draw, shown):
    draw()
    picture = shown[0]["image/svg+xml"]
    ElementTree.fromstring(picture)
    assert "prefers-color-scheme:dark" in picture
    assert "<dc:date>" not in picture
    body = picture.split("</style>", 1)[1]
    fixed = {light for light, _ in figures.COLOURS.values()} & set(re.findall(r"#[0-9a-f]{6}", body))
    assert not fixed, "a colour of the light page would stay on dark pages"


@pytest.mark.parametrize("draw", DRAWINGS)
def test_the_description_is_in_the_figure_and_beside_it(draw, shown):
    draw()
    words = shown[0]["text/plain"]
    assert words
    assert (
        ElementTree.fromstring(shown[0]["image/svg+xml"]).findtext("{http://www.w3.org/2000/svg}title")
        == words
    )


@pytest.mark.parametrize("draw", DRAWINGS)
def test_a_figure_without_a_description_is_refused(draw):
    with pytest.raises(ValueError, match="alt must describe the figure"):
        draw(alt=" ")


def luminance(colour):
    """As in WCAG 2.2."""
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("page", [0, 1], ids=["light", "dark"])
@pytest.mark.parametrize(("name", "least"), [*((name, 3.0) for name in figures.SERIES), ("ink", 7.0)])
def test_every_colour_stands_out_from_its_page(name, least, page):
    """WCAG 2.2 asks 3:1 of what a graph needs to be read, 7:1 of text at its strictest."""
    darker, lighter = sorted(
        [luminance(figures.COLOURS[name][page]), luminance(figures.COLOURS["paper"][page])]
    )
    assert (lighter + 0.05) / (darker + 0.05) >= least
