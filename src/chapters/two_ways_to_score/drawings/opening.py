"""The drawings of the chapter's idea and “Four formulas, three scores”."""

from collections.abc import Sequence

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    operator,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import Side


def bottleneck(source: Sequence[str], target: Sequence[str], writes: int, shares: Sequence[float]) -> None:
    """`bottleneck(["the", "dog"], ["le", "chien"], 1, [0.1, 0.9])` is one last state, and a look at all."""

    def arrange(narrow: bool) -> Part:
        def read(name: str) -> Part:
            states = [
                column(
                    text(word),
                    box(f"h_{place}", name=f"{name} {place}", colour="key", learned=True),
                    gap=4,
                )
                for place, word in enumerate(source, start=1)
            ]
            arrows = [Arrow(f"{name} {place}", f"{name} {place + 1}") for place in range(1, len(source))]
            return joined(row(*states, gap=20 if narrow else 24), *arrows)

        written = [text(word, colour="output", bold=place == writes) for place, word in enumerate(target)]
        squeezed = box("s", name="one", colour="query", learned=True)
        first = column(
            read("last"),
            row(column(squeezed, row(*written), gap=14), note("one vector must hold it all", width=90)),
            gap=40,
        )
        first = joined(first, Arrow(f"last {len(source)}", "one", sides=("bottom", "top")))
        asking = box("s", name="asks", colour="query", learned=True)
        second = column(
            read("all"),
            row(
                column(asking, row(*written), gap=14),
                note(f"“{target[writes]}” looks back at all of them", width=90),
            ),
            gap=40,
        )
        bands = (
            Arrow("asks", f"all {place}", colour="query", weight=share, sides=("top", "bottom"))
            for place, share in enumerate(shares, start=1)
        )
        second = joined(second, *bands)
        panels = panel(first, "before attention"), panel(second, "with attention")
        return across(narrow, *panels, gap=16)

    draw(
        arrange,
        alt=f"Twice the words “{' '.join(source)}” are read into three states, and “{' '.join(target)}” is "
        "written. Before attention, an arrow leads from the last state alone to the writer. With "
        "attention, lines lead from the writer to all three states, the thickest, while it writes "
        f"“{target[writes]}”, to “{source[writes]}”.",
    )


def two_networks(d: int, hidden: int) -> None:
    """`two_networks(4, 6)` has the dot product and the additive score as small networks, with shapes."""

    def arrange(narrow: bool) -> Part:
        cell = (20, 17)

        def stack(name: str, size: int, colour: str, words: str) -> Part:
            return grid([[""]] * size, name=name, title=words, colour=colour, cell=cell, shape=f"({size})")

        product = joined(
            row(
                column(stack("q", d, "query", "q"), stack("k", d, "key", "k"), gap=4),
                operator("× and +", name="times"),
                box("score", name="product", colour="output"),
                gap=30,
            ),
            Arrow("q", "times", sides=("right", "left")),
            Arrow("k", "times", sides=("right", "left")),
            Arrow("times", "product"),
        )
        reading = column(
            row(stack("asked", d, "query", "q"), box("W", name="W", colour="query", learned=True), gap=24),
            row(stack("offered", d, "key", "k"), box("U", name="U", colour="key", learned=True), gap=24),
            gap=4,
        )
        squash = operator("+, tanh", name="tanh")
        hidden_stack = stack("hidden", hidden, "grey", "hidden")
        vector_box = box("v", name="v", colour="output", learned=True)
        score = box("score", name="score", colour="output")
        if narrow:
            within = column(
                row(reading, squash, hidden_stack, gap=22), row(vector_box, score, gap=20), gap=22
            )
            leave: tuple[Side, Side] = ("bottom", "top")
        else:
            within = row(reading, squash, hidden_stack, vector_box, score, gap=22)
            leave = ("right", "left")
        network = joined(
            within,
            Arrow("asked", "W"),
            Arrow("offered", "U"),
            Arrow("W", "tanh", sides=("right", "left")),
            Arrow("U", "tanh", sides=("right", "left")),
            Arrow("tanh", "hidden", sides=("right", "left")),
            Arrow("hidden", "v", sides=leave),
            Arrow("v", "score"),
        )
        left = panel(column(product, note("nothing to learn"), gap=8), "dot product")
        right = panel(column(network, note("tinted boxes are learned"), gap=8), "additive")
        return across(narrow, left, right, gap=14)

    draw(
        arrange,
        alt=f"Left, the dot product: q and k, each of {d} numbers, are multiplied and added up to one "
        "score. Right, the additive score: a learned matrix W reads q and another, U, reads k; their sum "
        f"goes through tanh, which gives {hidden} hidden numbers, and a learned vector v makes one score of "
        "them.",
    )
