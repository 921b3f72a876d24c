"""Claims hold or raise, in the same words everywhere; chapters come from the contents and the notebooks."""

import json
import math

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from bookkit import claims, registry
from bookkit.claims import ClaimError, claim, short
from bookkit.mime_types import CLAIM
from bookkit.registry import Chapter

FAIL = [
    (67.3, {"expected": 64, "rel": 0.05}),
    (63.4, {"expected": 64, "abs": 0.5}),
    (4.0001, {"expected": 4}),
    (3.999, {"at_least": 4}),
    (0.251, {"at_most": 0.25}),
    (1.5, {"at_least": 0, "at_most": 1}),
    (False, {}),
    (-9.0, {"expected": -8, "rel": 0.1}),
    (math.nan, {"expected": 64, "rel": 0.05}),
    (math.inf, {"at_least": 0}),
    (-math.inf, {"at_most": 0}),
]
BAD = [
    (1.0, {}, TypeError, "needs a bound"),
    (1.0, {"rel": 0.1}, TypeError, "need expected"),
    (1.0, {"expected": 1, "rel": 0.1, "abs": 0.1}, TypeError, "with rel or with abs"),
    (1.0, {"expected": 1, "at_most": 2}, TypeError, "no other bound"),
    (True, {"expected": 1}, TypeError, "takes no bound"),
    (1.0, {"at_least": -math.inf}, ValueError, "at_least must be a finite number"),
    (1.0, {"expected": 1, "abs": math.nan}, ValueError, "abs must be a finite number"),
    (1.0, {"expected": 1, "rel": -0.1}, ValueError, "rel must not be negative"),
    (1.0, {"at_least": 2, "at_most": 1}, ValueError, "is above at_most"),
    (torch.ones(2), {"expected": 1}, ValueError, r"shape \(2,\)"),
    ("1", {"expected": 1}, TypeError, "measured must be a number or True/False, got str"),
    (1.0, {"at_least": "0"}, TypeError, "at_least must be a number or True/False, got str"),
    (1.0, {"expected": torch.ones(2)}, ValueError, "expected must be one number"),
    (torch.tensor(1j), {"expected": 1}, TypeError, "got complex"),
]


def test_a_claim_that_holds_prints_its_sentence_and_bound(capsys):
    """Other kinds of bounds, and what they are called, stand in the notebooks: see the stored claims."""
    claim("the sky is blue", torch.tensor(64.0), expected=64, rel=0.01)
    assert capsys.readouterr().out == "✓ the sky is blue [64 ± 1 %]\n"


@pytest.mark.parametrize(("measured", "bound"), FAIL)
def test_a_claim_that_does_not_hold_raises(measured, bound):
    with pytest.raises(ClaimError, match="This claim does not hold: “the sky is blue”"):
        claim("the sky is blue", measured, **bound)
    with pytest.raises(ClaimError, match=r"Measured 70\.1; claimed 64 ± 5 %\.$"):
        claim("the variance of q·k", 70.123, expected=64, rel=0.05)


@pytest.mark.parametrize(("measured", "bound", "error", "words"), BAD)
def test_a_claim_that_could_not_fail_or_makes_no_sense_is_refused(measured, bound, error, words):
    with pytest.raises(error, match=words):
        claim("the sky is blue", measured, **bound)
    with pytest.raises(ValueError, match="sentence"):
        claim(" ", 1.0, expected=1)


@pytest.fixture
def shown(monkeypatch):
    """What claims display when they run in a notebook."""
    outputs = []
    monkeypatch.setattr(claims, "get_ipython", object)
    monkeypatch.setattr(claims, "display", lambda data, raw: outputs.append(data))
    return outputs


def test_in_a_notebook_the_plain_text_never_depends_on_the_measured_value(shown):
    claim("the variance of q·k", 63.7, expected=64, rel=0.05)
    claim("the variance of q·k", 64.1, expected=64, rel=0.05)
    first, second = shown
    assert first["text/plain"] == second["text/plain"] == "✓ the variance of q·k [64 ± 5 %]"
    assert "63.7" in first["text/html"]
    assert "64.1" in second["text/html"]


