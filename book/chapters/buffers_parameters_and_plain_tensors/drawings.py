"""The drawings, made from what the chapter's cells found."""

from collections.abc import Mapping, Sequence

import torch
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
from bookkit.pictures.svg import SMALL, Place, label, line, rectangle

SHORTER = {"parameter": "par.", "frozen": "froz.", "buffer": "buf.", "unsaved": "uns.", "plain": "plain"}
COLOURS = {"parameter": "blue", "frozen": "blue", "buffer": "green", "unsaved": "green", "plain": "orange"}


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


# ---- a model whose bytes are counted ----


def to_count() -> None:
    """`to_count()` draws the parts of a model as boxes with their shapes; a line ties two of them."""

    def arrange(narrow: bool) -> Part:
        def part(name: str, shape: str, colour: str) -> Part:
            return column(
                box(text(name, size=SMALL), name=name, colour=colour, learned=True, width=110, padding=7),
                note(shape),
                gap=4,
            )

        embedding = part("embedding", "vocabulary × d_{model}", "blue")
        linear = part("linear", "d_{model} × d_{model}, and d_{model}", "blue")
        table = part("table", "length × d_{model}", "green")
        output = part("output", "the same tensor", "blue")
        if narrow:
            whole = row(column(embedding, output, gap=40), column(table, linear, gap=40), gap=10, align="top")
            return (
                column(row(embedding, output, gap=40), table, linear, gap=16) if whole.width > 330 else whole
            )
        return joined(
            row(output, embedding, table, linear, gap=30), Arrow("output", "embedding", "tied", dashed=True)
        )

    draw(
        arrange,
        alt="A model in four parts: an embedding, vocabulary by d_model; an output layer tied to it, the "
        "same tensor; a table, max_length by d_model; and a linear layer, d_model by d_model and d_model "
        "more.",
    )


# ---- a model to make fit for use ----


def to_deploy(tensors: Mapping[str, str]) -> None:
    """`to_deploy({"mask": "made by the code"})` draws a model's tensors as boxes beside what becomes of "
    "it."""

    def arrange(narrow: bool) -> Part:
        held = [
            column(box(text(name, size=SMALL, code=True), colour="orange", learned=True, width=76, padding=6),
                   note(words, width=76), gap=4)
            for name, words in tensors.items()
        ]  # fmt: skip
        inside = (
            column(row(*held[:2], gap=16), row(*held[2:], gap=16), gap=12)
            if narrow
            else row(*held, gap=20, align="top")
        )
        model = panel(inside, "the model", name="model")
        wishes = (
            panel(note("moved · halved · trained · saved · loaded at another length"), name="wishes")
            if not narrow
            else panel(
                note("moved · halved · trained · saved · loaded at another length", width=230), name="wishes"
            )
        )
        return joined(column(model, wishes, gap=34), Arrow("model", "wishes"))

    said = ", ".join(f"{name} ({words})" for name, words in tensors.items())
    draw(
        arrange,
        alt=f"A model with four tensors: {said}. It is to be moved, halved, trained, saved and loaded.",
    )
