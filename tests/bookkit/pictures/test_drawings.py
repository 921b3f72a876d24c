"""Drawings fit both kinds of screen, say in words what they show, and put everything where it was told."""

import re
from xml.etree import ElementTree

import pytest
import torch

from bookkit.mime_types import DRAWING, with_copies, without_copies
from bookkit.pictures import drawings, svg
from bookkit.pictures.colours import COLOURS
from bookkit.pictures.drawings import Arrow, Part, across, box, column, grid, joined, over, row
from bookkit.pictures.svg import Place

SQUARE = Part(40, 20, "<i/>", {"square": Place(0, 0, 40, 20)})
OTHER = Part(20, 10, "<b/>", {"other": Place(0, 0, 20, 10)})


def where(part):
    return {name: (place.left, place.top, place.width, place.height) for name, place in part.places.items()}


@pytest.mark.parametrize(
    ("made", "size", "other"),
    [
        (row(SQUARE, OTHER, gap=10), (70, 20), (50, 5, 20, 10)),
        (row(SQUARE, OTHER, gap=10, align="bottom"), (70, 20), (50, 10, 20, 10)),
        (column(SQUARE, OTHER, gap=6), (40, 36), (10, 26, 20, 10)),
        (column(SQUARE, OTHER, gap=6, align="left"), (40, 36), (0, 26, 20, 10)),
        (across(False, SQUARE, OTHER, gap=10), (70, 20), (50, 5, 20, 10)),
        (across(True, SQUARE, OTHER, gap=6), (40, 36), (10, 26, 20, 10)),
        (over(100, 80, (SQUARE, 0, 0), (OTHER, 30, 60)), (100, 80), (30, 60, 20, 10)),
        (row(drawings.padded(SQUARE, 5), OTHER, gap=0), (70, 30), (50, 10, 20, 10)),
    ],
)
def test_parts_and_their_places_stand_where_they_are_put(made, size, other):
    assert (made.width, made.height) == size
    assert where(made)["other"] == other


def test_a_frame_is_a_place_around_what_it_holds():
    framed = box(SQUARE, name="frame", padding=10, width=100)
    assert where(framed) == {"square": (30, 7, 40, 20), "frame": (0, 0, 100, 34)}


def texts(part):
    picture = ElementTree.fromstring(drawings.svg(part))
    return ["".join(each.itertext()) for each in picture.iter("{http://www.w3.org/2000/svg}text")]


def opacities(part):
    return [float(each) for each in re.findall(r'fill-opacity="([\d.]+)"', part.marks)]


def test_a_grid_writes_its_numbers_its_names_and_its_shape():
    made = grid(torch.tensor([[0.126, -1.0]]), title="Q", rows=["cat"], columns=["a", "b"], shape="1 × 2")
    assert sorted(texts(made)) == sorted(["0.13", "−1.00", "Q", "cat", "a", "b", "1 × 2"])


def test_a_shaded_grid_is_the_stronger_the_larger_the_number_and_never_hides_it():
    strengths = opacities(grid([[0.0, 1.0, 2.0, float("-inf")]], shaded=True))
    assert strengths == [drawings.FAINTEST, drawings.STRONGEST / 2, drawings.STRONGEST, drawings.FAINTEST]
    assert len(set(opacities(grid([[0.0, 0.5, 1.0]])))) == 1


def test_a_cell_that_is_absent_stays_empty():
    made = grid([["the", "<pad>"]], absent="<pad>")
    assert texts(made) == ["the"]
    assert made.marks.count("stroke-dasharray") == 1


def test_cells_are_places_and_words_around_them_move_them():
    made = grid([[1.0, 2.0]], name="Q", cell=(40, 30), digits=0)
    assert where(made)["Q.0.1"] == (40, 0, 40, 30)
    titled = grid([[1.0, 2.0]], name="Q", cell=(40, 30), digits=0, title="a long title over two cells")
    assert titled.places["Q.0.1"].left > 40
    assert titled.places["Q.0.1"].top > 0
    assert titled.places["Q"].width == titled.width


def path_of(part):
    return re.search(r'd="M([\d.]+) ([\d.]+)[CL](?:.* )?([\d.]+) ([\d.]+)" fill="none"', part.marks).groups()


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ((100, 0), ("40", "10", "92", "5")),  # from the right side to eight pixels before the left
        ((60, 80), ("20", "20", "70", "72")),  # the wider gap is below
        ((100, 30), ("40", "10", "92", "35")),
    ],
)
def test_an_arrow_leaves_and_arrives_on_the_sides_that_face_each_other(at, expected):
    made = joined(over(200, 200, (SQUARE, 0, 0), (OTHER, *at)), Arrow("square", "other"))
    assert path_of(made) == expected


def test_an_arrow_takes_the_sides_it_is_told_and_a_band_has_no_head():
    both = over(200, 200, (SQUARE, 0, 0), (OTHER, 100, 60))
    made = joined(both, Arrow("square", "other", weight=0.5, sides=("bottom", "left")))
    assert path_of(made) == ("20", "20", "100", "65")
    assert 'stroke-width="5.5"' in made.marks
    assert "Z" not in made.marks


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


def test_width_grows_with_letters_and_size_and_an_index_has_no_underscore():
    assert svg.width_of("mm", 15) == pytest.approx(2 * svg.width_of("m", 15), rel=0.05)
    assert svg.width_of("query", 30) == pytest.approx(2 * svg.width_of("query", 15))
    assert svg.width_of("k_{12}", 15) == svg.width_of("k12", 15)
    assert svg.width_of("d_k", 10, code=True) == pytest.approx(18.3)


def test_lines_break_between_words_where_a_width_is_given():
    assert svg.broken("one two three", 15, 80, False) == ["one two", "three"]
    assert svg.broken("one two three", 15, None, False) == ["one two three"]
    assert svg.broken("unbelievable", 15, 10, False) == ["unbelievable"]


def test_a_colour_is_named_or_told_by_what_it_stands_for():
    assert (svg.paint("query"), svg.paint("green")) == ("var(--blue)", "var(--green)")
    with pytest.raises(ValueError, match="no colour 'red': take one of query, key"):
        svg.paint("red")
