"""A claim that holds is shown in the same words everywhere; a claim that doesn't hold raises."""

import math

import notebooks
import pytest
import torch

from bookkit import claims
from bookkit.claims import ClaimError, claim
from bookkit.mime_types import CLAIM

HOLD = [
    (63.7, {"expected": 64, "rel": 0.05}, "64 ± 5 %"),
    (63.7, {"expected": 64, "abs": 0.5}, "64 ± 0.5"),
    (4, {"expected": 4}, "exactly 4"),
    (4.0, {"at_least": 4}, "at least 4"),
    (0.1, {"at_most": 0.25}, "at most 0.25"),
    (0.1, {"at_least": 0, "at_most": 1}, "from 0 to 1"),
    (True, {}, "true"),
    (torch.tensor(64.0), {"expected": 64, "rel": 0.01}, "64 ± 1 %"),
    (-8.0, {"expected": -8, "rel": 0.1}, "-8 ± 10 %"),
    (4, {"expected": 4, "abs": 0}, "4 ± 0"),
    (4, {"at_least": 4, "at_most": 4}, "from 4 to 4"),
]
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
    (math.nan, {"at_least": 0}),
    (math.inf, {"at_most": 1}),
    (-math.inf, {"at_least": 0}),
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
    ("1", {"expected": 1}, TypeError, "got str"),
    (torch.tensor(1j), {"expected": 1}, TypeError, "got complex"),
]


@pytest.mark.parametrize(("measured", "bound", "words"), HOLD)
def test_a_claim_that_holds_prints_its_sentence_and_bound(measured, bound, words, capsys):
    claim("the sky is blue", measured, **bound)
    assert capsys.readouterr().out == f"✓ the sky is blue [{words}]\n"


@pytest.mark.parametrize(("measured", "bound"), FAIL)
def test_a_claim_that_does_not_hold_raises(measured, bound):
    with pytest.raises(ClaimError, match="the sky is blue"):
        claim("the sky is blue", measured, **bound)


def test_the_message_says_what_was_measured_and_what_was_claimed():
    with pytest.raises(ClaimError) as error:
        claim("the variance of q·k", 70.123, expected=64, rel=0.05)
    assert str(error.value) == (
        "This claim does not hold: “the variance of q·k”. Measured 70.1; claimed 64 ± 5 %."
    )


@pytest.mark.parametrize(("measured", "bound", "error", "words"), BAD)
def test_a_claim_that_could_not_fail_or_makes_no_sense_is_refused(measured, bound, error, words):
    with pytest.raises(error, match=words):
        claim("the sky is blue", measured, **bound)


def test_a_claim_without_a_sentence_is_refused():
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


def test_in_a_notebook_a_claim_is_also_data_for_the_ledger(shown):
    claim("a & b < c", 0.02, at_most=0.25)
    assert shown[0][CLAIM] == {
        "sentence": "a & b < c", "bound": "at most 0.25", "measured": "0.02", "low": None, "high": 0.25,
    }  # fmt: skip
    assert "a &amp; b &lt; c" in shown[0]["text/html"]


def test_in_a_notebook_what_is_true_is_not_also_measured(shown):
    claim("no weight is negative", True)
    assert shown[0][CLAIM]["measured"] == "true"
    assert "measured" not in shown[0]["text/html"]


@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_every_stored_claim_holds_by_its_own_numbers(path):
    """Three digits are stored, so the bound is widened by half of the last one."""
    for record in notebooks.claims(notebooks.read(path)):
        if record["bound"] == "true":
            assert record["measured"] == "true"
            continue
        value = float(record["measured"])
        rounding = abs(value) * 0.005
        assert record["low"] is None or value >= record["low"] - rounding, record
        assert record["high"] is None or value <= record["high"] + rounding, record
