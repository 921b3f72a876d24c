"""The drawings from the chapter's idea to “Moving: a device with shapes and no numbers”."""

from collections.abc import Mapping

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    faded,
    grid,
    joined,
    note,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, label, rectangle
from chapters.buffers_parameters_and_plain_tensors.drawings.pieces import COLOURS

SHORTER = {"parameter": "par.", "frozen": "froz.", "buffer": "buf.", "unsaved": "uns.", "plain": "plain"}


def _held(kind: str, width: float = 86) -> Part:
    return box(text(kind, size=SMALL), colour=COLOURS[kind], learned=True, width=width, padding=6)


def _drawer(title: str, *kinds: str) -> Part:
    return panel(column(*(_held(kind) for kind in kinds), gap=6), title)


# ---- the idea: drawers that move, and what lies outside ----
def drawers(moving: bool = False) -> None:
    """`drawers()` shows which drawer holds which of the five; `drawers(moving=True)` what a move takes "
    "along."""

    def model(narrow: bool) -> Part:
        both = _drawer("parameters()", "parameter", "frozen"), _drawer("buffers()", "buffer", "unsaved")
        return row(*both, gap=10)

    def arrange(narrow: bool) -> Part:
        if not moving:
            outside = panel(column(_held("plain"), note("in no drawer"), gap=6), "outside")
            return across(narrow, model(narrow), outside, gap=24)
        here = panel(column(model(narrow), _held("plain"), gap=10), "the model, on the CPU", name="here")
        ghost = faded(box(text("plain?", size=SMALL), width=86, padding=6))
        there = panel(column(model(narrow), ghost, gap=10), "on the second device", name="there")
        whole = column(here, there, gap=44) if narrow else row(here, there, gap=120)
        return joined(whole, Arrow("here", "there", ".to(device)"))

    draw(
        arrange,
        alt="A model on the CPU: a drawer of parameters, a drawer of buffers, and a plain tensor in "
        "neither. An arrow, "
        ".to(device), leads to the same model on a second device: both drawers have come along, the plain "
        "tensor has not."
        if moving
        else "Two drawers: parameters() holds the parameter and the frozen one, buffers() the buffer and "
        "the unsaved one. The plain tensor lies outside, in no drawer.",
    )


# ---- rows of answers ----
def answers(found: Mapping[str, Mapping[str, bool]]) -> None:
    """`answers({"state_dict()": {"parameter": True, "plain": False}})` is a row for each, with ✓ and ✗."""
    kinds = list(next(iter(found.values())))

    def arrange(narrow: bool) -> Part:
        wide, high, left = (34.0, 30.0, 158.0) if narrow else (84.0, 30.0, 180.0)
        width, top = left + wide * len(kinds), 26.0
        placed: list[tuple[Part, float, float] | str] = []
        for j, kind in enumerate(kinds):
            words = text(SHORTER[kind] if narrow else kind, size=12 if narrow else SMALL)
            placed.append((words, left + wide * (j + 0.5) - words.width / 2, 2))
        for i, (operation, yes) in enumerate(found.items()):
            code = "(" in operation
            size = 12 if narrow or code else SMALL
            placed.append(
                label(left - 8, top + high * (i + 0.5) + 5, operation, size=size, anchor="end", code=code)
            )
            for j, kind in enumerate(kinds):
                colour = "green" if yes[kind] else "faint"
                place = Place(left + wide * j + 2, top + high * i + 2, wide - 4, high - 4)
                placed.append(
                    rectangle(place, colour, fill="green" if yes[kind] else None, opacity=0.16, corner=4)
                )
                mark = text("✓" if yes[kind] else "✗", colour="green" if yes[kind] else "grey")
                placed.append(
                    (
                        mark,
                        place.left + place.width / 2 - mark.width / 2,
                        place.top + (place.height - mark.height) / 2,
                    )
                )
        return over(width, top + high * len(found), *placed)

    said = "; ".join(
        f"{operation}: {', '.join(kind for kind in kinds if yes[kind]) or 'none'}"
        for operation, yes in found.items()
    )
    draw(arrange, alt=f"For each operation, which of the five ways to hold a tensor it reaches. {said}.")


# ---- a mask on the wrong side ----
def stray(mask: Tensor) -> None:
    """`stray(mask)` draws scores on a second device, and the mask that stayed on the CPU."""
    cells = [["see" if may else "" for may in each] for each in mask.tolist()]

    def arrange(narrow: bool) -> Part:
        scores = grid([["?"] * len(cells)] * len(cells), title="scores", colour="key", cell=(40, 28))
        there = panel(column(scores, note("shapes, no numbers"), gap=4), "second device", name="there")
        here = panel(
            column(
                grid(cells, title="mask", colour="orange", absent="", cell=(40, 28)),
                note("a plain tensor"),
                gap=4,
            ),
            "CPU",
            name="here",
        )
        whole = column(here, there, gap=44) if narrow else row(here, there, gap=130)
        return joined(whole, Arrow("here", "there", "✗ cannot meet", colour="orange"))

    draw(
        arrange,
        alt="A causal mask, a triangle of cells that may be seen, on the CPU. The scores that it should "
        "hide are on a second device: the two cannot meet.",
    )
