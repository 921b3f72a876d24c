"""Drawings fit both kinds of screen, say in words what they show, and put everything where it was told."""

import re
from xml.etree import ElementTree

import pytest

from bookkit.mime_types import DRAWING, with_copies, without_copies
from bookkit.pictures import drawings, svg
from bookkit.pictures.colours import COLOURS
from bookkit.pictures.drawings import Arrow, Part, box, grid, joined, row
from bookkit.pictures.svg import Place

SQUARE = Part(40, 20, "<i/>", {"square": Place(0, 0, 40, 20)})
OTHER = Part(20, 10, "<b/>", {"other": Place(0, 0, 20, 10)})


# Where each part, letter and arrow of the chapters' drawings stands, nbval compares.


def test_room_is_as_high_above_as_it_is_wide_beside():
    padded = drawings.padded(SQUARE, 5)
    assert (padded.height, padded.places["square"]) == (30, Place(5, 5, 40, 20))


def texts(part):
    picture = ElementTree.fromstring(drawings.svg(part))
    return ["".join(each.itertext()) for each in picture.iter("{http://www.w3.org/2000/svg}text")]


def opacities(part):
    return [float(each) for each in re.findall(r'fill-opacity="([\d.]+)"', part.marks)]


def test_a_shaded_grid_is_the_stronger_the_larger_the_number_and_never_hides_it():
    strengths = opacities(grid([[0.0, 1.0, 2.0, float("-inf")]], shaded=True))
    assert strengths == [drawings.FAINTEST, drawings.STRONGEST / 2, drawings.STRONGEST, drawings.FAINTEST]
    assert texts(grid([[0.126, -1.0]])) == ["0.13", "−1.00"]


def test_what_is_stored_has_both_pictures_an_image_and_the_words():
    stored = drawings.for_notebooks(SQUARE, OTHER, 'A "square".')
    assert stored["text/plain"] == stored[DRAWING]["description"] == 'A "square".'
    assert 'width="44"' in stored[DRAWING]["wide"]
    assert 'width="24"' in stored[DRAWING]["narrow"]
    assert 'alt="A &quot;square&quot;."' in stored["text/html"]
    assert DRAWING not in (kept := without_copies(stored))
    assert with_copies(kept) == stored


def test_a_picture_by_itself_knows_its_colours_in_both_modes():
    alone = drawings.by_itself(drawings.svg(box("Q", colour="query", learned=True)))
    ElementTree.fromstring(alone)
    for light, dark in COLOURS.values():
        assert light in alone
        assert dark in alone


@pytest.mark.parametrize(
    ("message", "made"),
    [
        ("two places are called 'square'", lambda: row(SQUARE, SQUARE)),
        ("rows and columns", lambda: grid([1.0, 2.0])),
        ("rows and columns", lambda: grid([])),
        (r"46 wide has no room for 'unbelievable'", lambda: grid([["unbelievable"]])),
        ("no place is called 'keys'; there are square", lambda: joined(SQUARE, Arrow("square", "keys"))),
        ("alt must describe", lambda: drawings.for_notebooks(SQUARE, SQUARE, "  ")),
        ("741 wide on a wide screen", lambda: drawings.for_notebooks(Part(741, 9, ""), SQUARE, "wide")),
        ("331 wide on a phone", lambda: drawings.for_notebooks(SQUARE, Part(331, 9, ""), "wide")),
    ],
)
def test_a_drawing_that_nobody_could_read_is_refused(message, made):
    grid([["barked"]], cell=(60, 30))
    with pytest.raises(ValueError, match=message):
        made()


def test_a_drawing_is_shown_in_a_notebook_alone(monkeypatch):
    shown = []
    monkeypatch.setattr(drawings, "display", lambda data, raw: shown.append(data))
    drawings.draw(lambda narrow: OTHER if narrow else SQUARE, alt="A square.")
    assert not shown
    monkeypatch.setattr(drawings, "get_ipython", object)
    drawings.draw(lambda narrow: OTHER if narrow else SQUARE, alt="A square.")
    assert shown == [drawings.for_notebooks(SQUARE, OTHER, "A square.")]


# ---- marks: SVG in colours by name, with letters that take the room reckoned with ----


def test_after_an_index_what_follows_stands_on_the_line_again():
    (text,) = ElementTree.fromstring(f"<g>{svg.label(0, 0, 'a_1b_2^T')}</g>")
    inside = ElementTree.tostring(text, encoding="unicode").partition(">")[2].removesuffix("</text>")
    assert inside == (
        'a<tspan dy="3.8" font-size="10.8">1</tspan><tspan dy="-3.8">b</tspan>'
        '<tspan dy="3.8" font-size="10.8">2</tspan><tspan dy="-9" font-size="10.8">T</tspan>'
    )


def test_a_shape_can_be_seen_through():
    assert 'fill-opacity="0.5"' in svg.polygon([(0, 0), (10, 0), (5, 8)], "key", opacity=0.5)


def test_a_word_that_is_wider_than_its_line_stands_alone():
    assert svg.broken("unbelievable", 15, 10, False) == ["unbelievable"]


def test_a_colour_is_named_or_told_by_what_it_stands_for():
    assert (svg.paint("query"), svg.paint("green")) == ("var(--blue)", "var(--green)")
    with pytest.raises(ValueError, match="no colour 'red': take one of query, key"):
        svg.paint("red")
