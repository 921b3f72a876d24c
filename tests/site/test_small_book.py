"""A small book, built with the site's extensions: what good source becomes, and what bad is told."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from _ext import charts, formulas
from bookkit import mime_types
from bookkit.pictures import drawings
from bookkit.pictures.drawings import Part
from bookkit.playground import exported, openable, picture
from chapters.why_divide_by_root_dk.charts import softmax_saturation
from tools.chapters.notebooks import BOOK

pytestmark = pytest.mark.thorough

EVERY = ["places", "formulas", "figures", "drawings", "charts", "predict", "pages", "front", "playground"]
SETTINGS = f"""
import sys
sys.path.append({str(BOOK)!r})
extensions = ["myst_nb", "sphinx_external_toc", "sphinx_book_theme"]
extensions += ["_ext." + name for name in NAMES]
html_theme = "sphinx_book_theme"
html_theme_options = {{
    "repository_url": "https://github.com/ada/fork", "repository_branch": "main", "path_to_docs": "book",
    "launch_buttons": {{"binderhub_url": "https://mybinder.org"}},
}}
html_math_renderer = "temml" if "formulas" in NAMES else "mathjax"
html_static_path = [{str(BOOK / "_static")!r}]
templates_path = [{str(BOOK / "_templates")!r}]
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "off"
project = "A small book"
"""
CONTENTS = """
format: jb-book
root: index
parts:
  - caption: Beginnings
    chapters: [{file: second-by-name}, {file: first-by-name}]
  - caption: More
    chapters: [{file: third}, {file: chapter}]
  - caption: Appendices
    chapters: [{file: words}]
"""
CHAPTER = """# About {}

*{} minutes to read · 10 seconds to run · you need: nothing*

An opening {{cite}}`somebody2020`.

When you have read this chapter you will be able to

- say what *{}* is {{cite}}`somebody2020`,
  and more;
- do other things.
"""
INDEX = """# A book

```{chart} chapters.what_is_attention.front_page.soft_look_up
```

```{door} here
Read

As it is.
```

```{door} binder
Run
```

```{door} the-rest
Carry
```

```{chapters}
```

## The rest

