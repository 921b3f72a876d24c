"""The drawings: who wins, what a seed decides, what an interval is made of, clumps, and twenty ideas."""

import math
from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.drawings import Part, across, box, column, draw, left_note, note, over, row, text
from bookkit.pictures.svg import (
    SMALL,
    SMALLEST,
    Place,
    circle,
    curve,
    label,
    line,
    polygon,
    rectangle,
    width_of,
)
from chapters.is_it_noise.bank import first_sweep


def _scale(low: float, high: float, left: float, wide: float, value: float) -> float:
    return left + wide * (value - low) / (high - low)


def _title(words: str, below: str = "") -> Part:
    """Words that begin at the left edge, and smaller ones below them."""
    marks = label(0, 13, words, size=SMALL, anchor="start", bold=True)
    if below:
        marks += label(0, 30, below, size=SMALL, colour="grey", anchor="start")
    return over(max(width_of(words, SMALL) * 1.06, width_of(below, SMALL)), 34 if below else 18, marks)


def who_wins(bank: Mapping[str, Tensor]) -> None:
    """`who_wins(stored())` has three seeds of a training and of its twin, and then all."""
    first, second = bank["as it is"], bank["the same again"]
    chosen = first_sweep(first, second)
    groups = {"A": (first, chosen[0], "query"), "B": (second, chosen[1], "key")}
    low = float(min(first.min(), second.min()))
    high = float(max(first.max(), second.max()))
    means = {name: float(losses[list(some)].mean()) for name, (losses, some, _) in groups.items()}
    all_means = {name: float(losses.mean()) for name, (losses, _, _) in groups.items()}

    def strip(wide: float, everything: bool) -> Part:
        left = 26.0
        marks = ""
        for number, (name, (losses, some, colour)) in enumerate(groups.items()):
            y = 16 + 30.0 * number
            marks += label(8, y + 5, name, colour=colour, bold=True)
            marks += line(left, y, left + wide, y, colour="faint", width=1)
            shown = [each for each in range(len(losses)) if each not in some] if everything else []
            for each in (*shown, *some):  # those of above lie on top
                x = _scale(low, high, left, wide, float(losses[each]))
                strong = each in some
                marks += circle(x, y, 5 if strong else 3, colour=colour, fill=colour if strong else "paper")
            x = _scale(low, high, left, wide, (all_means if everything else means)[name])
            marks += line(x, y - 12, x, y + 12, colour=colour, width=3)
        return over(left + wide + 8, 66, marks)

    def arrange(narrow: bool) -> Part:
        wide = 280 if narrow else 600
        return column(
            _title("three seeds each: B wins"),
            strip(wide, everything=False),
            _title(f"{len(first)} seeds each: A and B are the same training"),
            strip(wide, everything=True),
            left_note("A dot is a training, a bar a mean. Farther left is better: fewer nats a word.", wide),
            gap=6,
            align="left",
        )

    draw(
        arrange,
        alt=f"Above, three trainings of A and three of B: means {means['A']:.3f} and {means['B']:.3f} nats a "
        f"word, and all three of B are better. Below, {len(first)} trainings of each, which lie over each "
        f"other: means {all_means['A']:.3f} and {all_means['B']:.3f}.",
    )


def two_dice() -> None:
    """`two_dice()` has what a seed decides on, and what it leaves alone."""

    def arrange(narrow: bool) -> Part:
        seed = box(text("one seed", bold=True), name="seed", colour="output")
        weights = box(column("first weights", note("where it starts"), gap=2), name="weights", colour="query")
        order = box(
            column("order of batches", note("what pulls, and when"), gap=2), name="order", colour="key"
        )
        end = box(column("where it ends", note("the loss we report"), gap=2), colour="value")
        arrow = text("↓" if narrow else "→")
        return across(narrow, seed, arrow, column(weights, order, gap=12), arrow, end, gap=14)

    draw(
        arrange,
        alt="One seed throws two dice: the first weights, where a training starts, and the order of batches. "
        "Both decide where it ends.",
    )


