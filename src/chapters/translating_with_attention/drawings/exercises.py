"""The drawings of “Exercises”."""

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    row,
)
from chapters.translating_with_attention.drawings.pieces import SOURCE, TARGET


# ---- exercises ----
def company() -> None:
    """`company()` has a short sentence beside a long one, with its padding."""

    def arrange(narrow: bool) -> Part:
        cell = (58.0, 28.0) if narrow else (72.0, 28.0)
        rows = [["the", "cat", "sleeps", "padding", "padding"], ["the", "cat", "will", "see", "dogs"]]
        words = grid(rows, colour="key", cell=cell, absent="padding")
        return column(words, note("the first must not look behind its end"), gap=8)

    draw(arrange, alt="Two sentences in one batch: “the cat sleeps” has two places of padding behind it.")


def decoder_parts() -> None:
    """`decoder_parts()` has the parts of the decoder that is to be written, by their names."""

    def arrange(narrow: bool) -> Part:
        gap = 22 if narrow else 40
        asks = box("s_{t−1}", name="before", colour="query", learned=True)
        keys = box("h_1 … h_S", name="memory", colour="key", learned=True)
        score = box("v · tanh(W s + U h)", name="score")
        context = box("c_t", name="context", colour="output")
        given = box("embedding", name="given", learned=True)
        step = box("gru", name="step", colour="query", learned=True)
        read = box("word", name="read", colour="output", learned=True)
        top = row(asks, keys, gap=gap)
        bottom = row(given, step, read, gap=gap)
        arrows = (
            Arrow("before", "score", colour="query", sides=("bottom", "top")),
            Arrow("memory", "score", colour="key", sides=("bottom", "top")),
            Arrow("score", "context", "softmax, mix", sides=("bottom", "top")),
            Arrow("context", "step", colour="output", sides=("bottom", "top")),
            Arrow("context", "read", colour="output", sides=("right", "top")),
            Arrow("given", "step", sides=("right", "left")),
            Arrow("step", "read", "s_t", colour="query", sides=("right", "left")),
        )
        return joined(column(top, score, context, bottom, gap=28), *arrows)

    draw(
        arrange,
        alt="The state before the step and the encoder's states meet in the score v · tanh(W s + U "
        "h). Its softmax "
        "mixes the context. Context and embedded word go into gru, which makes the new state; state and "
        "context go into word.",
    )


def reads() -> None:
    """`reads()` has a written word that looks at one word and reads another."""

    def arrange(narrow: bool) -> Part:
        gap = 30 if narrow else 60
        source = row(*(box(word, name=word, colour="key", learned=True) for word in SOURCE), gap=gap)
        target = row(*(box(word, name=word, colour="output", learned=True) for word in TARGET), gap=gap)
        looking = Arrow("la", "the", colour="query", weight=0.8, sides=("top", "bottom"))
        reading = Arrow("cat", "la", colour="ink", sides=("bottom", "top"))
        words = note("thick: where “la” looks. Arrow: what changes “la” when it is replaced.", width=270)
        return column(joined(column(source, target, gap=50), looking, reading), words, gap=10)

    draw(
        arrange,
        alt="“la” looks at “the”, by a thick line. But an arrow leads to it from “cat”: replace "
        "“cat”, and “la” "
        "changes.",
    )
