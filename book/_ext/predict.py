"""A question and a folded answer become a box in which the reader commits to a prediction first.

In the notebook it is a paragraph and plain HTML, which JupyterLab shows as a question with a folded answer:

    **Predict.** What is the variance of $q \\cdot k$ when $d_k = 64$?

    <details class="predict" data-answer="64" data-within="10%"><summary>Answer</summary>

    64, because …

    </details>

    The figure, the rows and the text that show it.

`data-unit="s"` names a unit. `data-choices="more|less" data-answer="less"` asks for a choice, not a number.
With `data-parts="A|B" data-answer="less|more"` each part is given a choice. The answer has a list then, with
an item for each choice, “*less*, A: it falls”: what stands behind the colon speaks against a wrong place.

On the site all from the answer to the next heading or box is covered until the reader commits, or asks to see
it: nothing that a section says after its question is seen before. In the page it is a <details>: links lead
into it, and it needs no script to open.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from html import escape
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from bookkit.mime_types import CHART, CLAIM, DRAWING, FIGURE

logger = logging.getLogger(__name__)
Cell = dict[str, Any]

ANSWERED = "</details>"
BOX, HEADING = '<details class="predict"[^>]*>', "#+ "
PARTS = re.compile(rf"^(?:(?P<box>{BOX})|(?P<answered>{ANSWERED})|(?P<heading>{HEADING}))", re.MULTILINE)
PICTURES = {CHART, DRAWING, FIGURE}
LOOKS_BACK = re.compile(r"\b(?:chart|curve|drawing|figure|picture|table)s? above\b")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
# Closed here and not by predict.js, which runs after the first paint; what was guessed here stays open.
# Of a training nothing shows through its cover.
TRAINS = " <span>Guess, then train two models here: they run in the page.</span>"
COVER = '<details class="cover" {} open><summary>Show without a guess</summary><script>cover()</script>'


class Predictions(SphinxTransform):
    default_priority = 500  # after Markdown has become paragraphs and raw HTML

    def apply(self, **kwargs: Any) -> None:
        for number, answer in enumerate(list(self.document.findall(is_answer)), start=1):
            try:
                self.box(answer, f"predict-{number}")
            except ValueError as reason:
                logger.error("a prediction can't be made: %s", reason, location=answer)

    def box(self, answer: nodes.raw, name: str) -> None:
        """The question before `answer` and the form become a box; a cover holds all from the answer on."""
        section, start = answer.parent, answer.parent.index(answer)
        given = attributes(answer)
        question = section[start - 1] if start else None
        if not isinstance(question, nodes.paragraph):
            raise ValueError("the paragraph before the answer must ask the question")
        rest = range(start, len(section))
        answered = next((place for place in rest if ANSWERED in section[place].astext()), None)
        if answered is None:
            raise ValueError("its <details> has no </details>")
        end = next((place for place in rest[1:] if ends_cover(section, place)), len(section))
        question["ids"].append(name)
        covered = section[answered + 1 : end]
        form = prediction_form(given, name, TRAINS if any(map(trains, covered)) else "")
        given["data-guess"] = hashlib.sha256(question.astext().encode()).hexdigest()[:12]
        kept = " ".join(f'{key}="{escape(value)}"' for key, value in given.items() if key.startswith("data-"))
        section[start - 1 : end] = [
            nodes.container("", question, form, classes=["prediction"]),
            html(COVER.format(kept) + '<div class="answer">'),
            *section[start + 1 : answered],
            html("</div>"),
            *covered,
            html("</details>"),
        ]


def html(text: str) -> nodes.raw:
    return nodes.raw("", text, format="html")


def is_answer(node: nodes.Node) -> bool:
    return isinstance(node, nodes.raw) and bool(attributes(node))


def ends_cover(section: nodes.Element, place: int) -> bool:
    """Whether a heading stands there, or the question of the next box."""
    following = section[place + 1] if place + 1 < len(section) else None
    return isinstance(section[place], nodes.section) or (following is not None and is_answer(following))


def trains(node: nodes.Node) -> bool:
    return any('<div class="training"' in raw.astext() for raw in node.findall(nodes.raw))


def attributes(node: nodes.raw) -> dict[str, str]:
    """The attributes of `<details class="predict" …>`, and nothing for other HTML."""
    text = node.astext()
    if "predict" not in text:  # as hardly any of a page's thousands of raw nodes has
        return {}
    details = BeautifulSoup(text, "html.parser").find("details", class_="predict")
    return {name: str(value) for name, value in details.attrs.items()} if details else {}


def prediction_form(given: dict[str, str], name: str, then: str = "") -> nodes.raw:
    """The form in which the reader predicts; the answer must be one that it can take. `then` ends it."""
    answer = given.get("data-answer", "")
    if not answer:
        raise ValueError("it has no data-answer")
    if "data-parts" in given:
        parts, choices, answers = (given[f"data-{of}"].split("|") for of in ("parts", "choices", "answer"))
        if len(answers) != len(parts) or {*answers} - {*choices}:
            raise ValueError(f"its answers {answers} are not choices of {choices} for {parts}")
        options = "".join(f"<option>{escape(choice)}</option>" for choice in choices)
        fields = "".join(
            f'<label>{escape(part)} <select name="prediction" required><option value="">…</option>{options}'
            "</select></label>"
            for part in parts
        )
        field = f'<fieldset aria-describedby="{name}"><legend>Your prediction</legend>{fields}</fieldset>'
    elif "data-choices" in given:
        choices = given["data-choices"].split("|")
        if answer not in choices:
            raise ValueError(f"its answer {answer!r} is not among its choices {choices}")
        options = "".join(
            f'<label><input type="radio" name="prediction" value="{escape(choice)}" required>'
            f" {escape(choice)}</label>"
            for choice in choices
        )
        field = f'<fieldset aria-describedby="{name}"><legend>Your prediction</legend>{options}</fieldset>'
    else:
        must_be_number("data-answer", answer)
        must_be_number("data-within", given.get("data-within", "0").removesuffix("%"))
        field = (
            f'<label for="{name}-value">Your prediction</label> <input type="number" step="any" required'
            f' name="prediction" id="{name}-value" aria-describedby="{name}">'
            f" {escape(given.get('data-unit', ''))}"
        )
    form = f'<form autocomplete="off">{field} <button>Commit</button>{then}</form>'
    return html(f'{form}\n<p class="verdict" role="status"></p>')


def must_be_number(attribute: str, value: str) -> None:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"its {attribute} must be a number, and is {value!r}")


# ---- what a chapter must not do: tell before it asks, or cover nothing ----


def troubles(cells: list[Cell]) -> Iterator[tuple[int, str]]:
    """`troubles(notebook["cells"])` gives what is wrong with a box or its cover, with its cell's number."""
    box = 0  # the cell of the box whose cover has not come to its end
    covered: list[str] = []  # what stands in that cover, the answer first
    told = ""  # what a reader has seen of this section
    hidden = 0  # the box whose cover hides the last picture
    for number, kind, text in pieces(cells):
        if kind in ("box", "heading") and box:
            behind = "".join(covered).strip()
            # The last paragraph before another box is its question.
            if not (behind.rpartition("\n\n")[0] if kind == "box" else behind):
                yield box, "its Predict box covers nothing but the answer"
        match kind:
            case "words" | "code" if box:
                covered.append(text if kind == "words" else "a cell\n\n")
            case "words" | "code":
                told += text
                if kind == "words" and hidden and (found := LOOKS_BACK.search(text)):
                    yield number, f"it speaks of the {found[0]}, which the cover of cell {hidden}'s box hides"
            case "picture":
                hidden = box
            case "box":
                box = number
                covered.clear()
                if given := given_away(told, text):
                    yield number, f"{given} its Predict box asks for stands in open text before it"
            case "answered":
                covered.clear()
            case "heading":
                box, told = 0, ""
    if box and not "".join(covered).strip():
        yield box, "its Predict box covers nothing but the answer"


