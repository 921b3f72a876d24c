"""Lay a line through losses, in logarithms, and say what it predicts."""

import math
from functools import partial

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts


def _least_squares(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """The slope of the line through the points, and how high it stands at 0."""
    apart = x - x.mean()
    slope = (apart * (y - y.mean())).sum() / apart.square().sum()
    return slope, _height(x, y, slope)


def _height(x: Tensor, y: Tensor, slope: Tensor) -> Tensor:
    """How high a line of this slope stands at 0, where it goes through the middle of the points."""
    return y.mean() - slope * x.mean()


def _law(
    updates: Tensor,
    bits: Tensor,
    asked: float,
    *,
    across: Part = torch.log,
    up: Part = torch.log,
    line: Part = _least_squares,
    opened: Part = torch.exp,
    predicted: Part = lambda a, b, asked: a * asked**b,
) -> tuple[Tensor, Tensor, Tensor]:
    b, height = line(across(updates), up(bits))
    a = opened(height)
    return a, b, predicted(a, b, asked)


def _as_it_is(number: Tensor) -> Tensor:
    return number


def _with_slope(x: Tensor, y: Tensor, slope: Tensor) -> tuple[Tensor, Tensor]:
    return slope, _height(x, y, slope)


def _through_both_ends(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    slope = (y[-1] - y[0]) / (x[-1] - x[0])
    return slope, y[0] - slope * x[0]


# Without logarithms, neither on the way there nor on the way back.
_in_plain_numbers = partial(_law, across=_as_it_is, up=_as_it_is, opened=_as_it_is)


MISTAKES: Mistakes = (
    in_parts(
        _law,
        across={
            "updates without log": (
                "The updates go in without their logarithm. A power law is a line where both axes are "
                "logarithms.",
                _as_it_is,
            )
        },
        up={
            "bits without log": (
                "The bits go in without their logarithm. A power law is a line where both axes are "
                "logarithms.",
                _as_it_is,
            )
        },
        line={
            "both exchanged in the fit": (
                "You fit log updates as a line over log bits. Asked for are bits: log updates lie across, "
                "log bits up.",
                lambda x, y: _least_squares(y, x),
            ),
            "slope taken for height": (
                "You take the slope for log a, and the height for b. np.polyfit gives the slope first.",
                lambda x, y: _least_squares(x, y)[::-1],
            ),
            "fewest and most updates": (
                "Your line goes through the points of the fewest and most updates. Least squares takes all "
                "of them into account.",
                lambda x, y: _through_both_ends(*(each[x.argsort()] for each in (x, y))),
            ),
            "through both ends": (
                "Your line goes through the first point and the last. Least squares takes all of them into "
                "account.",
                _through_both_ends,
            ),
            "mean of the steps": (
                "You take the mean of the slopes from each point to the next. Where the steps are alike, all "
                "points between both ends cancel out. Least squares takes each into account.",
                lambda x, y: _with_slope(x, y, (y.diff() / x.diff()).mean()),
            ),
            "through the origin": (
                "Your line has no log a: it goes through the origin, where bits are 1 after one update. Give "
                "`lstsq` a column of ones beside log updates.",
                lambda x, y: (x @ y / (x @ x), torch.zeros_like(x[0])),
            ),
            "n and n - 1": (
                "You divide a mean of n products by a variance that has n - 1 in the place of n, as "
                "`torch.var` has unless told `correction=0`.",
                lambda x, y: _with_slope(x, y, ((x - x.mean()) * (y - y.mean())).mean() / x.var()),
            ),
            "n - 1 and n": (
                "You divide a covariance by a variance, and they are not counted alike: np.cov and torch.cov "
                "divide by n - 1, np.var and `torch.var(…, correction=0)` by n.",
                lambda x, y: _with_slope(x, y, torch.stack([x, y]).cov()[0, 1] / x.var(correction=0)),
            ),
        },
        opened={
            "log a all along": (
                "You take log a for a. The line gives the logarithm: a is its `exp`.",
                _as_it_is,
            )
        },
        predicted={
            "log of what is predicted": (
                "What is predicted at `asked` is still a logarithm. Take its `exp`.",
                lambda a, b, asked: a.log() + b * math.log(asked),
            ),
        },
    )
    | in_answer(
        _law,
        {
            "log a handed over": (
                "What is predicted is right, and the first number is log a. Asked for is a, its `exp`.",
                lambda answer: (answer[0].log(), *answer[1:]),
            ),
            "sign of b": (
                "b has the wrong sign. Here the law is a · updates ** b: where bits fall, b is below 0.",
                lambda answer: (answer[0], -answer[1], answer[2]),
            ),
            "a and b exchanged": (
                "The numbers are right, and a and b have changed places: return a, b, and what is predicted.",
                lambda answer: (answer[1], answer[0], answer[2]),
            ),
        },
    )
    | {
        "log10 with exp": (
            "You take logarithms with log10, and go back with exp. Go back with `10 ** …`, or take `log`.",
            partial(_law, across=torch.log10, up=torch.log10),
        ),
        "bits over log updates": (
            "This is a line through bits over log updates. In a power law the bits, too, are logarithms: "
            "log bits = log a + b · log updates.",
            partial(
                _in_plain_numbers, across=torch.log, predicted=lambda a, b, asked: a + b * math.log(asked)
            ),
        ),
        "log bits over updates": (
            "This is an exponential, a · exp(b · updates): log bits over the updates themselves. In a power "
            "law the updates, too, are logarithms.",
            partial(_law, across=_as_it_is, predicted=lambda a, b, asked: a * math.exp(b * asked)),
        ),
        "no logarithms": (
            "You fit a line to the numbers themselves, and call its height a and its slope b. Fit it to "
            "their logarithms; then a is the `exp` of its height.",
            _in_plain_numbers,
        ),
        "a straight line": (
            "This is a line through the numbers themselves, a + b · updates, and no power law. Fit "
            "log bits = log a + b · log updates.",
            partial(_in_plain_numbers, predicted=lambda a, b, asked: a + b * asked),
        ),
    }
)


def _losses(label: str, points: dict[float, float], asked: float) -> Case:
    """Losses by the updates after which they were measured, and for how many updates one asks."""
    updates, bits = (
        torch.tensor([*column], dtype=torch.float64, device="cpu") for column in (points, points.values())
    )
    return Case(label, updates, bits, asked)


check_power_law = Exercise(
    "power_law",
    difficulty=2,
    minutes=15,
    takes=("updates", "bits", "asked"),
    returns=("a", "b", "predicted"),
    reference=_law,
    cases=(
        _losses("right where all points lie on a law", {100: 0.8, 400: 0.4, 1600: 0.2}, 6400.0),
        _losses(
            "right where they lie near one", {200: 2.9, 400: 2.6, 800: 2.3, 1600: 2.15, 3200: 1.8}, 12800.0
        ),
        _losses("right in any order, for few updates, too", {3000: 1.9, 100: 4.1, 1200: 2.5, 500: 2.7}, 20.0),
        _losses("right where it rises", {2: 0.3, 5: 0.45, 30: 1.7, 80: 2.4}, 50.0),
    ),
    mistakes=MISTAKES,
    trainable=False,
    again=False,  # other numbers might have no logarithms, of which LAPACK complains past all that is muted
)
