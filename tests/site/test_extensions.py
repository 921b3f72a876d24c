"""The site's extensions on a small book: what good source becomes, and what bad source is told."""

import json
import logging
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from sphinx.errors import ExtensionError

from _ext import catalogue, charts, formulas, front, ledger, pages, places, predict
from _ext import figures as images
from bookkit import mime_types
from bookkit.pictures import drawings
from bookkit.pictures.colours import COLOURS
from bookkit.pictures.drawings import Part
from chapters.why_divide_by_root_dk.charts import softmax_saturation
from tools.chapters.notebooks import BOOK

SETTINGS = f"""
import sys
sys.path.append({str(BOOK)!r})
extensions = ["myst_nb", "sphinx_book_theme", "_ext.places", "_ext.formulas", "_ext.figures",
  "_ext.drawings", "_ext.charts", "_ext.predict", "_ext.pages"]
html_theme = "sphinx_book_theme"
html_theme_options = {{"repository_url": "https://github.com/ada/attention-measured"}}
html_math_renderer = "temml"
html_static_path = [{str(BOOK / "_static")!r}]
templates_path = [{str(BOOK / "_templates")!r}]
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "off"
project = "A small book"
"""
PREDICTION = """**Predict.** What is the variance of $q \\cdot k$?

<details class="predict" {}><summary>Answer</summary>

Because it is.

</details>
"""


def chart_cell(chart):
    return new_code_cell(
        "draw()",
        execution_count=1,
        outputs=[new_output("display_data", {mime_types.CHART: chart, "text/plain": "A chart."})],
    )


def figure_cell(svg):
    return new_code_cell(
        "draw()",
        execution_count=1,
        outputs=[new_output("display_data", {"image/svg+xml": svg, "text/plain": "A figure."})],
    )


def drawing_cell(**changed):
    parts = (Part(200, 50, "<rect/>"), Part(330, 80, "<rect/>"))
    stored = drawings.for_notebooks(*parts, "Two boxes & an arrow.")
    stored[mime_types.DRAWING] |= changed
    return new_code_cell("draw()", execution_count=1, outputs=[new_output("display_data", stored)])


