"""Marks are SVG in colours by name, and letters take the room that is reckoned with."""

from xml.etree import ElementTree

import pytest

from bookkit.pictures import svg


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("query", "query"),
        ("a < b", "a &lt; b"),
        ("k_1", 'k<tspan dy="3.8" font-size="10.8">1</tspan>'),
        ("W_{QK}", 'W<tspan dy="3.8" font-size="10.8">QK</tspan>'),
        (
            "x_1^T y",
            'x<tspan dy="3.8" font-size="10.8">1</tspan><tspan dy="-9" font-size="10.8">T</tspan>'
            '<tspan dy="5.2"> y</tspan>',
        ),
        ("a_1b_2", 'a<tspan dy="3.8" font-size="10.8">1</tspan><tspan dy="-3.8">b</tspan>'
                   '<tspan dy="3.8" font-size="10.8">2</tspan>'),
    ],
)  # fmt: skip
def test_indices_are_lowered_and_what_follows_stands_on_the_line_again(words, expected):
    (text,) = ElementTree.fromstring(f"<g>{svg.label(0, 0, words)}</g>")
    inside = ElementTree.tostring(text, encoding="unicode").partition(">")[2].removesuffix("</text>")
    assert inside == expected


def test_a_label_has_what_it_was_given():
    mark = svg.label(10, 20.04, "K", colour="key", anchor="end", bold=True)
    assert mark == (
        '<text x="10" y="20" font-size="15" fill="var(--orange)" text-anchor="end" font-weight="600">K</text>'
    )
    assert ">d_model</text>" in svg.label(0, 0, "d_model", code=True)


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


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        (svg.line(0, 0, 50, 20, dashed=True), ["M0 0L50 20", "var(--grey)", "stroke-dasharray"]),
        (svg.circle(50, 40, 4, fill="ink"), ['cx="50" cy="40" r="4"', 'fill="var(--ink)"']),
        (svg.circle(50, 40, 4), ['fill="none"']),
        (svg.curve([(0, 0), (10.04, 5), (20, 0)]), ["M0 0L10 5L20 0"]),
        (svg.polygon([(0, 0), (10, 0), (5, 8)], "key", opacity=0.5), ["M0 0L10 0L5 8Z", '"0.5"']),
        (svg.rectangle(svg.Place(1, 2, 3, 4), None, fill="key"), ['x="1" y="2" width="3" height="4"']),
        # The line ends where the head begins, which ends at the point.
        (svg.vector(0, 10, 100, 10, width=2), ["M0 10L92 10", "M100 10L92 13.6L92 6.4Z"]),
    ],
)
def test_marks_are_drawn_where_they_are_told(mark, expected):
    ElementTree.fromstring(f"<g>{mark}</g>")
    assert all(each in mark for each in expected)


def test_sides_of_a_place_are_known_by_their_middles():
    place = svg.Place(10, 20, 40, 30)
    assert [place.point(side) for side in ("left", "right", "top", "bottom")] == [
        (10, 35), (50, 35), (30, 20), (30, 50),
    ]  # fmt: skip
