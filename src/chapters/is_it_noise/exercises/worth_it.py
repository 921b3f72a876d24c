"""An experiment: is a higher rate worth it? An interval from as many seeds as it takes."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise

# Nats a word of rate 0.006 less those of 0.005, after 60 updates: mean and standard deviation over the pairs
# of seeds 5000 to 5159, and the standard deviation of one side.
TRUTH, SPREAD, SPREAD_OF_ONE = -0.047, 0.01, 0.025
WIDEST = 0.025
# So narrow are a thousand pairs, for whom nobody has the time.
NARROWEST = 2 * 1.96 * SPREAD / 1000**0.5
FIRST = "is it an interval?"

SAID = {
    "the wrong way round": "Its first end lies above its second. Hand over the lower one first.",
    "no number": "One of its ends is no finite number. The spread of a single pair is NaN.",
    "far too wide": (
        "It is as wide as the spread of single trainings, or wider. The mean of many lies closer: is it "
        "divided by √n? If it is, it takes more seeds, or pairs."
    ),
    "too wide": (
        "It is too wide to answer. Take more seeds; or the same seeds for both rates, and the spread of "
        "their differences: that needs far fewer."
    ),
    "a single point": "Both ends are the same. How far would another set of seeds have led?",
    "too narrow": (
        "It is narrower than a thousand pairs would make it. Is the spread divided by n in place of √n, or "
        "twice?"
    ),
    "the sign turned": (
        "The sign is turned: asked for is the loss at 0.006 *minus* the loss at 0.005. Less is better."
    ),
    "0 is the whole story": (
        "Hundreds of seeds tell the two apart, and your interval lies around 0. Was the same rate trained "
        "twice?"
    ),
    "misses the truth": (
        "It lies beside what hundreds of seeds say. Of honest intervals a few do: try other seeds. If it "
        "stays so: are these 60 updates, and `judged(model)[0]`, on a thousand new sentences?"
    ),
}


def _handed(work: Callable[..., Any]) -> tuple[float, float]:
    """Both ends, or it is said what came in their place."""
    ends = returned(work())
    if not isinstance(ends, (tuple, list)) and not (isinstance(ends, torch.Tensor) and ends.dim() == 1):
        raise WrongTypeError(f"Two numbers are expected, and {type(ends).__name__} came.")
    if len(ends) != 2:
        raise WrongTypeError(f"Two numbers are expected, the ends of an interval, and {len(ends)} came.")
    try:
        low, high = (float(each) for each in ends)
    except (TypeError, ValueError) as error:
        raise WrongTypeError("The ends of the interval must be numbers.") from error
    return low, high


def _no_interval(low: float, high: float) -> str:
    if not (math.isfinite(low) and math.isfinite(high)):
        return "no number"
    return "the wrong way round" if low > high else ""


def _width(low: float, high: float) -> str:
    if high - low >= 2 * SPREAD_OF_ONE:
        return "far too wide"
    return "too wide" if high - low > WIDEST else ""


def _narrow(low: float, high: float) -> str:
    if low == high:
        return "a single point"
    return "too narrow" if high - low < NARROWEST else ""


def _truth(low: float, high: float) -> str:
    # An honest interval of 95 % misses the truth one time in twenty. Twice as wide, one in a thousand.
    more = (high - low) / 2
    for truth, name in ((TRUTH, ""), (-TRUTH, "the sign turned"), (0, "0 is the whole story")):
        if low - more <= truth <= high + more:
            return name
    return "misses the truth"


QUESTIONS: dict[str, Callable[[float, float], str]] = {
    FIRST: _no_interval,
    "is it narrow enough?": _width,
    "is it too narrow?": _narrow,
    "does it hold the truth?": _truth,
}


def results(work: Callable[..., Any], question: str) -> Any:
    """`results(my_interval, "is it narrow enough?")` is 1 where there is nothing to say."""
    # Whoever trains draws weights.
    with torch.random.fork_rng(devices=[]):
        low, high = _handed(work)
    for asked, look in QUESTIONS.items():
        if name := look(low, high):
            raise WrongTypeError(SAID[name])
        if asked == question:
            break
    return 1


def _interval(middle: float, half: float) -> tuple[float, float]:
    return middle - half, middle + half


def _interval_of(low: float, high: float) -> tuple[float, float]:
    return low, high


_ENDS = {
    "reference": _interval(TRUTH, WIDEST / 3),
    "the wrong way round": _interval(TRUTH, -WIDEST / 3),
    "no number": (math.nan, math.nan),
    "far too wide": _interval(TRUTH, 2 * SPREAD_OF_ONE),
    "too wide": _interval(TRUTH, 0.6 * WIDEST),
    "a single point": _interval(TRUTH, 0),
    "too narrow": _interval(TRUTH, NARROWEST / 4),
    "the sign turned": _interval(-TRUTH, WIDEST / 3),
    "0 is the whole story": _interval(0, WIDEST / 3),
    "misses the truth": _interval(2 * TRUTH, WIDEST / 3),
}
# What hands over these ends, by the mistake it makes.
HANDED: dict[str, Callable[[], tuple[float, float]]] = {
    name: partial(_interval_of, *ends) for name, ends in _ENDS.items()
}


check_worth_it = Exercise(
    "worth_it",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=HANDED["reference"],
    ask=results,
    cases=(
        Case("it is an interval", FIRST),
        Case("it is as narrow as was asked for", "is it narrow enough?"),
        Case("it is no narrower than seeds can make it", "is it too narrow?"),
        Case("it holds what hundreds of seeds say", "does it hold the truth?"),
    ),
    mistakes={name: (sentence, HANDED[name]) for name, sentence in SAID.items()},
    trainable=False,
    again=False,
)
