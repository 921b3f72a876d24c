"""What a chapter must not do: give away what it asks for, or ask and cover nothing."""

import pytest
from docutils import nodes
from docutils.utils import new_document

from _ext import predict
from bookkit.mime_types import CLAIM

BOX = """**Predict.** How many?

<details class="predict" data-answer="64"><summary>Answer</summary>

64.

</details>"""
CHOICE = BOX.replace('data-answer="64"', 'data-choices="64|65" data-answer="64"')


def words(source: str) -> dict:
    return {"cell_type": "markdown", "metadata": {}, "source": [source]}


def code(*outputs: dict, tags: tuple[str, ...] = ()) -> dict:
    return {"cell_type": "code", "metadata": {"tags": [*tags]}, "source": ["1"], "outputs": [*outputs]}


PRINTED = {"output_type": "stream", "text": ["it is 64\n"]}
CLAIMED = {"output_type": "display_data", "data": {CLAIM: {}, "text/plain": ["64 ± 1"]}}
SHOWN = [words(BOX), code(PRINTED), words(predict.MARK)]


@pytest.mark.parametrize(
    "cells",
    [
        SHOWN,
        [words(f"# One\n\nIt was 64.\n\n## Two\n\n{BOX}\n\nSo.\n\n{predict.MARK}")],
        [words("There are 640, .64, 64.5 and x64."), *SHOWN],
        [words("It is 64."), words(CHOICE), code(PRINTED), words(predict.MARK)],
        [code(CLAIMED, tags=("bookkeeping",)), *SHOWN],
        [words(f"Of 64 rows, one.\n\n{BOX}".replace("\n\n**", " **")), code(PRINTED), words(predict.MARK)],
        [*SHOWN, words(CHOICE), code(), words(predict.MARK)],
    ],
    ids=["shown", "elsewhere", "other numbers", "a choice", "folded", "in the question", "two"],
)
def test_a_guess_that_nothing_gives_away_is_in_order(cells: list) -> None:
    assert not list(predict.troubles(cells))


@pytest.mark.parametrize(
    ("cells", "cell", "reason"),
    [
        ([words(BOX), code(PRINTED)], 1, "nothing says how far the cover of its Predict box reaches"),
        ([words(BOX + "\n\n" + predict.MARK)], 1, "covers nothing but the answer"),
        ([words("One."), words(predict.MARK)], 2, "it ends a cover that no Predict box has begun"),
        ([*SHOWN, words(predict.MARK)], 4, "it ends a cover that no Predict box has begun"),
        ([words(BOX), words(CHOICE), code(), words(predict.MARK)], 2, "stands in the cover of cell 1's"),
        ([words(BOX), words("Then.\n\n## Next"), words(predict.MARK)], 1, "runs into the heading of cell 2"),
        ([words("It is 64."), words("So."), *SHOWN], 3, "stands in open text before it"),
        ([code(PRINTED), *SHOWN], 2, "stands in open text before it"),
        ([code(CLAIMED), *SHOWN], 2, "stands in open text before it"),
    ],
)
def test_what_gives_a_guess_away_is_named_with_its_cell(cells: list, cell: int, reason: str) -> None:
    found = list(predict.troubles(cells))
    assert any(number == cell and reason in said for number, said in found), found


# ---- what shows of a training through its cover ----


def boxed(*covered: nodes.Node) -> str:
    """The HTML of the form whose cover holds these."""
    answer = '<details class="predict" data-answer="64"><summary>Answer</summary>'
    parts = [nodes.paragraph("", "How many?"), predict.html(answer), predict.html(predict.ANSWERED)]
    document = new_document("")
    document += nodes.section("", *parts, *covered, predict.html(predict.MARK))
    predict.Predictions(document).apply()
    return next(raw.astext() for raw in document.findall(nodes.raw) if "<form" in raw.astext())


def test_a_training_behind_a_cover_is_announced_by_the_form_and_nothing_else_is() -> None:
    training = predict.html('<div class="training" data-name="guests"></div>')
    words = "Guess, then train two models here: they run in the page."
    assert words in boxed(training)
    assert words in boxed(nodes.container("", nodes.paragraph("", "Race!"), training))
    assert words not in boxed(nodes.paragraph("", "It is 64."))
