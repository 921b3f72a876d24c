"""What makes a training the same in every browser, and small enough to be read and sent."""

import gzip
import math
import re

import pytest
from training_scripts import FOLDER, in_node

from bookkit.registry import BOOK

ALL = sorted(FOLDER.glob("*.js"))
TOP = re.compile(r"^(?:async )?(?:function\*?|class|const|let) +(\w+)", re.MULTILINE)


@pytest.mark.parametrize("script", ALL, ids=lambda script: script.name)
def test_only_what_all_browsers_compute_alike_is_used(script):
    """IEEE 754 says what + - × ÷ and the square root are, to the last bit; of the others each has its own."""
    text = re.sub(r"//.*", "", script.read_text("utf-8"))
    used = set(re.findall(r"Math\.(\w+)", text))
    whole = {"floor", "round", "max", "min", "abs", "imul"}
    assert used <= whole | {"sqrt", "LN2", "SQRT1_2"}
    powers = text.replace("2 ** 32", "")  # a whole number of 33 bits
    assert "**" not in powers


def test_the_engine_is_read_in_one_sitting_and_all_of_it_is_light():
    assert len((FOLDER / "engine.js").read_text("utf-8").splitlines()) <= 300
    assert sum(len(gzip.compress(script.read_bytes())) for script in ALL) <= 25_000


def test_no_name_is_another_script_s_as_well():
    """They are classic scripts: where both stand in a page, the later would take the earlier's place."""
    names = {
        script: set(TOP.findall(script.read_text("utf-8"))) for script in (BOOK / "_static").rglob("*.js")
    }
    for script in ALL:
        for other, theirs in names.items():
            # One die, the same in both, until they share a file.
            assert other == script or not (names[script] & theirs) - {"die"}, (script.name, other.name)


def test_exponential_logarithm_and_sines_are_right_to_fifteen_digits(tmp_path):
    values = [-650.5, -40.25, -3.0, -0.3, 0.0, 1e-9, 0.1, 1.0, 2.5, 20.0, 600.0]
    body = """return given.map((x) =>
        [Exact.exp(x), Exact.log(x > 0 ? x : 1 - x), Exact.turn(Math.min(1, Math.abs(x)))]);"""
    for x, (power, logarithm, (sine, cosine)) in zip(values, in_node(values, body, tmp_path), strict=True):
        assert power == pytest.approx(math.exp(x), rel=1e-13)
        assert logarithm == pytest.approx(math.log(x if x > 0 else 1 - x), rel=1e-14, abs=1e-16)
        angle = min(1, abs(x))
        assert (sine, cosine) == pytest.approx((math.sin(angle), math.cos(angle)), rel=1e-15)


def test_what_is_infinite_or_no_number_stays_so(tmp_path):
    body = """return [Exact.exp(-Infinity), Exact.exp(NaN), Exact.exp(Infinity), Exact.log(0), Exact.log(-1)]
        .map(String);"""
    assert in_node(None, body, tmp_path) == ["0", "NaN", "Infinity", "-Infinity", "NaN"]