def build(folder: Path, cells, **pages: str) -> tuple[int, str, Path]:
    """Build a chapter of `cells`, and Markdown pages: the status, the messages, and where the site is."""
    folder.joinpath("conf.py").write_text(SETTINGS, "utf-8")
    folder.joinpath("index.md").write_text("# A book\n\n```{toctree}\n:glob:\n*\n```\n", "utf-8")
    for name, text in pages.items():
        folder.joinpath(f"{name}.md").write_text(text, "utf-8")
    cells = [new_markdown_cell("# A chapter"), *cells]
    python = {"language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=python), folder / "chapter.ipynb")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", str(folder), str(folder / "out")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr, folder / "out"


# ---- good source ----


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    cells = [
        new_markdown_cell("The root $\\sqrt{d_k}$, and\n\n$$\na < b\n$$ (less)\n\nby {eq}`less`."),
        new_markdown_cell(PREDICTION.format('data-answer="64" data-within="10%" data-unit="nats"')),
        new_markdown_cell(PREDICTION.format('data-choices="more|less" data-answer="less"')),
        chart_cell(softmax_saturation().to_dict()),
        figure_cell(
            '<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt"><title>A line.</title></svg>'
        ),
        drawing_cell(),
        new_code_cell("solved = True", metadata={"tags": ["hide-cell"]}),
    ]
    status, messages, out = build(tmp_path_factory.mktemp("book"), cells)
    assert status == 0, messages
    return out


@pytest.fixture(scope="module")
def chapter(site: Path) -> BeautifulSoup:
    return BeautifulSoup((site / "chapter.html").read_text("utf-8"), "html.parser")


@pytest.mark.thorough
def test_formulas_are_mathml_with_numbers_and_references(chapter):
    assert chapter.select_one("span.math math msqrt")
    shown = chapter.select_one("div.math")
    assert shown.math["display"] == "block"
    assert shown.select_one(".eqno").get_text().startswith("(1)")
    assert chapter.find("a", class_="reference", href="#equation-less").get_text() == "(1)"
    assert "annotation" not in str(chapter)


@pytest.mark.thorough
def test_the_math_font_is_a_small_part_that_holds_every_letter(site):
    assert site.joinpath("_static/formulas.woff").stat().st_size < 20_000
    font = formulas.TTFont(site / "_static/formulas.woff")
    assert {ord("√"), ord("𝑑"), ord("𝑘"), ord("<")} <= font.getBestCmap().keys()
    variants, root = font["MATH"].table.MathVariants, font.getBestCmap()[ord("√")]
    forms = variants.VertGlyphConstruction[
        variants.VertGlyphCoverage.glyphs.index(root)
    ].MathGlyphVariantRecord
    assert len(forms) > 1
    assert len({font["hmtx"][form.VariantGlyph][0] for form in forms}) == 1


@pytest.mark.thorough
def test_a_prediction_is_a_form_with_its_question(chapter):
    number, choice = chapter.select(".prediction")
    field = number.find("input", type="number")
    assert chapter.find(id=field["aria-describedby"]).get_text().startswith("Predict.")
    assert number.find("label", attrs={"for": field["id"]})
    assert "nats" in number.form.get_text()
    assert number.details["data-answer"] == "64"
    assert [radio["value"] for radio in choice.find_all("input", type="radio")] == ["more", "less"]


@pytest.mark.thorough
def test_a_chart_is_a_picture_with_labelled_controls(chapter):
    chart = chapter.select_one(".chart")
    assert chart.find(role="img")["aria-label"].startswith("Bars for the softmax weights")
    assert len(chart.select(".chart-picture > svg")) == len(charts.WIDTHS)
    slider = chart.find("input", type="range")
    assert chart.find("label", attrs={"for": slider["id"]}).get_text() == "d_k, as a power of 2"
    assert chart.fieldset.legend.get_text() == "scores are divided by"
    assert "bind" not in chart.script.get_text()


@pytest.mark.thorough
def test_a_figure_brings_its_words_and_its_size(chapter):
    image = chapter.main.img
    assert (image["alt"], image["width"], image["height"]) == ("A line.", "96", "48")


@pytest.mark.thorough
def test_a_drawing_is_a_picture_for_each_screen_with_the_same_words(chapter):
    pictures = chapter.select(".drawing > svg[role=img]")
    assert [(each["data-screen"], each["width"]) for each in pictures] == [("wide", "204"), ("narrow", "334")]
    assert {each["aria-label"] for each in pictures} == {"Two boxes & an arrow."}
    assert not chapter.select('img[src^="data:"]'), "the image for notebooks, too"


@pytest.mark.thorough
def test_a_hidden_cell_is_folded(chapter):
    fold = chapter.select_one(".tag_hide-cell details")
    assert "solved" in fold.get_text()
    assert not fold.has_attr("open")


@pytest.mark.thorough
def test_a_page_says_what_it_is_and_where(chapter, site):
    assert (
        chapter.find("link", rel="canonical")["href"]
        == "https://ada.github.io/attention-measured/chapter.html"
    )
    assert chapter.find("meta", property="og:image")["content"].endswith(
        "/attention-measured/_static/social.png"
    )
    assert "https://ada.github.io/attention-measured/chapter.html" in site.joinpath("sitemap.xml").read_text()
    assert 'href="/attention-measured/"' in site.joinpath("404.html").read_text()


@pytest.mark.thorough
def test_a_page_loads_only_the_scripts_it_needs(chapter, site):
    def scripts(page):
        return {Path(script["src"]).name for script in page.find_all("script", src=True)}

    assert scripts(chapter) == {"book.js", "charts.js", "predict.js"}
    assert scripts(BeautifulSoup(site.joinpath("index.html").read_text(), "html.parser")) == {"book.js"}


def test_text_figures_and_charts_have_the_same_colours():
    styles = (BOOK / "_static/book.css").read_text("utf-8")
    named = dict(re.findall(r"--(\w+): light-dark\((.*?)\);", styles))
    for name, (light, dark) in COLOURS.items():
        assert named[name] == f"{light}, {dark}"
    assert set(re.findall(r"var\(--(\w+)\)", str(charts.LOOK))) <= named.keys()


@pytest.mark.thorough
def test_one_stylesheet_and_no_mark_without_a_colour(site, chapter):
    assert [sheet["href"] for sheet in chapter.select("link[rel=stylesheet]")] == ["_static/book.css"]
    styles = site.joinpath("_static/book.css").read_text("utf-8")
    assert styles.index("formulas.woff") < styles.index("--panel")  # Temml's, then the book's own
    code = chapter.select(".highlight pre")[-1]
    assert code.get_text().strip() == "solved = True"
    assert [word["class"] for word in code.select("span[class]")] == [["kc"]]


# ---- bad source ----


@pytest.mark.thorough
def test_each_mistake_fails_the_build_with_file_and_line(tmp_path):
    undescribed = softmax_saturation().to_dict() | {"description": " "}
    unusual = softmax_saturation().to_dict()
    unusual["params"][0]["bind"] = {"input": "color"}
    predictions = [
        "",
        'data-answer="many"',
        'data-answer="5" data-within="x"',
        'data-choices="a|b" data-answer="c"',
    ]
    cells = [
        new_markdown_cell("Fine.\n\nBut $\\sqrt{d_k$ is not."),
        new_markdown_cell("$$\n\\unheard{x}\n$$"),
        chart_cell(undescribed),
        chart_cell(unusual),
        figure_cell('<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt"></svg>'),
        *(new_markdown_cell(PREDICTION.format(attributes)) for attributes in predictions),
        new_markdown_cell(
            '# No question\n\n<details class="predict" data-answer="1"><summary>Answer</summary>\n\n1\n'
        ),
        new_markdown_cell(
            'Why?\n\n<details class="predict" data-answer="1"><summary>Answer</summary>\n\n1\n'
        ),
    ]
    cells += [drawing_cell(description=" "), drawing_cell(narrow='<svg width="400" height="80"/>')]
    favicon = (BOOK / "_static/favicon.svg").read_bytes()
    tmp_path.joinpath("picture.svg").write_bytes(favicon)
    status, messages, _ = build(tmp_path, cells, page="# A page\n\n![](picture.svg)\n\nAnd $\\frac$.\n")
    assert status != 0
    for place, words in [
        ("chapter.ipynb: cell 2, line 3", "a formula can't be rendered: Expected '}'"),
        ("chapter.ipynb: cell 3, line 1", "Unsupported function name: \\unheard"),
        ("chapter.ipynb: cell 4", "a chart can't be shown: it has no description"),
        ("chapter.ipynb: cell 5", "the site has sliders (range) and choices (radio), not 'color'"),
        ("chapter.ipynb: cell 6", "an image has no alt text"),
        ("chapter.ipynb: cell 7, line 3", "a prediction can't be made: it has no data-answer"),
        ("chapter.ipynb: cell 8, line 3", "its data-answer must be a number, and is 'many'"),
        ("chapter.ipynb: cell 9, line 3", "its data-within must be a number, and is 'x'"),
        ("chapter.ipynb: cell 10, line 3", "its answer 'c' is not among its choices ['a', 'b']"),
        ("chapter.ipynb: cell 11, line 3", "the paragraph before the answer must ask the question"),
        ("chapter.ipynb: cell 12, line 3", "its <details> has no </details>"),
        ("chapter.ipynb: cell 13", "a drawing can't be shown: it has no alt text"),
        ("chapter.ipynb: cell 14", "a drawing can't be shown: it is 400 pixels narrow, where 330 fit"),
        ("page.md:3", "an image has no alt text"),
        ("page.md:5", "a formula can't be rendered"),
    ]:
        said = [line for line in messages.splitlines() if place in line and words in line]
        assert said, f"nothing said {words!r} at {place!r} in\n{messages}"


@pytest.fixture(scope="module")
def temml():
    converter = formulas.Temml()
    yield converter
    converter.close()


@pytest.mark.parametrize(
    "tex", ["x^2", "\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}", "\\mathbb{R} – ψ"]
)
def test_temml_converts(temml, tex):
    assert temml.convert(tex, display=True).startswith('<math display="block"')


def test_where_node_has_died_it_is_told_with_its_status_and_the_formula():
    converter = formulas.Temml()
    converter.process.kill()
    with pytest.raises(ExtensionError, match=r"Node, .* ended with status -9 before 'x\^2'"):
        converter.convert("x^2", display=False)
    converter.close()


def test_temml_goes_on_after_an_error(temml):
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


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, "no data-answer"),
        ({"answer": "5", "within": "x"}, "data-within must be a number"),
        ({"answer": "c", "choices": "a|b"}, "'c' is not among its choices"),
    ],
)
def test_a_form_that_no_answer_fits_is_refused(given, words):
    with pytest.raises(ValueError, match=words):
        form(**given)