def interval_of(losses: Sequence[float], factor: float) -> None:
    """`interval_of([1.74, 1.76, 1.73], 4.3)` builds an interval, in three steps below each other."""
    n = len(losses)
    mean = sum(losses) / n
    spread = math.sqrt(sum((x - mean) ** 2 for x in losses) / (n - 1))
    error = spread / math.sqrt(n)
    reach = factor * error * 1.15
    steps = (
        (spread, "query", f"s = {spread:.3f}", "how far off one is"),
        (error, "value", f"s/√{n} = {error:.3f}", "how far off their mean is"),
        (
            factor * error,
            "output",
            f"{factor:.2f} · s/√{n} = {factor * error:.3f}",
            "far enough to hold the truth",
        ),
    )

    def arrange(narrow: bool) -> Part:
        wide = 310.0 if narrow else 420.0
        middle = wide / 2

        def at(value: float) -> float:
            return middle + middle * value / reach

        marks = line(0, 16, wide, 16, colour="faint", width=1)
        for loss in losses:
            marks += circle(at(loss - mean), 16, 5, colour="query", fill="query")
        marks += line(middle, 4, middle, 28, colour="ink", width=2)
        rows = []
        for half, colour, formula, words in steps:
            bar = line(at(-half), 10, at(half), 10, colour=colour, width=4)
            bar += line(middle, 3, middle, 17, colour="ink", width=2)
            said = _title(formula, words)
            part = over(wide, 20, bar)
            rows.append(column(part, said, gap=2) if narrow else row(part, said, gap=18))
        dots = over(wide, 32, marks)
        return column(dots, *rows, gap=8, align="left")

    words = ", ".join(f"{formula} ({said})" for *_, formula, said in steps)
    draw(arrange, alt=f"{n} dots and their mean, and below them three bars around it: {words}.")


def two_bells() -> None:
    """`two_bells()` has the differences that are found: where nothing differs, and where d does."""
    edge, far = 1.96, 0.84  # in errors of the difference
    middle = edge + far

    def arrange(narrow: bool) -> Part:
        unit, high, base = (40.0, 92.0, 122.0) if narrow else (62.0, 104.0, 134.0)
        steps = [step / 20 for step in range(-52, 53)]

        def at(errors: float) -> float:
            return unit * (2.7 + errors)

        def bell(centre: float, beyond: float = -9) -> list[tuple[float, float]]:
            above = [off for off in steps if centre + off >= beyond]
            return [(at(centre + off), base - high * math.exp(-(off**2) / 2)) for off in above]

        beyond = bell(middle, edge)
        marks = polygon([(beyond[0][0], base), *beyond, (beyond[-1][0], base)], "query", opacity=0.25)
        marks += curve(bell(0)) + curve(bell(middle), colour="query")
        marks += line(at(-2.6), base, at(middle + 2.6), base, colour="ink", width=1)
        marks += line(at(edge), base - high - 8, at(edge), base + 34, colour="key", width=2)
        marks += label(at(middle) + 6, base - 22, "four fifths", size=SMALLEST, colour="query")
        for centre, words, colour in ((0, "nothing differs", "grey"), (middle, "differ by d", "query")):
            marks += line(at(centre), base, at(centre), base + 34, colour=colour, width=1)
            marks += label(at(centre), base - high - 12, words, size=SMALL, colour=colour, bold=True)
        for start, end in ((0, edge), (edge, middle)):
            marks += line(at(start), base + 22, at(end), base + 22, colour="ink", width=1)
            marks += label(at((start + end) / 2), base + 17, f"{end - start:.2f}", size=SMALLEST, bold=True)
        below = left_note(
            "Which differences are found, in errors. Right of the orange line, an interval leaves out 0.",
            320 if narrow else 500,
        )
        return over(at(middle + 2.7), base + 84, marks, (below, 0, base + 44))

    draw(
        arrange,
        alt="Two bells: the differences found where there is none, and where there is one. A line stands "
        "1.96 errors right of the first one's middle, and 0.84 left of the second one's. Four fifths of the "
        "second lie beyond it.",
    )