def test_in_a_notebook_a_claim_is_also_data_for_whatever_reads_claims(shown):
    claim("a & b < c", torch.tensor(1 / 32), at_least=0, at_most=0.25)
    record = shown[0][CLAIM]
    assert json.loads(json.dumps(record)) == record == {
        "sentence": "a & b < c", "bound": "from 0 to 0.25", "numbers": {"at_least": 0, "at_most": 0.25},
        "measured": 1 / 32, "digits": 3,
    }  # fmt: skip
    assert "a &amp; b &lt; c" in shown[0]["text/html"]


@pytest.mark.parametrize(
    ("bound", "digits", "seen"),
    [
        ({"expected": 1, "rel": 0.012345}, 3, "1"),
        ({"at_least": 0, "at_most": 1.0625}, 5, "0.99961"),
    ],
)
def test_what_was_measured_shows_no_fewer_digits_than_its_bound(bound, digits, seen, shown):
    claim("a share", 0.99961, **bound)
    assert shown[0][CLAIM]["digits"] == digits
    assert f">measured {seen}<" in shown[0]["text/html"]


@pytest.mark.parametrize(("value", "words"), [(123456, "123456"), (1e9, "1e+09"), (-2538.0, "-2538")])
def test_a_count_shows_all_its_digits(value, words):
    assert short(value) == words


def test_in_a_notebook_what_is_true_is_not_also_measured(shown):
    claim("no weight is negative", True)
    assert shown[0][CLAIM]["measured"] is True
    assert "measured" not in shown[0]["text/html"]


@pytest.mark.parametrize("chapter", registry.notebooks(), ids=lambda chapter: chapter.name)
def test_every_stored_claim_holds_by_its_own_numbers(chapter, shown):
    """Claimed once more with them, it gives the same record."""
    for record in chapter.claims:
        claim(record["sentence"], record["measured"], **record["numbers"])
    assert chapter.claims == [data[CLAIM] for data in shown]


# ---- the list of chapters: from the table of contents and the notebooks, and from nowhere else ----


OPENING = """# Where now?

*25 minutes to read · more*

Then you will be able to

- say
  this;
- do other things.
"""


def stored(folder, opening=OPENING):
    path = folder / "a-chapter.ipynb"
    # The cell for Colab comes before the title.
    nbformat.write(new_notebook(cells=[new_code_cell("1"), new_markdown_cell(opening)]), path)
    return path


def test_a_chapter_says_what_it_is_called_how_long_it_takes_and_what_for(tmp_path):
    chapter = Chapter(stored(tmp_path))
    assert (chapter.name, chapter.package) == ("a-chapter", "a_chapter")
    assert (chapter.title, chapter.minutes, chapter.goal) == ("Where now?", "25 minutes to read", "say this")


def test_a_chapter_has_the_claims_of_all_its_cells_in_order(tmp_path):
    printed = new_output("stream", text="7\n")
    one, two, three = (
        new_output("display_data", data={CLAIM: {"sentence": name}, "text/plain": name}) for name in "abc"
    )
    cells = new_code_cell("1", outputs=[one, printed, two]), new_code_cell("2", outputs=[three])
    path = tmp_path / "a-chapter.ipynb"
    nbformat.write(new_notebook(cells=[new_markdown_cell(OPENING), *cells]), path)
    assert [claim["sentence"] for claim in Chapter(path).claims] == ["a", "b", "c"]


@pytest.mark.parametrize(("right", "wrong"), [("minutes to read", "hours to read"), ("- say", "say")])
def test_a_chapter_that_does_not_say_so_is_told(tmp_path, right, wrong):
    opening = OPENING.replace(right, wrong).replace("- do other things.", "")
    chapter = Chapter(stored(tmp_path, opening=opening))
    with pytest.raises(ValueError, match=r"a-chapter\.ipynb: its opening must say"):
        _ = chapter.minutes, chapter.goal


def test_a_chapter_that_is_not_there_is_refused_with_those_that_are(tmp_path):
    stored(tmp_path)
    with pytest.raises(ValueError, match="chapter must be one of a_chapter, got 'why'"):
        registry.chapter("why", tmp_path)


def test_each_notebook_of_the_book_is_listed_and_each_chapter_has_its_folder_and_each_folder_its_chapter():
    assert {chapter.notebook for chapter in registry.notebooks()} == {*registry.BOOK.glob("*.ipynb")}
    folders = {path.parent.name for path in (registry.PACKAGES / "chapters").glob("*/__init__.py")}
    assert folders == {chapter.package for chapter in registry.chapters()}