See [*where*](#open=translator&head=2&text=the+cat), [there](index.md#open=gpt).

"""
FORMS = zip(openable(), ["", "slim", "", ""], strict=True)
INDEX += "\n\n".join(f"```{{playground}} {model} {form}\n*Elsewhere.*\n```" for model, form in FORMS)
PREDICTION = """**Predict.** What is the variance of $q \\cdot k$?

<details class="predict" {}><summary>Answer</summary>

Because it is.

</details>

It comes out.

<!-- covered until here -->
"""


def shown_cell(**data: Any) -> Any:
    return new_code_cell("draw()", execution_count=1, outputs=[new_output("display_data", data)])


def chart_cell(chart: dict[str, Any]) -> Any:
    return shown_cell(**{mime_types.CHART: chart, "text/plain": "A chart."})


def figure_cell(inside: str) -> Any:
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt">{inside}</svg>'
    return shown_cell(**{"image/svg+xml": svg, "text/plain": "A figure."})


def drawing_cell(**changed: str) -> Any:
    parts = (Part(200, 50, "<rect/>"), Part(330, 80, "<rect/>"))
    stored = drawings.for_notebooks(*parts, "Two boxes & an arrow.")
    stored[mime_types.DRAWING] |= changed
    return shown_cell(**stored)


def write(path: Path, *cells: Any) -> None:
    python = {"language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=[*cells], metadata=python), path)


def build(
    folder: Path,
    *cells: Any,
    index: str = INDEX,
    third: str = CHAPTER,
    builder: str = "html",
    names: list[str] = EVERY,
) -> tuple[int, str, Path]:
    """A book with a chapter of these cells: the status, the messages, and where it is."""
    folder.joinpath("conf.py").write_text(f"NAMES = {names}{SETTINGS}", "utf-8")
    folder.joinpath("_toc.yml").write_text(CONTENTS, "utf-8")
    folder.joinpath("index.md").write_text(index, "utf-8")
    folder.joinpath("words.md").write_text("# Words\n", "utf-8")
    claim = new_output("display_data", {mime_types.CLAIM: {"sentence": "one"}, "text/plain": "one"})
    for name, text, minutes, topic in [
        ("first-by-name", CHAPTER, 5, "B"),
        ("second-by-name", CHAPTER, 25, "A"),
        ("third", third, 9, "C"),
        ("chapter", CHAPTER, 5, "D"),
    ]:
        first = new_markdown_cell(text.format(topic, minutes, topic))
        claims = new_code_cell("claim()", execution_count=2, outputs=[claim, claim])
        more = cells if name == "chapter" else [claims]
        write(folder / f"{name}.ipynb", new_code_cell("print()", execution_count=1), first, *more)
    builder = "html" if names == EVERY else "text"
    out = folder / builder
    command = [sys.executable, "-m", "sphinx", "-q", "--keep-going", "-b", builder, str(folder), str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    return result.returncode, result.stderr, out


# ---- good source ----


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    status, messages, out = build(
        tmp_path_factory.mktemp("book"),
        new_markdown_cell("The root $\\sqrt{d_k}$, and\n\n$$\na < b\n$$ (less)\n\nby {eq}`less`."),
        new_markdown_cell(PREDICTION.format('data-answer="64" data-within="10%" data-unit="nats"')),
        new_markdown_cell(PREDICTION.format('data-choices="more|less" data-answer="less"')),
        chart_cell(softmax_saturation().to_dict()),
        figure_cell("<title>A line.</title>"),
        drawing_cell(),
        new_code_cell("solved = True", metadata={"tags": ["hide-cell"]}),
    )
    assert status == 0, messages
    # A small book has no references.
    assert not [
        line for line in messages.splitlines() if re.search("WARNING|ERROR", line) and "cite" not in line
    ]
    return out


@pytest.fixture(scope="module")
def chapter(site: Path) -> BeautifulSoup:
    return BeautifulSoup((site / "chapter.html").read_text("utf-8"), "html.parser")


@pytest.fixture(scope="module")
def front(site: Path) -> BeautifulSoup:
    return BeautifulSoup((site / "index.html").read_text("utf-8"), "html.parser")


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
    place = variants.VertGlyphCoverage.glyphs.index(root)
    forms = variants.VertGlyphConstruction[place].MathGlyphVariantRecord
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


def test_a_drawing_is_a_picture_for_each_screen_with_the_same_words(chapter):
    pictures = chapter.select(".drawing > svg[role=img]")
    assert [(each["data-screen"], each["width"]) for each in pictures] == [("wide", "204"), ("narrow", "334")]
    assert {each["aria-label"] for each in pictures} == {"Two boxes & an arrow."}
    assert not chapter.select('img[src^="data:"]'), "the image for notebooks, too"
    image = chapter.main.img
    assert (image["alt"], image["width"], image["height"]) == ("A line.", "96", "48")


def test_a_hidden_cell_is_folded(chapter):
    fold = chapter.select_one(".tag_hide-cell details")
    assert "solved" in fold.get_text()
    assert not fold.has_attr("open")


def test_a_page_says_what_it_is_and_where(chapter, site):
    home = "https://ada.github.io/fork/"
    assert chapter.find("link", rel="canonical")["href"] == f"{home}chapter.html"
    assert chapter.find("meta", property="og:image")["content"].endswith("/fork/_static/social.png")
    assert f"{home}chapter.html" in site.joinpath("sitemap.xml").read_text()
    assert 'href="/fork/"' in site.joinpath("404.html").read_text()


def test_a_page_loads_only_the_scripts_it_needs(chapter, site):
    def scripts(page):
        return {Path(script["src"]).name for script in page.find_all("script", src=True)}

    assert scripts(chapter) == {"book.js", "charts.js", "predict.js"}
    assert scripts(BeautifulSoup(site.joinpath("words.html").read_text(), "html.parser")) == {"book.js"}


def test_one_stylesheet_and_no_mark_without_a_colour(site, chapter):
    assert [sheet["href"] for sheet in chapter.select("link[rel=stylesheet]")] == ["_static/book.css"]
    styles = site.joinpath("_static/book.css").read_text("utf-8")
    assert styles.index("formulas.woff") < styles.index("--panel")  # Temml's, then the book's own
    code = chapter.select(".highlight pre")[-1]
    assert code.get_text().strip() == "solved = True"
    assert [word["class"] for word in code.select("span[class]")] == [["kc"]]


# ---- a front page ----


def test_chapters_are_listed_in_the_order_of_the_contents_and_counted_on(front):
    assert [caption.get_text() for caption in front.select("p.rubric")] == ["Beginnings", "More"]
    lists = front.select("ol.chapters")
    assert [links["href"] for links in front.select("ol.chapters a")] == [
        "second-by-name.html",
        "first-by-name.html",
        "third.html",
        "chapter.html",
    ]
    assert [each.get("start", "1") for each in lists] == ["1", "3"]


def test_a_chapter_says_what_its_cells_and_outputs_say(front):
    title, goal, facts = front.select("ol.chapters > li:first-child > p")[:3]
    assert title.get_text() == "About A"
    assert goal.get_text() == "You will be able to say what A is, and more."
    assert goal.em.get_text() == "A"
    assert facts.get_text() == "25 minutes to read · 2 claims checked"


def test_doors_lead_to_the_first_chapter_to_binder_and_to_a_section(front):
    links = {door.a.get_text(): door.a["href"] for door in front.select(".door")}
    assert links == {
        "Read": "second-by-name.html",
        "Run": "https://mybinder.org/v2/gh/ada/fork/main?urlpath=lab/tree/book/second-by-name.ipynb",
        "Carry": "#the-rest",
    }
    assert front.select_one(".door").get_text(" ", strip=True) == "Read As it is."


def test_a_chart_stands_on_a_page_without_cells(front):
    chart = front.select_one(".chart")
    assert chart.find(role="img")["aria-label"].startswith("Above, arrows from one point")
    assert len(chart.find_all("input", type="range")) == 2


def test_playgrounds_have_their_models_beside_the_page_and_links_set_their_states(front, site):
    boxes = front.select(".playground")
    assert [box["data-model"] for box in boxes] == [*openable()]
    assert "Elsewhere." not in str(boxes[0].parent)
    for model in openable():
        stored = (site / f"_static/model-{model}.js").read_text("utf-8")
        assert stored == f'stored["{model}"] = {json.dumps(exported(model), separators=(",", ":"))};\n'
    links = {link.get_text(): link["href"] for link in front.select('a[href^="#open"]')}
    assert links == {"where": "#open=translator&head=2&text=the+cat", "there": "#open=gpt"}


def test_a_page_that_is_only_text_says_what_charts_and_pictures_show(tmp_path):
    status, messages, out = build(tmp_path, names=["charts", "front", "playground"])
    assert status == 0, messages
    text = " ".join((out / "index.txt").read_text("utf-8").split())
    assert "Above, arrows from one point: a query, and the keys" in text
    assert "1. About A" in text
    assert all(picture(model).alt in text for model in openable())
    assert "<" not in text


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
        figure_cell(""),
        *(new_markdown_cell(PREDICTION.format(attributes)) for attributes in predictions),
        new_markdown_cell(
            '# No question\n\n<details class="predict" data-answer="1"><summary>Answer</summary>\n\n1\n'
        ),
        new_markdown_cell(
            'Why?\n\n<details class="predict" data-answer="1"><summary>Answer</summary>\n\n1\n'
        ),
    ]
    cells += [drawing_cell(description=" "), drawing_cell(narrow='<svg width="400" height="80"/>')]
    tmp_path.joinpath("picture.svg").write_bytes((BOOK / "_static/favicon.svg").read_bytes())
    names = ["nowhere.soft_look_up", "chapters.what_is_attention.front_page.nothing", "soft_look_up"]
    bad = ["```{playground} interpreter\n```", *(f"```{{chart}} {name}\n```" for name in names)]
    bad += ["![](picture.svg)", "And $\\frac$ and [no](#nowhere)."]
    _, messages, _ = build(tmp_path, *cells, index="\n\n".join([INDEX, *bad]), third="# A title\n")
    line = INDEX.count("\n") + 3
    for place, words in [
        (f"index.md:{line}", f"a playground can't be made: 'interpreter' is none of {', '.join(openable())}"),
        (f"index.md:{line + 3}", "No module named 'nowhere'"),
        (f"index.md:{line + 6}", "has no attribute 'nothing'"),
        (f"index.md:{line + 9}", "write the name as module.function"),
        (f"index.md:{line + 12}", "an image has no alt text"),
        (f"index.md:{line + 14}", "a formula can't be rendered"),
        ("index.md:", "target not found: 'nowhere'"),
        ("index.md:", "it can't be listed: third.ipynb: its opening must say"),
        ("chapter.ipynb: cell 3, line 3", "a formula can't be rendered: Expected '}'"),
        ("chapter.ipynb: cell 4, line 1", "Unsupported function name: \\unheard"),
        ("chapter.ipynb: cell 5", "a chart can't be shown: it has no description"),
        ("chapter.ipynb: cell 6", "the site has sliders (range) and choices (radio), not 'color'"),
        ("chapter.ipynb: cell 7", "an image has no alt text"),
        ("chapter.ipynb: cell 8, line 3", "a prediction can't be made: it has no data-answer"),
        ("chapter.ipynb: cell 9, line 3", "its data-answer must be a number, and is 'many'"),
        ("chapter.ipynb: cell 10, line 3", "its data-within must be a number, and is 'x'"),
        ("chapter.ipynb: cell 11, line 3", "its answer 'c' is not among its choices ['a', 'b']"),
        ("chapter.ipynb: cell 12, line 3", "the paragraph before the answer must ask the question"),
        ("chapter.ipynb: cell 13, line 3", "its <details> has no </details>"),
        ("chapter.ipynb: cell 14", "a drawing can't be shown: it has no alt text"),
        ("chapter.ipynb: cell 15", "a drawing can't be shown: it is 400 pixels narrow, where 330 fit"),
    ]:
        said = [line for line in messages.splitlines() if place in line and words in line]
        assert said, f"nothing said {words!r} at {place!r} in\n{messages}"