def pieces(cells: list[Cell]) -> Iterator[tuple[int, str, str]]:
    """A chapter's words, what its code shows, and what divides them, each with the number of its cell."""
    for number, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            yield number, "code", open_outputs(cell) + "\n\n"
            if any(PICTURES & output.get("data", {}).keys() for output in cell["outputs"]):
                yield number, "picture", ""
            continue
        source, place = CODE.sub("", "".join(cell["source"])), 0
        for part in PARTS.finditer(source):
            yield number, "words", source[place : part.start()]
            yield number, str(part.lastgroup), part[0]
            place = part.end()
        yield number, "words", source[place:] + "\n\n"


def open_outputs(cell: Cell) -> str:
    """What a cell prints or claims in the open."""
    if {"bookkeeping", "hide-cell"} & {*cell["metadata"].get("tags", [])}:
        return ""
    printed = [line for output in cell["outputs"] for line in output.get("text", [])]
    claims = [data for output in cell["outputs"] if CLAIM in (data := output.get("data", {}))]
    return "".join([*printed, *(line for data in claims for line in data["text/plain"])])


def given_away(told: str, box: str) -> str:
    """What stands there, but for the paragraph that asks: the number, or of all choices the right one."""
    given = attributes(html(box))
    answer, choices = given.get("data-answer", ""), given.get("data-choices", "").split("|")
    before = told.rstrip().rpartition("\n\n")[0]

    def says(words: str) -> bool:
        return bool(re.search(rf"(?<![\w.,]){re.escape(words)}(?!\w|[.,]\d)", before))

    if not answer or not says(answer):
        return ""
    if choices == [""]:
        return "the number that"
    return "" if any(says(other) for other in choices if other != answer) else "the one choice that"


def read(app: Sphinx, page: str, source: list[str]) -> None:
    if app.env.doc2path(page).endswith(".ipynb"):
        for number, reason in troubles(json.loads(source[0])["cells"]):
            logger.error("%s.ipynb: cell %d: %s", page, number, reason)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read)
    app.add_transform(Predictions)
    return {"parallel_read_safe": True}