def clumps() -> None:
    """`clumps()` has what is drawn again when texts are resampled, and when pieces are."""
    easy, hard = (0.3, 0.2, 0.4, 0.3, 0.2, 0.3), (0.9, 1.0, 0.7, 0.9, 0.8, 1.0)
    made = {"text 1": easy, "text 2": hard, "text 3": (0.5, 0.6, 0.4, 0.5, 0.6, 0.5)}
    as_texts = ("text 2", "text 2", "text 1")
    as_pieces = tuple((t, (5 * t + 7 * n) % 6) for n in range(6) for t in range(3))

    def bars(heights: Sequence[float], colour: str) -> Part:
        marks = "".join(
            rectangle(Place(13 * n, 40 - 36 * h, 10, 36 * h), None, fill=colour, opacity=0.7)
            for n, h in enumerate(heights)
        )
        return over(13 * len(heights), 42, marks + line(0, 41, 13 * len(heights), 41, width=1))

    colours = dict(zip(made, ("query", "key", "value"), strict=True))

    def mixed() -> Part:
        names = list(made)
        marks = ""
        for n, (t, place) in enumerate(as_pieces):
            h = made[names[t]][place]
            marks += rectangle(
                Place(13 * n, 40 - 36 * h, 10, 36 * h), None, fill=colours[names[t]], opacity=0.7
            )
        return over(13 * 18, 42, marks + line(0, 41, 13 * 18, 41, width=1))

    def arrange(narrow: bool) -> Part:
        given = row(*(column(bars(h, colours[t]), note(t), gap=2) for t, h in made.items()), gap=18)
        by_text = row(*(column(bars(made[t], colours[t]), note(t), gap=2) for t in as_texts), gap=18)
        blocks = [
            column(text("what was read", size=SMALL, bold=True), given, gap=6),
            column(text("texts drawn again: the mean may leap", size=SMALL, bold=True), by_text, gap=6),
            column(text("pieces drawn again: it hardly moves", size=SMALL, bold=True), mixed(), gap=6),
        ]
        if narrow:
            return column(*blocks, gap=18)
        return column(blocks[0], row(*blocks[1:], gap=40), gap=18)

    draw(
        arrange,
        alt="Three texts as bars, the nats of their pieces: all low in the first, all high in the second. "
        "Drawn again text by text, the hard one may come twice. Drawn again piece by piece, all heights are "
        "mixed, and the mean hardly moves.",
    )


def winner(steps: Mapping[str, float]) -> None:
    """`winner({"as chosen": 0.05, "on new text": 0.04, "from new seeds": 0.0})`: what is left of a win."""
    most = max(steps.values())

    def arrange(narrow: bool) -> Part:
        wide = 200.0 if narrow else 330.0
        left = 0.0 if narrow else 200.0
        high = 50.0 if narrow else 34.0
        marks = ""
        for number, ((name, gain), colour) in enumerate(
            zip(steps.items(), ("key", "query", "value"), strict=True)
        ):
            top = high * number
            y = top + (18 if narrow else 0)
            marks += label(0, top + (13 if narrow else 17), name, size=SMALL, anchor="start")
            length = max(1.0, wide * max(0.0, gain) / most)
            marks += rectangle(Place(left, y, length, 24), None, fill=colour, opacity=0.6)
            marks += label(left + length + 8, y + 17, f"{gain:.3f}", size=SMALLEST, anchor="start", bold=True)
        below = left_note(
            "Nats a word by which the best of twenty beats the mean of all.", 320 if narrow else 560
        )
        return over(left + wide + 60, high * len(steps) + 30, marks, (below, 0, high * len(steps) + 8))

    steps = {name: round(gain, 3) + 0.0 for name, gain in steps.items()}  # 0, and not −0
    words = "; ".join(f"{name} {gain:.3f}" for name, gain in steps.items())
    draw(arrange, alt=f"How far the best of twenty trainings that do not differ beats their mean: {words}.")
