"""The site's extensions, each by itself: what they make of a node, a form, a font."""

import json
import re
from contextlib import closing
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell, new_notebook

from _ext import charts, formulas, ledger, pages, predict, topics
from bookkit.pictures.colours import COLOURS
from chapters.why_divide_by_root_dk.charts import softmax_saturation
from tools.chapters.notebooks import BOOK


def test_text_figures_and_charts_have_the_same_colours():
    styles = (BOOK / "_static/book.css").read_text("utf-8")
    named = dict(re.findall(r"--(\w+): light-dark\((.*?)\);", styles))
    for name, (light, dark) in COLOURS.items():
        assert named[name] == f"{light}, {dark}"
    assert set(re.findall(r"var\(--(\w+)\)", str(charts.LOOK))) <= named.keys()


def test_temml_converts_and_goes_on_after_an_error():
    with closing(formulas.Temml()) as temml:
        for tex in ("x^2", "\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}", "\\mathbb{R} – ψ"):
            assert temml.convert(tex, display=True).startswith('<math display="block"')
        with pytest.raises(ValueError, match="Expected '}'"):
            temml.convert("\\sqrt{2", display=False)
        assert "<mn>2</mn>" in temml.convert("\\frac{1}{2}", display=False)


def test_the_font_needs_what_formulas_show_and_browsers_draw():
    assert formulas.characters("<p>d</p><math><mi>h</mi><mo>&lt;</mo></math>") == {"h", "ℎ", "<", "√"}


# ---- their parts ----


@pytest.mark.parametrize("value", ["", "nan", "inf", "8 apples"])
def test_an_answer_must_be_a_finite_number(value):
    with pytest.raises(ValueError, match="must be a number"):
        predict.must_be_number("data-answer", value)


def form(**given):
    attributes = {f"data-{name}": value for name, value in given.items()}
    return BeautifulSoup(predict.prediction_form(attributes, "predict-1").astext(), "html.parser")


def test_a_number_is_asked_for_in_its_unit():
    asked = form(answer="64", within="10%", unit="<s>")
    assert asked.form.input["type"] == "number"
    assert asked.form.label["for"] == asked.form.input["id"] == "predict-1-value"
    assert "<s>" in asked.form.get_text()


def test_each_choice_is_offered():
    asked = form(answer="a < b", choices="a < b|b < a")
    assert [radio["value"] for radio in asked.find_all("input", type="radio")] == ["a < b", "b < a"]
    assert asked.fieldset["aria-describedby"] == "predict-1"


def test_each_part_is_given_one_of_the_choices():
    asked = form(parts="A|B", choices="less|more", answer="more|less")
    assert [each.get_text("|") for each in asked.find_all("select")] == ["…|less|more"] * 2
    with pytest.raises(ValueError, match="are not choices"):
        form(parts="A|B", choices="less|more", answer="more")


def test_a_slider_has_a_label_limits_and_its_value():
    bind = {"input": "range", "name": "d <= <b>", "min": 0, "max": 10, "step": 0.5}
    html = charts.control({"name": "d", "value": 6, "bind": bind}, "chart-3")
    slider = BeautifulSoup(html, "html.parser")
    assert slider.label["for"] == slider.input["id"] == "chart-3-d"
    assert slider.label.get_text() == "d <= <b>"
    assert [slider.input[limit] for limit in ("min", "max", "step", "value")] == ["0", "10", "0.5", "6"]
    assert slider.span.get_text() == "6"


def test_of_the_options_the_chosen_one_is_checked():
    bind = {"input": "radio", "options": ["a", "<b>"]}
    html = charts.control({"name": "which", "value": "<b>", "bind": bind}, "chart-3")
    radios = BeautifulSoup(html, "html.parser").find_all("input", type="radio")
    assert [(radio["value"], radio.has_attr("checked")) for radio in radios] == [("a", False), ("<b>", True)]


def test_a_chart_carries_its_data_without_controls_of_vegas_own():
    chart = softmax_saturation().to_dict() | {"description": "Bars & </script>."}
    html = BeautifulSoup(charts.figure(chart, "chart-3"), "html.parser")
    assert html.find(role="img")["aria-label"] == "Bars & </script>."
    data = json.loads(html.script.get_text())
    assert data["description"] == "Bars & </script>."
    assert not [signal for signal in data["signals"] if "bind" in signal]
    narrow, wide = html.find_all("svg", attrs={"data-screen": True})
    assert (narrow["data-screen"], narrow["data-width"]) == ("narrow", "270")
    assert (wide["data-screen"], wide["data-width"]) == ("wide", "560")
    # Beside the drawing each has the same room for its axis.
    assert float(wide["width"]) - float(narrow["width"]) == pytest.approx(560 - 270, abs=1)


@pytest.mark.parametrize(
    ("given", "address"),
    [("", "https://ada.github.io/fork/"), ("https://ada.org/book/", "https://ada.org/book/")],
)
def test_a_fork_is_published_at_its_own_address(given, address):
    theme = {"repository_url": "https://github.com/ada/fork/"}
    config = SimpleNamespace(html_theme_options=theme, html_baseurl=given)
    pages.choose_address(None, config)
    assert config.html_baseurl == address


def test_what_is_claimed_twice_has_two_addresses_and_no_chapter_those_of_another():
    twice = ledger.addresses("chapter", ["it holds", "it holds"])
    assert len({*twice, *ledger.addresses("another", ["it holds"])}) == 3
    assert ledger.addresses("chapter", ["something new", "it holds"])[1] == twice[0]


def test_a_label_belongs_to_the_heading_above_it(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Title\n\n<!-- A1 -->\n\n## Second\n\nText.\n\n<!-- A2 -->\n", "utf-8")
    assert list(topics.places(page)) == [("A1", "Title"), ("A2", "Second")]


def test_a_label_of_a_cell_belongs_to_the_heading_that_the_cell_begins_with(tmp_path):
    texts = ["# Title\n\nText.\n\n## Second", "More.", "## Third\n\nText."]
    cells = [new_markdown_cell(text, metadata={"tags": [f"A{i}"]}) for i, text in enumerate(texts)]
    nbformat.write(new_notebook(cells=cells), tmp_path / "chapter.ipynb")
    places = list(topics.places(tmp_path / "chapter.ipynb"))
    assert places == [("A0", "Title"), ("A1", "Second"), ("A2", "Third")]
