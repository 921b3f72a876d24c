"""Make a new chapter, to be written.

    make chapter NAME=long-and-fast TITLE="Long and fast" PART="Attention from first principles"

makes book/long-and-fast.ipynb, its folder in src/chapters, its file in tests/chapters, its line in _toc.yml.
All of it runs, builds and is empty: the sections that every chapter has, and modules with nothing in them.
"""

import argparse
import re
import sys
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from bookkit import registry
from tools import ROOT
from tools.chapters import notebooks, refresh

OPENING = """# {title}

*25 minutes to read · 10 seconds to run · you need: [{before_title}]({before}.ipynb)*

When you have read this chapter you will be able to

- say in one line what one learns here."""
IMPORTS = "from attnlab.runtime import prepare\n\ndevice = prepare(seed=0, threads=1)"
# The sections of every chapter: an id, and the Markdown it begins with.
SECTIONS = {
    "mistakes": "## Mistakes people make here",
    "exercises": """## Exercises

In a notebook, run the cells above first (*Run All* in the menu will do). Then replace the `...`, run the
cell, and read what the check says. It knows the usual mistakes by name. Solutions are at the end of the
chapter.""",
    "measured": "## What we measured",
    "elsewhere": "## Where you will meet this",
    "read-next": "## Read next",
    "hand-in-text": "## To hand in\n\nHow your exercises stand, by the latest check of each.",
}
SOLUTIONS = "## Solutions\n\nOne for each exercise. Yours may look different and be right: the check decides."
HAND_IN = 'from bookkit.catalogue import summary\n\nsummary("{package}")'
MODULES = {
    "src/chapters/{package}/__init__.py": "",
    "src/chapters/{package}/exercises/__init__.py": (
        '"""The exercises, each in a file of its own."""\n\n'
        "from bookkit.checking.report import Check\n\n"
        "# In the order of the chapter.\nEXERCISES: tuple[Check, ...] = ()\n"
    ),
    "src/chapters/{package}/accepted.py": (
        '"""Right answers to the exercises, in other words than the book\'s: each must be accepted."""\n\n'
        "ACCEPTED = {}\n"
    ),
    "src/chapters/{package}/charts.py": '"""The chart."""\n',
    "src/chapters/{package}/claims.py": (
        '"""The checks of the chapter, a function for each place where its page says how many hold."""\n'
    ),
    "src/chapters/{package}/drawings.py": '"""The drawings, made from the chapter\'s own numbers."""\n',
    "src/chapters/{package}/figures.py": '"""The figures, described by what is drawn."""\n',
    "tests/chapters/test_{package}.py": '"""What only its exercises say, its chart and its models."""\n',
}


def notebook(name: str, title: str, before: registry.Chapter) -> NotebookNode:
    """A chapter's opening, its imports and its sections, not yet executed."""
    package = name.replace("-", "_")
    opening = OPENING.format(title=title, before_title=before.title, before=before.name)
    cells = [
        new_markdown_cell(opening, id="title"),
        new_code_cell(
            notebooks.cell_for_colab(new_notebook()), id="colab", metadata={"tags": ["remove-cell"]}
        ),
        new_code_cell(IMPORTS, id="imports", metadata={"tags": ["measurement"]}),
        *(new_markdown_cell(text, id=label) for label, text in SECTIONS.items()),
        new_code_cell(HAND_IN.format(package=package), id="hand-in"),
        new_markdown_cell(SOLUTIONS, id="solutions"),
    ]
    made: NotebookNode = new_notebook(cells=cells, metadata=notebooks.NOTEBOOK_METADATA)
    return made


def list_in_contents(name: str, part: str, contents: Path) -> None:
    """Put the chapter at the end of its part. It takes one line: the rest stays as it is written."""
    captions = re.split(r"(?m)^(?=  - caption: )", contents.read_text(encoding="utf-8"))
    (place,) = (i for i, text in enumerate(captions) if text.startswith(f"  - caption: {part}\n"))
    captions[place] = f"{captions[place].rstrip()}\n      - file: {name}\n"
    contents.write_text("".join(captions), encoding="utf-8")


def make(name: str, title: str, part: str, root: Path = ROOT) -> list[Path]:
    """The files of the new chapter."""
    book, contents = root / "book", root / "_toc.yml"
    chapters = registry.chapters(book, contents)
    parts = list(dict.fromkeys(chapter.part for chapter in chapters))
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ValueError(f"NAME must be lower-case words joined by hyphens, got {name!r}")
    if not title.strip():
        raise ValueError("TITLE must say what the chapter is called, got an empty text")
    if part not in parts:
        raise ValueError(f"PART must be one of {', '.join(parts)}, got {part!r}")
    path = book / f"{name}.ipynb"
    if path.exists():
        raise ValueError(f"{path.relative_to(root)} is there already")
    made = [path]
    for file, text in MODULES.items():
        module = root / file.format(package=name.replace("-", "_"))
        module.parent.mkdir(parents=True, exist_ok=True)
        module.write_text(text, encoding="utf-8")
        made.append(module)
    before = [chapter for chapter in chapters if chapter.part == part][-1]
    notebooks.write(notebook(name, title, before), path)
    list_in_contents(name, part, contents)
    return made


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("name")
    parser.add_argument("title")
    parser.add_argument("part")
    options = parser.parse_args()
    try:
        made = make(options.name, options.title, options.part)
    except ValueError as reason:
        print(f"chapter: {reason}", file=sys.stderr)
        return 1
    refresh.refresh(made[0], everything=False)
    for path in made:
        print(f"chapter: {path.relative_to(ROOT)}")
    print("chapter: listed in _toc.yml. Write it, then `make refresh` and `make check`.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