@pytest.mark.parametrize(
    ("location", "said"),
    [
        ("/book/chapter.ipynb:60002", "/book/chapter.ipynb: cell 6, line 1"),
        ("/book/chapter.ipynb:120013", "/book/chapter.ipynb: cell 12, line 12"),
        ("/book/page.md:60002", "/book/page.md:60002"),
    ],
)
def test_a_message_names_cell_and_line(location, said):
    record = logging.makeLogRecord({"location": location})
    assert places.CellAndLine().filter(record)
    assert record.location == said


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


def test_the_ledger_rounds_as_the_chapter_does_and_keeps_a_minus_with_its_number():
    claims = [
        {"sentence": "all-round", "bound": "at most -1e-09", "measured": -2.34567e-9, "digits": 4},
        {"sentence": "it holds", "bound": "true", "measured": True, "digits": 3},
    ]
    rows = [ledger.row(claim, "claim-1", "page") for claim in claims]
    assert [[cell.astext() for cell in row] for row in rows] == [
        ["all-round", "at most −1e−09", "−2.346e−09"],
        ["it holds", "true", "true"],
    ]


def test_a_chapter_opens_on_binder_in_the_release_that_the_site_is_built_from():
    options = {
        "launch_buttons": {"binderhub_url": "https://mybinder.org"},
        "repository_url": "https://github.com/ada/fork/",
        "path_to_docs": "book",
    }
    config = SimpleNamespace(html_theme_options=options, release_tag="v1.2.0")
    address = "https://mybinder.org/v2/gh/ada/fork/v1.2.0?urlpath=lab/tree/book/where-am-i.ipynb"
    assert front.binder(config, "where-am-i") == address


