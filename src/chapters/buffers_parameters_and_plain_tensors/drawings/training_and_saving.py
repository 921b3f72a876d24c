"""The drawings from “Training: who gets changed?” to “Loading: who decides?”."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.drawings import (
    Part,
    box,
    column,
    draw,
    grid,
    over,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle
from chapters.buffers_parameters_and_plain_tensors.drawings.pieces import COLOURS


# ---- two questions ----
def two_questions() -> None:
    """`two_questions()` puts four tensors into two by two places: on the list, and wanting a gradient."""

    def arrange(narrow: bool) -> Part:
        cell = (112.0, 44.0) if narrow else (210.0, 44.0)
        return grid(
            [["parameter", "odd buffer"], ["frozen", "buffer"]],
            rows=["gradient", "none"] if narrow else ["wants a gradient", "wants none"],
            columns=["listed", "not listed"] if narrow else ["in parameters()", "not in parameters()"],
            colour="blue",
            cell=cell,
        )

    draw(
        arrange,
        alt="Two questions, four answers. In parameters() and wanting a gradient: a parameter. In it and "
        "wanting none: a "
        "frozen parameter. Not in it and wanting one: an odd buffer. Not in it and wanting none: a buffer.",
    )


# ---- bytes in a file ----
def files(megabytes: Mapping[str, tuple[float, float]]) -> None:
    """`files({"with the table": (1.05, 10.24)})` draws each file as a bar: the layer, then the table."""

    def arrange(narrow: bool) -> Part:
        left, unit = (0.0, 25.0) if narrow else (190.0, 40.0)
        marks: list[tuple[Part, float, float] | str] = []
        top = 0.0
        for name, (layer, table) in megabytes.items():
            marks.append(label(0, top + (13 if narrow else 20), name, size=SMALL, anchor="start"))
            top += 20 if narrow else 0
            if layer:
                marks.append(rectangle(Place(left, top, layer * unit, 30), "blue", fill="blue", opacity=0.3))
            if table:
                place = Place(left + layer * unit, top, table * unit, 30)
                marks.append(rectangle(place, "green", fill="green", opacity=0.2))
                inside = text(
                    f"{table:.2g} MB of table" if table < 1 else f"{table:.1f} MB of table", size=SMALL
                )
                at = place.left + max(6, (place.width - inside.width) / 2) if table > 3 else place.right + 8
                marks.append((inside, at, top + 6))
            else:
                marks.append(
                    (text(f"{layer:.2f} MB, a linear layer", size=SMALL), left + layer * unit + 8, top + 6)
                )
            top += 42
        return over(left + 11.4 * unit, top - 8, *marks)

    said = "; ".join(f"{name}: {layer:.2f} and {table:.2f} MB" for name, (layer, table) in megabytes.items())
    draw(arrange, alt=f"Files as bars, the layer's part and the table's. {said}.")


# ---- which mask survives ----
def survivors(altered: Tensor, fresh: Tensor, found: Mapping[str, Tensor]) -> None:
    """`survivors(altered, fresh, {"persistent": mask})` draws the file's mask, the code's, and who won."""

    def one(mask: Tensor, title: str, words: str = "") -> Part:
        cells = [["see" if may else "" for may in each] for each in mask.tolist()]
        colour = "orange" if torch.equal(mask, altered) else "green"
        return grid(cells, title=title, colour=colour, absent="", cell=(36, 26), shape=words)

    def arrange(narrow: bool) -> Part:
        made = row(one(altered, "in the file"), one(fresh, "in the code"), gap=24)
        won = [
            one(mask, "after loading", f"{name}: the {'file' if torch.equal(mask, altered) else 'code'} wins")
            for name, mask in found.items()
        ]
        if narrow:
            return column(made, row(*won, gap=8), gap=20)
        return row(made, line_between(), row(*won, gap=24), gap=28)

    draw(
        arrange,
        alt="Two masks: the file's, altered so that every word sees every word, and the code's, which is "
        "causal. After loading, a persistent buffer holds the file's, and one with persistent=False the "
        "code's.",
    )


def line_between() -> Part:
    """`line_between()` parts what was from what came of it."""
    return over(2, 120, line(1, 0, 1, 120, dashed=True))


# ---- the rule ----
def rule(decides: Mapping[str, Sequence[str]]) -> None:
    """`rule({"the gradient": ["a parameter", "parameter"]})` leads from who decides to what to write."""

    def arrange(narrow: bool) -> Part:
        question = box("who decides what is in it?", name="question")
        pairs = []
        for who, (what, kind) in decides.items():
            answer = text(who, size=SMALL).named(f"{who} says")
            held = box(text(what, size=SMALL), name=who, colour=COLOURS[kind], learned=True, padding=7)
            pairs.append(row(answer, "→", held, gap=8) if narrow else column(answer, held, gap=6))
        if narrow:
            return column(question, *pairs, gap=12)
        whole = column(question, row(*pairs, gap=22, align="top"), gap=34)
        x, y = whole.places["question"].point("bottom")
        ends = [whole.places[f"{who} says"].point("top") for who in decides]
        return over(whole.width, whole.height, *(line(x, y, *end) for end in ends), (whole, 0, 0))

    said = "; ".join(f"{who}: {what}" for who, (what, _) in decides.items())
    draw(arrange, alt=f"Who decides what is in a tensor, and how it is then held. {said}.")
