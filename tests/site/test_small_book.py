"""A small book, built with the site's extensions: what good source becomes, and what bad is told."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from _ext import charts, formulas
from bookkit import mime_types
from bookkit.pictures import drawings
from bookkit.pictures.drawings import Part
from chapters.why_divide_by_root_dk.charts import softmax_saturation
from tools.chapters.notebooks import BOOK

pytestmark = pytest.mark.thorough

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

It comes out.

<!-- covered until here -->
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


def test_formulas_are_mathml_with_numbers_and_references(chapter):
    assert chapter.select_one("span.math math msqrt")
    shown = chapter.select_one("div.math")
    assert shown.math["display"] == "block"
    assert shown.select_one(".eqno").get_text().startswith("(1)")
    assert chapter.find("a", class_="reference", href="#equation-less").get_text() == "(1)"
    assert "annotation" not in str(chapter)


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


def test_a_prediction_is_a_form_with_its_question(chapter):
    number, choice = chapter.select(".prediction")
    field = number.find("input", type="number")
    assert chapter.find(id=field["aria-describedby"]).get_text().startswith("Predict.")
    assert number.find("label", attrs={"for": field["id"]})
    assert "nats" in number.form.get_text()
    assert chapter.select_one(".prediction + details.cover")["data-answer"] == "64"
    assert [radio["value"] for radio in choice.find_all("input", type="radio")] == ["more", "less"]


def test_a_chart_is_a_picture_with_labelled_controls(chapter):
    chart = chapter.select_one(".chart")
    assert chart.find(role="img")["aria-label"].startswith("Bars for the softmax weights")
    assert len(chart.select(".chart-picture > svg")) == len(charts.WIDTHS)
    slider = chart.find("input", type="range")
    assert chart.find("label", attrs={"for": slider["id"]}).get_text() == "d_k, as a power of 2"
    assert chart.fieldset.legend.get_text() == "scores are divided by"
    assert "bind" not in chart.script.get_text()


def test_a_figure_brings_its_words_and_its_size(chapter):
    image = chapter.main.img
    assert (image["alt"], image["width"], image["height"]) == ("A line.", "96", "48")


def test_a_drawing_is_a_picture_for_each_screen_with_the_same_words(chapter):
    pictures = chapter.select(".drawing > svg[role=img]")
    assert [(each["data-screen"], each["width"]) for each in pictures] == [("wide", "204"), ("narrow", "334")]
    assert {each["aria-label"] for each in pictures} == {"Two boxes & an arrow."}
    assert not chapter.select('img[src^="data:"]'), "the image for notebooks, too"


def test_a_hidden_cell_is_folded(chapter):
    fold = chapter.select_one(".tag_hide-cell details")
    assert "solved" in fold.get_text()
    assert not fold.has_attr("open")


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


def test_a_page_loads_only_the_scripts_it_needs(chapter, site):
    def scripts(page):
        return {Path(script["src"]).name for script in page.find_all("script", src=True)}

    assert scripts(chapter) == {"book.js", "charts.js", "predict.js"}
    assert scripts(BeautifulSoup(site.joinpath("index.html").read_text(), "html.parser")) == {"book.js"}


def test_one_stylesheet_and_no_mark_without_a_colour(site, chapter):
    assert [sheet["href"] for sheet in chapter.select("link[rel=stylesheet]")] == ["_static/book.css"]
    styles = site.joinpath("_static/book.css").read_text("utf-8")
    assert styles.index("formulas.woff") < styles.index("--panel")  # Temml's, then the book's own
    code = chapter.select(".highlight pre")[-1]
    assert code.get_text().strip() == "solved = True"
    assert [word["class"] for word in code.select("span[class]")] == [["kc"]]


# ---- bad source ----


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
