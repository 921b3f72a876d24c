"""No chapter states a number that nothing holds; and the search for what holds it can fail."""

import notebooks
import pytest
import statements
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit import mime_types

CLAIM = {"sentence": "raw, d_k = 64: mean of 20 seeds", "numbers": {"at_most": 0.6}, "measured": 0.48349}


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_number_in_the_prose_is_held(path):
    found = statements.statements(notebooks.read(path))
    assert found
    loose = [str(statement) for statement in found if not statement.holder]
    assert not loose, "nothing in the chapter holds these numbers; claim them:\n" + "\n".join(loose)


def chapter(prose, code="seeds = 20", section="## Learning"):
    claim = new_output("display_data", {mime_types.CLAIM: CLAIM, "text/plain": "✓ …"})
    printed = new_output("stream", text="scores 7 and 12\n")
    return new_notebook(
        cells=[
            new_markdown_cell("# A chapter\n\nIt comes to 48 %."),
            new_markdown_cell(f"{section}\n\n{prose}"),
            new_code_cell(code, id="train", outputs=[claim, printed]),
            new_markdown_cell("## Elsewhere\n\nNothing."),
        ]
    )


def holder(prose, **more):
    """Of the one number in the section."""
    (_, statement) = statements.statements(chapter(prose, **more))
    return statement.holder


@pytest.mark.parametrize(
    ("prose", "expected"),
    [
        ("About 48 % are right.", "measured: raw, d_k = 64: mean of 20 seeds"),
        ("A share of 0.48.", "measured: raw, d_k = 64: mean of 20 seeds"),
        ("A share of 0.483.", "measured: raw, d_k = 64: mean of 20 seeds"),
        ("Never above 60 %.", "claimed: raw, d_k = 64: mean of 20 seeds"),
        ("At $d_k = 64$.", "claimed: raw, d_k = 64: mean of 20 seeds"),
        ("The scores are 12.", "printed: train"),
        ("A third, $1/3$.", "set: train"),
        ("The rate is 10^{-4}.", "set: train"),
        ("There are 1,024 keys.", "set: train"),
    ],
)
def test_a_number_is_held_by_what_is_near(prose, expected):
    assert holder(prose, code="seeds, rate = 20, 1e-4\nshare = 1 / 3\nkeys = 2**10") == expected


@pytest.mark.parametrize(
    "prose",
    ["About 49 % are right.", "A share of 0.50.", "A share of 0.484.", "At $d_k = 65$.", "It takes 3 s."],
)
def test_a_number_that_nothing_holds_is_found(prose):
    assert holder(prose) == ""


def test_what_another_section_measured_holds_nothing_by_chance():
    notebook = chapter("Words.")
    notebook.cells[-1].source = "## Elsewhere\n\nIt is 0.48."
    assert [statement.holder != "" for statement in statements.statements(notebook)] == [True, False]


@pytest.mark.parametrize(
    "prose",
    [
        "`x = 77`", "```\n77\n```", "mean 0 and variance 1", "a 100 % share", "in 2017", "Su (2024)",
        "$x_{77}$", "$e^{77}$", "Section 3.2.1", "Section 77", "Figures 77", "version 0.6.0", "PyTorch 2.13",
        "{cite}`britz77`", "float77", "[a link](https://example.org/77)", "<details data-answer=\"77\">",
        "*20 minutes to read · 77 seconds to run*", "*Difficulty 1 of 5 · 77 minutes*",
    ],
)  # fmt: skip
def test_what_states_nothing_is_left_out(prose):
    assert len(statements.statements(chapter(prose))) == 1
