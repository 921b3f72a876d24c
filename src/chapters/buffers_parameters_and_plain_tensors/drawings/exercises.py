"""The drawings of “Exercises”."""

from collections.abc import Mapping

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    box,
    column,
    draw,
    joined,
    note,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL


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
