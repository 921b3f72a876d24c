"""A card for each patient: its losses beside the healthy ones, and the ill line beside what mends it."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.drawings import Part, across, column, draw, note, over, row
from bookkit.pictures.svg import (
    LINE,
    SMALL,
    SMALLEST,
    Anchor,
    Place,
    broken,
    circle,
    curve,
    label,
    line,
    polygon,
    rectangle,
)
from chapters.fourteen_patients.checked import Asked
from chapters.fourteen_patients.patients import (
    BY_NAME,
    EVERY_TRAINING,
    EVERY_VALIDATION,
    PATIENTS,
    UPDATES,
    Curves,
    curves,
    looks_better,
    trains_alike,
)

WIDE, HIGH, LEFT, TOP = 270, 100, 28, 24  # pixels of a panel, without its axes
STRIP, CODE_WIDTH = 310, 345
STOPPED = {"half precision"}  # what is NaN from the first update on has no curve
# Nobody shall read the order of the page off the drawing.
IN_THE_WARD = [PATIENTS[(5 * place + 3) % len(PATIENTS)] for place in range(len(PATIENTS))]
ILL, WELL = "orange", "blue"
BROAD = 5  # so that what should be is still seen where what is lies on it


def ward() -> None:
    """`ward()` has the training losses of all fourteen, without their names, each beside its healthy one."""

    def small(name: str, of: str) -> Part:
        width, height, highest = 86, 58, 4.5

        def points(of_whom: str) -> list[tuple[float, float]]:
            means = curves(of_whom).training.mean(0).tolist()
            step = (width - 6) / (len(means) - 1)
            return [
                (3 + step * place, height * (1 - min(loss, highest) / highest))
                for place, loss in enumerate(means)
            ]

        marks = line(0, 0, 0, height, width=1) + line(0, height, width, height, width=1)
        marks += curve(points(of), colour=WELL, width=BROAD)
        if name in STOPPED:
            return over(width, height + 4, marks, label(width / 2, 20, "NaN", size=SMALL, colour=ILL))
        return over(width, height + 4, marks + curve(points(name), colour=ILL, width=2))

    def arrange(narrow: bool) -> Part:
        each = [small(patient.name, patient.of) for patient in IN_THE_WARD]
        across_page = 3 if narrow else 7
        rows = [row(*each[first : first + across_page]) for first in range(0, len(each), across_page)]
        return column(*rows, gap=14, align="left")

    draw(
        arrange,
        alt="Fourteen small panels without names: the training losses of a patient, and those of the healthy "
        "model. Some fall too far, some stop early, one begins beyond the panel's top, one is NaN, and "
        "three lie on the healthy curve, or nearly.",
    )


def summed_up(asked: Mapping[str, Asked]) -> None:
    """`summed_up(asked())` marks who looks better than healthy, and whom `checkup` names."""
    side = 22.0
    better = [looks_better(patient) for patient in PATIENTS]
    named = [bool(asked[patient.name].inquiry) for patient in PATIENTS]
    strips = {
        "end at least 0.3 nats below the healthy one": (better, ILL),
        "named by checkup": (named, WELL),
    }

    def strip(marked: Sequence[bool], colour: str) -> Part:
        marks = ""
        for place, mark in enumerate(marked):
            cell = Place(side * place, 0, side, side)
            marks += rectangle(cell, "grey", fill=colour if mark else None, opacity=0.4)
            marks += label(side * (place + 0.5), 15, str(place + 1), size=SMALLEST)
        return over(side * len(marked), side, marks)

    def arrange(narrow: bool) -> Part:
        return column(
            *(
                part
                for words, (marked, colour) in strips.items()
                for part in (note(words), strip(marked, colour))
            ),
            gap=4,
            align="left",
        )

    told = "; ".join(
        f"{words}: {', '.join(str(place) for place, mark in enumerate(marked, 1) if mark)}"
        for words, (marked, _) in strips.items()
    )
    draw(arrange, alt=f"The fourteen patients by number. {told}.")


def card(*names: str, highest: float = 4.5, ticks: Sequence[float] = (0, 1, 2, 3, 4)) -> None:
    """`card("off by one")` has losses up to `highest`, and two lines of code; two patients share a panel."""
    ill = [(BY_NAME[name], hue) for name, hue in zip(names, (ILL, "purple"), strict=False)]
    healthy = ill[0][0].of
    # By their numbers, where there are two.
    marks = [f"{PATIENTS.index(patient) + 1}, " if len(ill) > 1 else "" for patient, _ in ill]

    def arrange(narrow: bool) -> Part:
        wide = STRIP if narrow else CODE_WIDTH
        lines = [
            code(f"{mark}{word}", words, hue, wide)
            for mark, (patient, colour) in zip(marks, ill, strict=True)
            for word, words, hue in (("ill", patient.ill, colour), ("mended", patient.mended, WELL))
        ]
        shown = [(curves(patient.name), colour) for patient, colour in ill]
        panel = losses([(curves(healthy), WELL), *shown], highest, ticks)
        return across(narrow, panel, column(*lines, gap=10, align="left"), gap=24)

    told = [f"{mark}ill: {last(curves(patient.name))}" for mark, (patient, _) in zip(marks, ill, strict=True)]
    alike = all(trains_alike(patient) for patient, _ in ill)
    on_one_another = ["The training lines lie on one another."] if alike else []
    code_of = [
        f"{mark.capitalize()}Ill: {patient.ill}. Mended: {patient.mended}."
        for mark, (patient, _) in zip(marks, ill, strict=True)
    ]
    draw(
        arrange,
        alt=f"Losses over {UPDATES} updates, three seeds each. At the end, {'; '.join(told)}; "
        f"well: {last(curves(healthy))}. {' '.join([*on_one_another, *code_of])}",
    )


def last(each: Curves) -> str:
    """`last(curves("healthy"))` says where the losses end, in words."""
    return f"training {each.last_training().mean():.2f}, validation {each.last().mean():.2f} nats a letter"


def losses(shown: Sequence[tuple[Curves, str]], highest: float, ticks: Sequence[float]) -> Part:
    """`losses([(curves("healthy"), "blue")], 4.5, [0, 2, 4])`: lines of training, dots of validation."""

    def across_at(update: float) -> float:
        return LEFT + WIDE * update / UPDATES

    def down_at(loss: float) -> float:
        return TOP + HIGH * (1 - min(loss, highest) / highest)

    marks = label(0, 14, "nats a letter", size=SMALLEST, colour="grey", anchor="start")
    for tick in ticks:
        marks += line(LEFT, down_at(tick), LEFT + WIDE, down_at(tick), colour="faint", width=1)
        marks += label(LEFT - 6, down_at(tick) + 4, f"{tick:g}", size=SMALLEST, colour="grey", anchor="end")
    for update in (0, UPDATES // 2, UPDATES):
        words = f"{update} updates" if update == UPDATES else str(update)
        anchor: Anchor = "end" if update == UPDATES else "middle"
        marks += label(across_at(update), TOP + HIGH + 16, words, size=SMALLEST, colour="grey", anchor=anchor)
    for each, colour in shown:
        updates = [EVERY_TRAINING * (place + 0.5) for place in range(each.training.shape[1])]
        marks += band(each.training, [across_at(update) for update in updates], down_at, colour)
    for each, colour in shown:
        means = each.validation.mean(0).tolist()
        for place, loss in enumerate(means, 1):
            dot = across_at(EVERY_VALIDATION * place), down_at(loss)
            marks += circle(*dot, 4.5 if colour == WELL else 2.5, colour=colour, fill=colour)
    return over(LEFT + WIDE + 4, TOP + HIGH + 20, marks)


def band(rows: Tensor, places: Sequence[float], down_at, colour: str) -> str:  # type: ignore[no-untyped-def]
    """`band(losses, places, down_at, "blue")` is the mean over seeds, in a band from lowest to highest."""
    low, high = (list(map(down_at, edge.tolist())) for edge in (rows.amin(0), rows.amax(0)))
    edge = [*zip(places, high, strict=True), *reversed([*zip(places, low, strict=True)])]
    middle = [*zip(places, map(down_at, rows.mean(0).tolist()), strict=True)]
    wide = BROAD if colour == WELL else 2
    return polygon(edge, colour, opacity=0.25) + curve(middle, colour=colour, width=wide)


def code(title: str, words: str, colour: str, width: float) -> Part:
    """`code("ill", "rate = 1e-1", "orange", 340)` is a line of code under its title."""
    lines = broken(words, SMALLEST, width - 12, code=True)
    marks = label(12, 14, title, size=SMALL, colour=colour, anchor="start", bold=True)
    for place, each in enumerate(lines, 1):
        marks += label(12, 14 + SMALLEST * LINE * place, each, size=SMALLEST, anchor="start", code=True)
    height = 20 + SMALLEST * LINE * len(lines)
    marks += line(2, 2, 2, height - 2, colour=colour, width=4)
    return over(width, height, marks)
