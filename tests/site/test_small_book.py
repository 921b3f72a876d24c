"""A small book with every mistake that the site's extensions know: each is told with its place."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit import mime_types
from bookkit.pictures import drawings
from bookkit.pictures.drawings import Part
from bookkit.playground import openable
from chapters.why_divide_by_root_dk.charts import softmax_saturation
from tools.chapters.notebooks import BOOK

SETTINGS = f"""
import sys
sys.path.append({str(BOOK)!r})
names = ["places", "formulas", "figures", "drawings", "charts", "predict", "pages", "front", "playground"]
extensions = ["myst_nb", "sphinx_external_toc", "sphinx_book_theme", *("_ext." + name for name in names)]
html_theme = "sphinx_book_theme"
html_theme_options = {{
    "repository_url": "https://github.com/ada/fork", "repository_branch": "main", "path_to_docs": "book",
    "launch_buttons": {{"binderhub_url": "https://mybinder.org"}},
}}
html_math_renderer = "temml"
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
    chapters: [{file: untold}, {file: chapter}]
"""
INDEX = """# A book

```{playground} interpreter
```

```{chart} nowhere.soft_look_up
```

```{chart} chapters.what_is_attention.front_page.nothing
```

```{chart} soft_look_up
```

![](picture.svg)

And $\\frac$ and [no](#nowhere).

```{chapters}
```

[Set](#open=gpt&text=a).

```{tour} gpt
A tour

1. [One](#open=gpt&text=a)
```
"""
CHAPTER = """# A chapter

*5 minutes to read · 10 seconds to run · you need: nothing*

When you have read this chapter you will be able to

- do things.
"""
PREDICTION = """**Predict.** What is the variance of $q \\cdot k$?

<details class="predict" {}><summary>Answer</summary>

Because it is.

</details>

It comes out.
"""
UNTITLED = '<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt"/>'
UNASKED = '# No question\n\n<details class="predict" data-answer="1"><summary>Answer</summary>\n\n1\n'
UNENDED = UNASKED.replace("# No question", "Why?")


def shown_cell(**data: Any) -> Any:
    return new_code_cell("draw()", execution_count=1, outputs=[new_output("display_data", data)])


def chart_cell(**changed: Any) -> Any:
    chart = softmax_saturation().to_dict() | changed
    return shown_cell(**{mime_types.CHART: chart, "text/plain": "A chart."})


def drawing_cell(**changed: str) -> Any:
    parts = (Part(200, 50, "<rect/>"), Part(330, 80, "<rect/>"))
    stored = drawings.for_notebooks(*parts, "Two boxes & an arrow.")
    stored[mime_types.DRAWING] |= changed
    return shown_cell(**stored)


def write(path: Path, *cells: Any) -> None:
    python = {"language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=[*cells], metadata=python), path)


def built(folder: Path, *cells: Any) -> str:
    """What is said of a book with a chapter of these cells."""
    folder.joinpath("conf.py").write_text(SETTINGS, "utf-8")
    folder.joinpath("_toc.yml").write_text(CONTENTS, "utf-8")
    folder.joinpath("index.md").write_text(INDEX, "utf-8")
    folder.joinpath("picture.svg").write_bytes((BOOK / "_static/favicon.svg").read_bytes())
    write(folder / "untold.ipynb", new_markdown_cell("# A title\n"))
    write(folder / "chapter.ipynb", new_markdown_cell(CHAPTER), *cells)
    command = [sys.executable, "-m", "sphinx", "-q", "--keep-going", "-b", "html", folder, folder / "html"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


@pytest.mark.thorough
def test_each_mistake_fails_the_build_with_file_and_line(tmp_path):
    (control, *others) = softmax_saturation().to_dict()["params"]
    unusual = [control | {"bind": {"input": "color"}}, *others]
    messages = built(
        tmp_path,
        new_markdown_cell("Fine.\n\nBut $\\sqrt{d_k$ is not."),
        new_markdown_cell("$$\n\\unheard{x}\n$$"),
        chart_cell(description=" "),
        chart_cell(params=unusual),
        shown_cell(**{"image/svg+xml": UNTITLED, "text/plain": "A figure."}),
        new_markdown_cell(PREDICTION.format("")),
        new_markdown_cell(PREDICTION.format('data-answer="many"')),
        new_markdown_cell(PREDICTION.format('data-answer="5" data-within="x"')),
        new_markdown_cell(PREDICTION.format('data-choices="a|b" data-answer="c"')),
        new_markdown_cell(UNASKED),
        new_markdown_cell(UNENDED),
        drawing_cell(description=" "),
        drawing_cell(narrow='<svg width="400" height="80"/>'),
    )
    for place, words in [
        ("index.md:3", f"a playground can't be made: 'interpreter' is none of {', '.join(openable())}"),
        ("index.md:6", "No module named 'nowhere'"),
        ("index.md:9", "has no attribute 'nothing'"),
        ("index.md:12", "write the name as module.function"),
        ("index.md:15", "an image has no alt text"),
        ("index.md:17", "a formula can't be rendered"),
        ("index.md:", "target not found: 'nowhere'"),
        ("index.md:19", "it can't be listed: untold.ipynb: its opening must say"),
        ("index.md:22", "#open=gpt&text=a: this page has no playground 'gpt'"),
        ("index.md:24", "a tour has 8 to 12 steps, and this one 1"),
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
    ]:
        said = [line for line in messages.splitlines() if place in line and words in line]
        assert said, f"nothing said {words!r} at {place!r} in\n{messages}"