@pytest.mark.parametrize(
    ("given", "address"),
    [("", "https://ada.github.io/fork/"), ("https://ada.org/book/", "https://ada.org/book/")],
)
def test_a_fork_is_published_at_its_own_address(given, address):
    theme = {"repository_url": "https://github.com/ada/fork/"}
    config = SimpleNamespace(html_theme_options=theme, html_baseurl=given)
    pages.choose_address(None, config)
    assert config.html_baseurl == address


def described(*paragraphs):
    document = new_document("page")
    document += [nodes.paragraph("", text) for text in paragraphs]
    return pages.description(document)


def test_a_page_is_described_by_its_first_long_sentences_cut_at_a_word():
    short = "A sentence that is far too short."
    label = "Words of which there are more than sixty characters, but no full stop at the end"
    assert described(short, label, f"One\n{label}.") == f"One {label}."
    long = "word " * 40 + "end."
    assert described(long) == ("word " * 31).strip() + "…"
    assert described(short) == ""


def test_a_figure_brings_the_words_of_its_svg_and_a_photograph_none(tmp_path):
    picture = tmp_path / "picture.svg"
    picture.write_text('<svg xmlns="http://www.w3.org/2000/svg"><title>A line.</title></svg>')
    assert images.title(picture) == "A line."
    assert images.title(tmp_path / "picture.png") == ""


def test_a_node_without_a_line_takes_that_around_it():
    image, paragraph = nodes.image(), nodes.paragraph()
    paragraph += image
    paragraph.line = 7
    assert images.with_line(image) is paragraph
    image.line = 9
    assert images.with_line(image) is image


def test_what_stands_between_backticks_is_code():
    parts = [(type(node), node.astext()) for node in catalogue.with_code("use `mean`, not `sum`")]
    kinds = [nodes.Text, nodes.literal, nodes.Text, nodes.literal, nodes.Text]
    assert parts == list(zip(kinds, ["use ", "mean", ", not ", "sum", ""], strict=True))
