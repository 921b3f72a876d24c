"""A question and a folded answer become a box in which the reader commits to a prediction first.

In the notebook it is a paragraph and plain HTML, which JupyterLab shows as a question with a folded answer:

    **Predict.** What is the variance of $q \\cdot k$ when $d_k = 64$?

    <details class="predict" data-answer="64" data-within="10%"><summary>Answer</summary>

    64, because …

    </details>

`data-unit="s"` names a unit. `data-choices="more|less" data-answer="less"` asks for a choice, not a number.
"""

import math
from html import escape
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)


class Predictions(SphinxTransform):
    default_priority = 500  # after Markdown has become paragraphs and raw HTML

    def apply(self, **kwargs: Any) -> None:
        for number, answer in enumerate(list(self.document.findall(is_answer)), start=1):
            try:
                self.box(answer, f"predict-{number}")
            except ValueError as reason:
                logger.error("a prediction can't be made: %s", reason, location=answer)

    def box(self, answer: nodes.raw, name: str) -> None:
        """Wrap the question before `answer`, the form, and the answer up to its end into one box."""
        cell, start = answer.parent, answer.parent.index(answer)
        form = prediction_form(attributes(answer), name)
        question = cell[start - 1] if start else None
        if not isinstance(question, nodes.paragraph):
            raise ValueError("the paragraph before the answer must ask the question")
        end = next((place for place in range(start, len(cell)) if "</details>" in cell[place].astext()), None)
        if end is None:
            raise ValueError("its <details> has no </details>")
        question["ids"].append(name)
        box = nodes.container("", question, form, *cell[start : end + 1], classes=["prediction"])
        cell[start - 1 : end + 1] = [box]


def is_answer(node: nodes.Node) -> bool:
    return isinstance(node, nodes.raw) and bool(attributes(node))


def attributes(node: nodes.raw) -> dict[str, str]:
    """The attributes of `<details class="predict" …>`, and nothing for other HTML."""
    details = BeautifulSoup(node.astext(), "html.parser").find("details", class_="predict")
    return {name: str(value) for name, value in details.attrs.items()} if details else {}


def prediction_form(given: dict[str, str], name: str) -> nodes.raw:
    """The form in which the reader predicts; the answer must be one that it can take."""
    answer = given.get("data-answer", "")
    if not answer:
        raise ValueError("it has no data-answer")
    if "data-choices" in given:
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
    form = f'<form autocomplete="off">{field} <button>Commit</button></form>'
    return nodes.raw("", f'{form}\n<p class="verdict" role="status"></p>', format="html")


def must_be_number(attribute: str, value: str) -> None:
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"its {attribute} must be a number, and is {value!r}")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Predictions)
    return {"parallel_read_safe": True}
