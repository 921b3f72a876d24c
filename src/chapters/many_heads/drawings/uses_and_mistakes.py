"""The drawings of “One layer, three uses”, “Mistakes people make here” and “Exercises”."""

from collections.abc import Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import Side
from chapters.many_heads.drawings.pieces import WORDS


# ---- the three uses ----
def uses(source: Sequence[str], target: Sequence[str]) -> None:
    """`uses(["Ann", "thanked"], ["Anne", "a"])` has an encoder and a decoder, with who may look where."""

    def arrange(narrow: bool) -> Part:
        def looks_at(queries: int, keys: int, causal: bool = False) -> Part:
            cells = [["" if j <= i or not causal else "no" for j in range(keys)] for i in range(queries)]
            return grid(cells, colour="query", cell=(17, 17), absent="no")

        def use(words: str, name: str, pattern: Part, said: str) -> Part:
            return box(column(row(text(words), pattern, gap=12), note(said), gap=4), name=name)

        read = box(" ".join(source), name="source", colour="key")
        half = box(" ".join(target), name="target", colour="query")
        n, m = len(target), len(source)
        itself = use("self-attention", "self", looks_at(m, m), "every word sees every word")
        masked = use("causal\nself-attention", "causal", looks_at(n, n, causal=True), "none sees a later one")
        across = use("cross-attention", "cross", looks_at(n, m), "keys and values: the encoder’s")
        guess = box("the next word", name="next", colour="output", learned=True)
        left = panel(itself, "encoder", name="encoder")
        right = panel(column(masked, across, gap=26), "decoder", name="decoder")
        down: tuple[Side, Side] = ("bottom", "top")
        arrows = [
            Arrow("source", "encoder", colour="key", sides=down),
            Arrow("target", "decoder", colour="query", sides=down),
            Arrow("causal", "cross", colour="query", sides=down),
            Arrow("cross", "next", colour="output", sides=down),
        ]
        second = column(half, right, guess, gap=26)
        if narrow:
            # No arrow finds its way around the decoder: the same words stand at both ends.
            given = box("keys and values", name="given", colour="value")
            whole = column(read, left, given, second, gap=26)
            memory = Arrow("encoder", "given", colour="value", sides=down)
        else:
            whole = row(column(read, left, gap=26), second, gap=90, align="top")
            memory = Arrow("self", "cross", colour="value", sides=("right", "left"))
        return joined(whole, *arrows, memory)

    draw(
        arrange,
        alt=f"An encoder reads “{' '.join(source)}” with self-attention: every word sees every word. A "
        f"decoder holds “{' '.join(target)}”: causal self-attention, where a word sees itself and those "
        "before it, and then cross-attention, whose queries are the decoder's and whose keys and values "
        "come from the encoder. Out comes the next word.",
    )


# ---- exercises ----
def side_by_side(pieces: Tensor) -> None:
    """`side_by_side(pieces)` has the heads' answers, (heads, T, d_k) places, and the words they belong to."""
    names = [f"{word[0]}_{number}" for word in WORDS for number in range(1, 5)]

    def arrange(narrow: bool) -> Part:
        cell = (35.0, 28.0)
        heads = row(
            *(
                grid(
                    [[names[int(place)] for place in line] for line in head.tolist()],
                    title=f"head {number}",
                    rows=WORDS if number == 1 else (),
                    colour="output",
                    cell=cell,
                )
                for number, head in enumerate(pieces, start=1)
            ),
            gap=24,
        )
        whole = grid(
            [["?"] * 4 for _ in WORDS],
            title="joined",
            rows=WORDS if narrow else (),
            colour="output",
            cell=cell,
        )
        return column(heads, "↓", whole, gap=8) if narrow else row(heads, "→", whole, gap=24)

    draw(
        arrange,
        alt="Two heads, a row for each of the words Ann, thanked and Bob: head 1 has the numbers 1 and 2 of "
        "each word, head 2 the numbers 3 and 4. What stands where once they are joined is for the reader to "
        "say.",
    )


def jobs() -> None:
    """`jobs()` has heads that write through W_O, one of them taken away."""

    def arrange(narrow: bool) -> Part:
        heads = column(
            *(
                box(f"head {number}", name=f"head {number}", colour="output", learned=number != 2)
                for number in range(1, 5)
            ),
            gap=10,
        )
        mix = box("W_O", name="W_O", colour="output", learned=True)
        said = column(
            *(box(f"neighbour {number}", name=f"asked {number}") for number in (1, 2, 3)),
            gap=16,
        )
        whole = row(heads, mix, said, gap=34 if narrow else 90)
        kept = [
            Arrow(f"head {number}", "W_O", colour="output", sides=("right", "left")) for number in (1, 3, 4)
        ]
        gone = [Arrow("head 2", "W_O", colour="faint", dashed=True, sides=("right", "left"))]
        out = [Arrow("W_O", f"asked {number}", sides=("right", "left")) for number in (1, 2, 3)]
        return column(joined(whole, *kept, *gone, *out), note("without head 2: whose name is lost?"), gap=8)

    draw(
        arrange,
        alt="Four heads write through the output matrix W_O, from which the names of three neighbours are "
        "read. The arrow from head 2 is broken off: whose name is lost without it?",
    )
