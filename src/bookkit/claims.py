"""A claim: a sentence, what was measured, and the bound that makes the sentence true or false."""

import html
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from IPython.core.getipython import get_ipython
from IPython.display import display
from torch import Tensor

from bookkit.mime_types import CLAIM, as_saved

FEWEST_DIGITS = 3  # that a measured value is shown with


class ClaimError(AssertionError):
    """A claim that does not hold."""


@dataclass(frozen=True)
class Bound:
    """`Bound(60.8, 67.2, "64 ± 5 %")` is an interval, both ends included, and the words for it."""

    low: float
    high: float
    words: str


def claim(
    sentence: str,
    measured: float | Tensor,
    *,
    expected: float | None = None,
    rel: float | None = None,
    abs: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> None:
    """`claim("q·k has variance d_k", measured=63.7, expected=64, rel=0.05)` shows the sentence, or raises.

    State the bound in one of three ways: `expected` with `rel` or `abs` (neither means exactly equal),
    `at_least` and `at_most` (one or both), or a plain True/False as `measured`, which then must be True.

    The plain text (sentence and bound) is the same on every machine. The measured value, which may differ in
    its last digits, stands only in the HTML that the page shows, and in the record for whatever reads claims.
    """
    if not sentence.strip():
        raise ValueError("sentence must say what is claimed, got an empty text")
    value = _as_number("measured", measured)
    named = {"expected": expected, "rel": rel, "abs": abs, "at_least": at_least, "at_most": at_most}
    given = {name: _as_number(name, number) for name, number in named.items() if number is not None}
    _refuse_what_cannot_fail(given)
    bound = _bound(value, given)
    # NaN and infinity are measured where something went wrong, and an open end would let infinity pass.
    if not (math.isfinite(value) and bound.low <= value <= bound.high):
        raise ClaimError(
            f"This claim does not hold: “{sentence}”. Measured {short(value)}; claimed {bound.words}."
        )
    _show(sentence, value, bound, given)


def _as_number(name: str, number: float | Tensor) -> float:
    if isinstance(number, Tensor):
        if number.numel() != 1:
            raise ValueError(f"{name} must be one number, got a tensor of shape {tuple(number.shape)}")
        number = number.item()
    if not isinstance(number, (bool, int, float)):
        raise TypeError(f"{name} must be a number or True/False, got {type(number).__name__}")
    return number


def _refuse_what_cannot_fail(given: Mapping[str, float]) -> None:
    """An infinite or NaN bound would make a claim that cannot fail, or cannot hold."""
    for name, number in given.items():
        if not math.isfinite(number):
            raise ValueError(f"{name} must be a finite number, got {number}")
        if name in ("rel", "abs") and number < 0:
            raise ValueError(f"{name} must not be negative, got {number}")


def _bound(value: float, given: Mapping[str, float]) -> Bound:
    if isinstance(value, bool):
        if given:
            raise TypeError("measured is True/False, so the claim takes no bound")
        return Bound(True, True, "true")
    if "expected" in given:
        if given.keys() not in ({"expected"}, {"expected", "rel"}, {"expected", "abs"}):
            raise TypeError("expected goes with rel or with abs, and with no other bound")
        return _around(**given)
    if "rel" in given or "abs" in given:
        raise TypeError("rel and abs need expected")
    if not given:
        raise TypeError("a claim needs a bound: expected, at_least or at_most")
    return _between(**given)


def _around(expected: float, rel: float | None = None, abs: float | None = None) -> Bound:
    if rel is not None:
        margin = rel * math.fabs(expected)
        return Bound(expected - margin, expected + margin, f"{_words(expected)} ± {_words(100 * rel)} %")
    if abs is not None:
        return Bound(expected - abs, expected + abs, f"{_words(expected)} ± {_words(abs)}")
    return Bound(expected, expected, f"exactly {_words(expected)}")


def _between(at_least: float = -math.inf, at_most: float = math.inf) -> Bound:
    if at_least > at_most:
        raise ValueError(f"at_least ({at_least}) is above at_most ({at_most})")
    if at_most == math.inf:
        return Bound(at_least, at_most, f"at least {_words(at_least)}")
    if at_least == -math.inf:
        return Bound(at_least, at_most, f"at most {_words(at_most)}")
    return Bound(at_least, at_most, f"from {_words(at_least)} to {_words(at_most)}")


def _words(number: float) -> str:
    """`_words(0.125)` is '0.125': a bound is shown as it was written, a fraction to six digits."""
    return str(int(number)) if _is_count(number) else f"{number:g}"


def _digits(given: Mapping[str, float]) -> int:
    """`_digits({"expected": 0.9995, "abs": 0.1})` is 4: what was measured shows no fewer than its bound."""
    written = [_words(number) for name, number in given.items() if name not in ("rel", "abs")]
    return max([FEWEST_DIGITS, *(len(Decimal(number).as_tuple().digits) for number in written)])


def short(value: float, digits: int = FEWEST_DIGITS) -> str:
    """`short(0.033333)` is '0.0333': a measured value in so many significant digits, a count in all.

    >>> short(2538.0), short(0.99954, digits=4), short(True)
    ('2538', '0.9995', 'true')
    """
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if _is_count(value) else f"{value:.{digits}g}"


def _is_count(number: float) -> bool:
    """`_is_count(2538.0)` is True: a whole number that nobody would write with an exponent."""
    return number == round(number, 0) and math.fabs(number) < 1e9


def _show(sentence: str, value: float, bound: Bound, given: Mapping[str, float]) -> None:
    plain = f"✓ {sentence} [{bound.words}]"
    if get_ipython() is None:
        print(plain)
        return
    digits = _digits(given)
    record = {
        "sentence": sentence,
        "bound": bound.words,
        "numbers": given,
        "measured": value,
        "digits": digits,
    }
    page = _as_html(sentence, bound.words, "" if isinstance(value, bool) else short(value, digits))
    display({"text/plain": plain, "text/html": page, CLAIM: as_saved(record)}, raw=True)


def _as_html(sentence: str, bound: str, measured: str) -> str:
    seen = f'<b class="claim-measured">measured {measured}</b> ' if measured else ""
    together = bound.replace(" %", "\N{NO-BREAK SPACE}%")
    return (
        f'<div class="claim"><span class="claim-mark" aria-hidden="true">✓</span> '
        f'<span class="claim-sentence">{html.escape(sentence)}</span> '
        f'{seen}<span class="claim-bound">claimed {html.escape(together)}</span></div>'
    )
