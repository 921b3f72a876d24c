"""A claim: a sentence, what was measured, and the bound that makes the sentence true or false."""

import html
import math
from dataclasses import dataclass

from IPython.core.getipython import get_ipython
from IPython.display import display
from torch import Tensor

from bookkit.mime_types import CLAIM


class ClaimError(AssertionError):
    """A claim that does not hold."""


@dataclass(frozen=True)
class Bound:
    """The interval from `low` to `high`, both included, and the words for it."""

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
    its last digits, stands only in the HTML that the page shows.
    """
    if not sentence.strip():
        raise ValueError("sentence must say what is claimed, got an empty text")
    value = _as_number(measured)
    bound = _bound(value, expected, rel, abs, at_least, at_most)
    # `not (...)`, so that NaN, which is neither above nor below anything, makes the claim false.
    if not (bound.low <= value <= bound.high):
        raise ClaimError(
            f"This claim does not hold: “{sentence}”. Measured {_short(value)}; claimed {bound.words}."
        )
    _show(sentence, value, bound)


def _as_number(measured: float | Tensor) -> float:
    if isinstance(measured, Tensor):
        if measured.numel() != 1:
            raise ValueError(f"measured must be one number, got a tensor of shape {tuple(measured.shape)}")
        measured = measured.item()
    if not isinstance(measured, (bool, int, float)):
        raise TypeError(f"measured must be a number or True/False, got {type(measured).__name__}")
    return measured


def _bound(
    value: float,
    expected: float | None,
    rel: float | None,
    abs: float | None,
    at_least: float | None,
    at_most: float | None,
) -> Bound:
    given = {"expected": expected, "rel": rel, "abs": abs, "at_least": at_least, "at_most": at_most}
    for name, number in given.items():
        # An infinite or NaN bound would make a claim that cannot fail, or cannot hold.
        if number is not None and not math.isfinite(number):
            raise ValueError(f"{name} must be a finite number, got {number}")
        if number is not None and name in ("rel", "abs") and number < 0:
            raise ValueError(f"{name} must not be negative, got {number}")
    if isinstance(value, bool):
        if any(number is not None for number in given.values()):
            raise TypeError("measured is True/False, so the claim takes no bound")
        return Bound(True, True, "true")
    if expected is not None:
        if at_least is not None or at_most is not None or (rel is not None and abs is not None):
            raise TypeError("expected goes with rel or with abs, and with no other bound")
        if rel is not None:
            margin = rel * math.fabs(expected)
            return Bound(expected - margin, expected + margin, f"{_words(expected)} ± {_words(100 * rel)} %")
        if abs is not None:
            return Bound(expected - abs, expected + abs, f"{_words(expected)} ± {_words(abs)}")
        return Bound(expected, expected, f"exactly {_words(expected)}")
    if rel is not None or abs is not None:
        raise TypeError("rel and abs need expected")
    if at_least is not None and at_most is not None:
        if at_least > at_most:
            raise ValueError(f"at_least ({at_least}) is above at_most ({at_most})")
        return Bound(at_least, at_most, f"from {_words(at_least)} to {_words(at_most)}")
    if at_least is not None:
        return Bound(at_least, math.inf, f"at least {_words(at_least)}")
    if at_most is not None:
        return Bound(-math.inf, at_most, f"at most {_words(at_most)}")
    raise TypeError("a claim needs a bound: expected, at_least or at_most")


def _words(number: float) -> str:
    """`_words(0.125)` is '0.125': a bound is shown as it was written, a fraction to six digits."""
    return str(int(number)) if _is_count(number) else f"{number:g}"


def _digits(bound: Bound) -> int:
    """Of the bound's first number, the significant digits: 4 of 0.9995. What was measured shows no fewer."""
    first = bound.words.split(" ±")[0].split()[-1].partition("e")[0]
    return len("".join(filter(str.isdigit, first)).lstrip("0"))


def _short(number: float, digits: int = 3) -> str:
    """`_short(0.033333)` is '0.0333': three significant digits or more, and all digits of a count."""
    if isinstance(number, bool):
        return str(number).lower()
    return str(int(number)) if _is_count(number) else f"{number:.{max(3, digits)}g}"


def _is_count(number: float) -> bool:
    """`_is_count(2538.0)` is True: a whole number that nobody would write with an exponent."""
    return number == round(number, 0) and math.fabs(number) < 1e9


def _show(sentence: str, value: float, bound: Bound) -> None:
    plain = f"✓ {sentence} [{bound.words}]"
    if get_ipython() is None:
        print(plain)
        return
    shown = _short(value, _digits(bound))
    record: dict[str, str | float | None] = {
        "sentence": sentence,
        "bound": bound.words,
        "measured": shown,
    }
    record |= {"low": _finite(bound.low), "high": _finite(bound.high)}
    seen = "" if isinstance(value, bool) else f'<b class="claim-measured">measured {shown}</b> '
    together = bound.words.replace(" %", "\N{NO-BREAK SPACE}%")
    page = (
        f'<div class="claim"><span class="claim-mark" aria-hidden="true">✓</span> '
        f'<span class="claim-sentence">{html.escape(sentence)}</span> '
        f'{seen}<span class="claim-bound">claimed {html.escape(together)}</span></div>'
    )
    display({"text/plain": plain, "text/html": page, CLAIM: record}, raw=True)


def _finite(number: float) -> float | None:
    """JSON has no infinity: an open end is null."""
    return float(number) if math.isfinite(number) else None
