"""The picture of a stored run: loss and share right of both lanes, and what they are held against."""

import math
import re
from collections.abc import Sequence

from bookkit.pictures.drawings import Part, across, column, left_note, over, row
from bookkit.pictures.svg import Place, circle, label, line, rectangle
from bookkit.training.page import Training, known, stored

HEIGHT = 130
LEFT = 44  # pixels for a number that no curve may cross
TOO_GOOD = 0.9  # as _static/training/page/words.js has it: below so much of the limit a loss is no luck
COLOURS = ("blue", "orange")


def alt(name: str) -> str:
    """`alt("guests")` says what its picture shows, to those who can't see it."""
    _, training = known(name)
    run = stored(name)
    ends = [lane["tried"][0] for lane in run["lanes"]]
    sides = "; ".join(
        f"{who}: {_percent(end['right'])} right, loss {end['loss']:.2f}"
        for who, end in zip(_names(training), ends, strict=True)
    )
    longer = [
        f" At length {length}: {_percent(one)} against {_percent(other)}."
        for place, length in enumerate(training.longer, 1)
        for one, other in [[lane["tried"][place]["right"] for lane in run["lanes"]]]
    ]
    return (
        f"Two curves each of the loss and of the share of the {training.answers} that are right, over"
        f" {training.bench.training['steps']} steps. At the end: {sides}."
        + "".join(longer)
        + f" No loss can be below {run['limit']:.3g} on average;"
        f" guessing gets {_percent(run['chance'])} right."
        + "".join(
            f" Below that is the loss of “{who}”: the answers were read."
            for who, end in zip(_names(training), ends, strict=True)
            if end["loss"] < TOO_GOOD * run["limit"]
        )
    )


def picture(name: str, narrow: bool) -> Part:
    """`picture("guests", narrow=False)` has loss and share right side by side, and on a phone in a column."""
    _, training = known(name)
    run = stored(name)
    losses, rights = ([lane[what] for lane in run["lanes"]] for what in ("losses", "rights"))
    high = 1.1 * max(run["limit"], *(lane[0] for lane in losses))
    width = 300 if narrow else 330
    steps = training.bench.training["steps"]
    limit = run["limit"]
    farther = ""
    if training.longer:
        farther = f" at the length it trains on; big dots: at its end, at length {training.longer[-1]}"
    titles = (
        f"Loss; dotted: {limit:.3g}, the least on average",
        f"Right, of the {training.answers}{farther}; dotted: {_percent(run['chance'])}, {training.guess}",
    )
    dots = [lane["tried"][-1]["right"] for lane in run["lanes"]] if training.longer else []
    one = _plot(losses, width, steps, high, limit, titles[0], f"{high:.2g}")
    two = _plot(rights, width, steps, 1, run["chance"], titles[1], _percent(1), dots)
    keys = [_key(side, words) for side, words in enumerate(_names(training))]
    plots = column(one, two, gap=20) if narrow else row(one, two, gap=20, align="bottom")
    return column(across(narrow, *keys, gap=6 if narrow else 24), plots, gap=8)


def _percent(share: float) -> str:
    return f"{math.floor(100 * share + 0.5)}\u00a0%"


def _names(training: Training) -> list[str]:
    """What each side is called, as words.js of the page has it: "1 head, a network behind"."""
    changed = [control for control in training.controls if control.name in training.change]
    first = [_option(control.label, control.as_it_is) for control in changed]
    second = [_option(control.label, training.change[control.name]) for control in changed]
    return [", ".join(first), ", ".join(second)]


def _option(label: str, option: str) -> str:
    """`_option("Heads", "1")` is "1 head"; what says enough by itself, "by √dₖ", stands alone."""
    name = label[0].lower() + label[1:]
    if option == "yes":
        return name
    if option in ("no", "none"):
        return f"no {re.sub('^an? ', '', name)}"
    if option == "right":
        return f"right {name}"
    if not re.fullmatch(r"[\d.]+", option):
        return option
    if not re.match(r"\w+s\b", name):
        return f"{name} {option}"
    one = re.sub(r"s\b", "", name, count=1)
    return f"{option} {one}" if option == "1" else f"{option} {name}"


def _key(side: int, words: str) -> Part:
    name = left_note(words, 270)
    stroke = _path([(0, name.height / 2), (26, name.height / 2)], side)
    return over(name.width + 34, name.height, stroke, (name, 34, 0))


def _path(points: Sequence[tuple[float, float]], side: int) -> str:
    corners = "L".join(f"{x:.0f} {y:.0f}" for x, y in points)  # whole pixels: a page must be light
    dashes = ' stroke-dasharray="6 3"' if side else ""
    return f'<path d="M{corners}" fill="none" stroke="var(--{COLOURS[side]})" stroke-width="2"{dashes}/>'


def _plot(
    lanes: list[list[float]],
    width: float,
    steps: int,
    high: float,
    mark: float,
    title: str,
    top: str,
    dots: Sequence[float] = (),
) -> Part:
    def height(value: float) -> float:
        return HEIGHT * (1 - min(1.02, max(0.0, value / high)))

    wide = width - LEFT
    lanes = [[sum(pair) / len(pair) for pair in zip(lane[::2], lane[1::2], strict=False)] for lane in lanes]
    curves = [
        _path(
            [
                (LEFT + wide * (place + 0.5) / len(values), height(value))
                for place, value in enumerate(values)
            ],
            side,
        )
        for side, values in enumerate(lanes)
    ]
    for side, value in enumerate(dots):  # inside the frame, and apart: they may be as high
        x, y = width - 7 - 11 * side, min(HEIGHT - 6, max(6, height(value)))
        curves.append(circle(x, y, 5, colour=COLOURS[side], fill=COLOURS[side]))
    at = height(mark)
    frame = rectangle(Place(LEFT, 0, wide, HEIGHT), "faint", fill="paper")
    field = over(
        width,
        HEIGHT + 18,
        frame,
        line(LEFT, at, width, at, dashed=True),
        *curves,
        label(LEFT - 4, 11, top, size=12, colour="grey", anchor="end"),
        label(LEFT, HEIGHT + 15, "step 0", size=12, colour="grey", anchor="start"),
        label(width, HEIGHT + 15, f"step {steps}", size=12, colour="grey", anchor="end"),
    )
    return column(left_note(title, width - 10), field, gap=4, align="left")
