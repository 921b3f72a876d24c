"""What a tag folds, and what a Predict box covers: what stands in its place, what gives it away."""

import json
from types import SimpleNamespace

import pytest

from _ext import folds, predict
from bookkit.mime_types import CLAIM, DRAWING, FIGURE
from tools.chapters import refresh


def cell(source="", *kinds, tags=(), kind="code"):
    """A cell of a notebook's JSON, with an output of each kind."""
    outputs = {"outputs": [{"data": {one: "…"}} for one in kinds]} if kind == "code" else {}
    return {"cell_type": kind, "source": [source], "metadata": {"tags": [*tags]}, **outputs}


@pytest.mark.parametrize(
    ("layer", "kinds", "words"),
    [
        ("headline", [CLAIM], "How this was checked"),
        ("measurement", ["text/plain"], "How this was measured"),
        ("measurement", [FIGURE], folds.DRAWN),
        ("measurement", [], "Set-up"),
        ("bookkeeping", [CLAIM], "✓ 1 check holds"),
        ("bookkeeping", [CLAIM, "text/plain", CLAIM], "✓ 2 checks hold"),
    ],
)
def test_a_tag_folds_a_cell_under_a_line_of_its_own(layer, kinds, words):
    tagged = cell("", *kinds, tags=["A1", layer])
    folds.fold(tagged, folds.layer(tagged))
    hidden = "hide-cell" if layer == "bookkeeping" else "hide-input"
    assert tagged["metadata"]["tags"] == ["A1", layer, hidden]
    assert tagged["metadata"]["mystnb"] == {"code_prompt_show": words}


@pytest.mark.parametrize(
    ("source", "tag"),
    [
        ("drawings.clocks([1, 2])", "remove-input"),
        ("x = 1\ndrawings.clocks([x])", "hide-input"),
        ("figures.lines()", "hide-input"),
        ("drawings", "hide-input"),
    ],
)
def test_code_that_does_no_more_than_call_for_a_drawing_leaves_the_page(source, tag):
    tagged = cell(source, DRAWING, tags=["measurement"])
    folds.fold(tagged, "measurement")
    assert tagged["metadata"]["tags"] == ["measurement", tag]


def test_jupyterlab_and_colab_fold_what_the_site_does():
    assert folds.FOLDS.keys() < refresh.FOLDED


def test_a_cell_of_the_lesson_is_of_no_layer():
    assert folds.layer(cell(tags=["raises-exception"])) is None


def errors(monkeypatch, *cells):
    """What the build says of a chapter with these cells."""
    found = []
    monkeypatch.setattr(folds.logger, "error", lambda text, *parts: found.append(text % parts))
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda page: f"{page}.ipynb"))
    folds.read(app, "chapter", [json.dumps({"cells": cells})])
    return found


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (cell("", CLAIM, tags=["headline", "bookkeeping"]), "it has the tags of two layers, headline and"),
        (cell("", tags=["bookkeeping"]), "it is tagged bookkeeping and claims nothing"),
        (cell("words", kind="markdown", tags=["headline"]), "it is text, and the tag headline is for code"),
    ],
)
def test_a_wrong_tag_is_named_with_its_cell(monkeypatch, wrong, reason):
    (error,) = errors(monkeypatch, cell("1"), wrong)
    assert error.startswith(f"chapter.ipynb: cell 2: {reason}")


DEFINES = "def half(x):\n    return x / 2"


def test_what_the_lesson_uses_may_not_be_defined_in_a_fold_alone(monkeypatch):
    folded, used = cell(DEFINES, tags=["measurement"]), cell("half(3)")
    (error,) = errors(monkeypatch, folded, used)
    assert error == (
        "chapter.ipynb: cell 2: it uses half, which cell 1 defines in a fold: open that, or fold this"
    )
    assert not errors(monkeypatch, cell(DEFINES), used)
    assert not errors(monkeypatch, folded, cell(DEFINES), used)
    assert not errors(monkeypatch, folded, cell("half(3)", tags=["headline"]), cell("x.half(3)"))
    assert not errors(monkeypatch, folded, cell("half(3)", tags=["hide-cell"])), "a solution has its own"
    a_number = cell("a, (b, c) = 1, (2, 3)", tags=["measurement"])
    assert "it uses b" in errors(monkeypatch, a_number, cell("print([a for a in [b]])"))[0]
    assert not errors(monkeypatch, a_number, cell("sum(b for b in [2])\ndef f(b): return b\nb = 3"))


# ---- Predict boxes ----

BOX = """**Predict.** How many?

<details class="predict" data-answer="64"><summary>Answer</summary>

64.

</details>"""
CHOICE = BOX.replace('data-answer="64"', 'data-choices="64|65" data-answer="64"')


def words(source: str) -> dict:
    return cell(source, kind="markdown")


def printing(*outputs: dict, tags: tuple[str, ...] = ()) -> dict:
    return cell("1", tags=tags) | {"outputs": [*outputs]}


PRINTED = {"output_type": "stream", "text": ["it is 64\n"]}
CLAIMED = {"output_type": "display_data", "data": {CLAIM: {}, "text/plain": ["64 ± 1"]}}
DRAWN = {"output_type": "display_data", "data": {FIGURE: {}}}
SHOWN = [words(BOX), printing(PRINTED)]
LOOKS_BACK = words("## Next\n\nIn the figure above it is 64.")


@pytest.mark.parametrize(
    "cells",
    [
        SHOWN,
        [words(f"# One\n\nIt was 64.\n\n## Two\n\n{BOX}\n\nSo.")],
        [words("There are 640, .64, 64.5 and x64."), *SHOWN],
        [words("It is 64, or 65."), words(CHOICE), printing(PRINTED)],
        [printing(CLAIMED, tags=("bookkeeping",)), *SHOWN],
        [words(f"Of 64 rows, one.\n\n{BOX}".replace("\n\n**", " **")), printing(PRINTED)],
        [*SHOWN, words(CHOICE.replace("6", "7")), printing()],
        [*SHOWN, printing(DRAWN), words("In the figure above it is 64.")],
        [*SHOWN, printing(DRAWN), words("## Next"), printing(DRAWN), LOOKS_BACK],
    ],
    ids=[
        *("shown", "elsewhere", "other numbers", "two choices", "folded", "in the question", "two"),
        *("a picture in the cover", "a picture behind it"),
    ],
)
def test_a_guess_that_nothing_gives_away_is_in_order(cells):
    assert not list(predict.troubles(cells))


@pytest.mark.parametrize(
    ("cells", "cell", "reason"),
    [
        ([words(BOX)], 1, "covers nothing but the answer"),
        ([words(BOX), words("## Next\n\nThen.")], 1, "covers nothing but the answer"),
        ([words(BOX), words(CHOICE), printing()], 1, "covers nothing but the answer"),
        ([words("It is 64."), words("So."), *SHOWN], 3, "the number that its Predict box asks for stands in"),
        ([words("It is 64."), words("So."), words(CHOICE), printing()], 3, "the one choice that its Predict"),
        ([printing(PRINTED), *SHOWN], 2, "stands in open text before it"),
        ([printing(CLAIMED), *SHOWN], 2, "stands in open text before it"),
        ([*SHOWN, printing(DRAWN), LOOKS_BACK], 4, "of the figure above, which the cover of cell 1's box"),
    ],
)
def test_what_gives_a_guess_away_is_named_with_its_cell(cells, cell, reason):
    found = list(predict.troubles(cells))
    assert any(number == cell and reason in said for number, said in found), found
