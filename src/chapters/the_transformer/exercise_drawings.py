"""The drawings of the exercises: a model by the names of its parts, a mask behind a cache, and losses."""

from itertools import pairwise

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    box,
    column,
    draw,
    grid,
    joined,
    operator,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, circle, label, line


def _named(name: str, colour: str = "grey") -> Part:
    return box(text(name, size=SMALL, code=True), name=name, colour=colour, learned=True, padding=6)


def _chain(title: str, gap: float, *parts: Part) -> Part:
    """Parts side by side, each with an arrow to the next."""
    names = [f"{title} {place}" for place in range(len(parts))]
    placed = (part.named(name) for part, name in zip(parts, names, strict=True))
    arrows = [Arrow(*pair, sides=("right", "left")) for pair in pairwise(names)]
    return joined(row(*placed, gap=gap), *arrows)


def model_parts() -> None:
    """`model_parts()` has the parts of the whole model, by the names that the check looks for."""

    def arrange(narrow: bool) -> Part:
        gap = 8.0 if narrow else 24.0
        three = column(
            *(_named(name, colour) for name, colour in (("W_Q", "query"), ("W_K", "key"), ("W_V", "value"))),
            gap=4,
        )
        attention = _chain(
            "attention",
            gap,
            _named("norm_1"),
            three,
            operator("softmax"),
            _named("W_O", "output"),
            operator("+ x"),
        )
        feed_forward = _chain(
            "feed-forward",
            gap,
            _named("norm_2"),
            _named("widen"),
            operator("ReLU"),
            _named("narrow"),
            operator("+ x"),
        )
        layer = panel(
            column(attention, feed_forward, gap=14, align="left"), "one of the layers", name="layer"
        )
        begin = _chain(
            "begin",
            gap,
            text("words", size=SMALL),
            _named("embedding"),
            operator("× √d_{model}"),
            operator("+ positions"),
        )
        end = _chain("end", gap, _named("norm"), _named("word"), text("logits", size=SMALL))
        return column(begin, layer, end, gap=14)

    draw(
        arrange,
        alt="Words go through embedding, times the root of d_model, plus positions. Each of the layers has "
        "two rows: norm_1, then W_Q, W_K and W_V, the softmax, W_O, and x is added; norm_2, widen, a ReLU, "
        "narrow, and x is added. At the end norm and word make the logits.",
    )


def pieces() -> None:
    """`pieces()` has two new words behind three that are stored, and what each of the two may see."""
    words = ["the", "king", "near", "the", "dogs"]

    def arrange(narrow: bool) -> Part:
        cell = (50.0, 30.0) if narrow else (64.0, 30.0)
        seen = [["sees"] * 4 + ["hidden"], ["sees"] * 5]
        stored = grid([words[:3]], title="stored", colour="key", cell=cell)
        new = grid([words[3:]], title="new", colour="query", cell=cell)
        mask = grid(seen, rows=["the", "dogs"], colour="query", cell=cell, absent="hidden")
        left = mask.width - 5 * cell[0]
        above = row(stored, new, gap=0)
        return over(mask.width, above.height + 8 + mask.height, (above, left, 0), (mask, 0, above.height + 8))

    draw(
        arrange,
        alt="“the king near” is stored, “the dogs” is new. The mask has a row for each new word and a column "
        "for each of the five: the first new word sees four, the second all five.",
    )


def losses(limit: float, guessing: float) -> None:
    """`losses(1.39, 3.61)` is a line of losses: below the limit, near it, and where guessing is."""

    def arrange(narrow: bool) -> Part:
        wide, high = (310.0, 96.0) if narrow else (640.0, 84.0)

        def x(loss: float) -> float:
            return 20 + (wide - 60) * loss / guessing

        marks = line(x(0), 50, wide - 10, 50, colour="grey", width=2)
        marks += line(x(0), 50, x(limit), 50, colour="query", width=6)
        marks += line(x(limit), 50, x(limit + 0.15), 50, colour="value", width=6)
        for loss, name in ((0.0, "0"), (limit, f"{limit:.2f}"), (guessing, f"{guessing:.2f}")):
            marks += circle(x(loss), 50, 4, fill="ink")
            marks += label(x(loss), 72, name, size=SMALL)
        marks += label(
            x(limit / 2), 30, "it sees the answer" if not narrow else "a leak", size=SMALL, colour="query"
        )
        marks += label(x(limit), 14, "near the limit", size=SMALL, colour="value")
        marks += label(x(guessing), 30, "guessing", size=SMALL, colour="grey", anchor="middle")
        return over(wide, high, marks)

    draw(
        arrange,
        alt=f"A line of losses. At {guessing:.2f} a model guesses; at {limit:.2f} is the limit, and just "
        "above it good models. Below it, down to 0, a model sees the answer.",
    )
