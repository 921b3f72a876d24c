"""The drawings of the chapter's idea, “A mask by hand” and “What stands in the place of a hidden score”."""

import math
from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    column,
    draw,
    grid,
    joined,
    note,
    operator,
    row,
    text,
)

WORDS = ("the", "cat", "sat", "<pad>")


HIDDEN = "hidden"  # the words of a cell that stays empty, in a dashed frame


def _table(may_see: Tensor) -> list[list[str]]:
    return [["✓" if shown else HIDDEN for shown in each] for each in may_see.tolist()]


def _numbers(numbers: Tensor, digits: int) -> list[list[str]]:
    return [["NaN" if math.isnan(each) else f"{each:.{digits}f}" for each in one] for one in numbers.tolist()]


# ---- the idea ----
def idea(scores: Tensor, may_see: Tensor) -> None:
    """`idea(scores, may_see)` has scores, mask and weights side by side, for four places."""
    weights = scores.masked_fill(~may_see, -math.inf).softmax(-1)

    def arrange(narrow: bool) -> Part:
        cell = (48.0, 30.0) if narrow else (44.0, 34.0)
        names = {"columns": WORDS, "cell": cell}
        first = grid(scores, title="scores", colour="key", rows=WORDS, digits=1, **names)  # type: ignore[arg-type]
        mask = grid(
            _table(may_see), title="mask", rows=WORDS if narrow else (), absent=HIDDEN,
            shape="may look ✓, or not", **names,  # type: ignore[arg-type]
        )  # fmt: skip
        last = grid(
            [
                [f"{weight:.2f}" if shown else HIDDEN for weight, shown in zip(*each, strict=True)]
                for each in zip(weights.tolist(), may_see.tolist(), strict=True)
            ],
            title="weights", colour="query", rows=WORDS if narrow else (), absent=HIDDEN,
            shape="each row sums to 1", **names,  # type: ignore[arg-type]
        )  # fmt: skip
        pieces = [first, operator("hide"), mask, operator("softmax"), last]
        return column(*pieces, gap=10) if narrow else row(*pieces, gap=10)

    draw(
        arrange,
        alt="Three grids for the places the, cat, sat and a filler: a row for each query, a column for each "
        "key. The scores; the mask, which lets each word look at itself and at the words before it, and "
        "nobody at the filler; and the weights, which are empty where the mask hides and sum to 1 in "
        "every row.",
    )


# ---- two masks make one ----
def combined(causal: Tensor, padding: Tensor, both: Tensor) -> None:
    """`combined(causal, padding, both)` has a mask over pairs, one over keys, and what both allow."""

    def arrange(narrow: bool) -> Part:
        cell = (48.0, 28.0) if narrow else (43.0, 28.0)

        def one(table: Tensor, title: str, words: str, rows: Sequence[str]) -> Part:
            return grid(
                _table(table), title=title, rows=rows, columns=WORDS, cell=cell, absent=HIDDEN, shape=words
            )

        parts = (
            one(causal, "causal", "nothing that comes later", WORDS),
            operator("and"),
            one(padding[None], "padding", "no filler, for any query", ("all",)),
            operator("="),
            one(both, "both", "what both allow", WORDS if narrow else ()),
        )
        return column(*parts, gap=10) if narrow else row(*parts, gap=8)

    draw(
        arrange,
        alt="A causal mask of four by four, ticks on and below its diagonal; a padding mask of one row for "
        "all queries, ticks for three words and none for the filler; and the two combined, ticks only "
        "where both have one.",
    )


# ---- after the softmax, and before ----
def too_late(late: Tensor, early: Tensor) -> None:
    """`too_late(late, early)` has weights masked after the softmax beside those masked before it."""

    def one(weights: Tensor, title: str, words: str, rows: Sequence[str], cell: tuple[float, float]) -> Part:
        table = grid(weights, title=title, rows=rows, columns=WORDS, colour="query", shaded=True, cell=cell)
        sums = grid(weights.sum(-1, keepdim=True), columns=["sum"], cell=(52, cell[1]))
        return column(row(table, sums, gap=14, align="bottom"), note(words), gap=6)

    def arrange(narrow: bool) -> Part:
        cell = (46.0, 30.0)
        left = one(late, "softmax, then mask", "what is hidden has still been counted", WORDS, cell)
        right = one(early, "mask, then softmax", "what is hidden counts for nothing", WORDS, cell)
        return across(narrow, left, right, gap=26)

    sums = ", ".join(f"{each:.2f}" for each in late.sum(-1).tolist())
    draw(
        arrange,
        alt=f"Two grids of weights with the sums of their rows. Masked after the softmax, the rows sum to "
        f"{sums}. Masked before it, every row sums to 1.",
    )


# ---- a row that hides everything ----
def empty_row(ways: Mapping[str, Tensor]) -> None:
    """`empty_row({"-1e9": weights})` is what each way makes of a query that may look at nothing."""
    remarks = ("a quarter of each thing that was hidden", "not a number", "nothing to see, nothing said")

    def arrange(narrow: bool) -> Part:
        lines = [
            column(
                text(name, bold=True),
                grid(_numbers(weights[None], 2), colour="query", cell=(54, 32)),
                note(words),
                gap=5,
            )
            for (name, weights), words in zip(ways.items(), remarks, strict=True)
        ]
        return column(*lines, gap=18) if narrow else row(*lines, gap=22)

    told = "; ".join(f"{name}: {', '.join(_numbers(each[None], 2)[0])}" for name, each in ways.items())
    draw(arrange, alt=f"The weights of a query to which all four keys are hidden. {told}.")


def spreading(layers: Sequence[Tensor]) -> None:
    """`spreading([nan_after_1, nan_after_2])` shows which places are not a number, from layer to layer."""
    places = ("<pad>", "<pad>", "the", "cat", "sat")
    stages = [("words in", [False] * len(places))]
    stages += [(f"after layer {count}", each.tolist()) for count, each in enumerate(layers, start=1)]

    def stack(name: str, title: str, cells: Sequence[Sequence[str]], high: float) -> Part:
        return grid(cells, name=name, title=title, colour="orange", cell=(84, high), absent="")

    def arrange(narrow: bool) -> Part:
        if narrow:
            rows = [["NaN" if lost[i] else "fine" for _, lost in stages] for i in range(len(places))]
            table = grid(
                rows, rows=places, columns=["in", "layer 1", "layer 2"], cell=(72, 30), colour="grey"
            )
            return column(table, note("a weight of 0 does not help: 0 · NaN = NaN", width=300), gap=8)
        parts = [
            grid(
                [["NaN"] if bad else ["fine"] for bad in lost],
                name=title,
                title=title,
                rows=places if number == 0 else (),
                colour="orange" if number else "grey",
                cell=(84, 30),
            )
            for number, (title, lost) in enumerate(stages)
        ]
        whole = row(*parts, gap=72)
        arrows = [
            Arrow("words in.0.0", "after layer 1.0.0", sides=("right", "left")),
            Arrow("words in.1.0", "after layer 1.1.0", sides=("right", "left")),
        ]
        arrows += [
            Arrow("after layer 1.0.0", f"after layer 2.{i}.0", colour="orange", sides=("right", "left"))
            for i in range(5)
        ]
        return column(joined(whole, *arrows), note("a weight of 0 does not help: 0 · NaN = NaN"), gap=8)

    draw(
        arrange,
        alt="Five places, two of filler at the front and three words. After the first layer the two places "
        "of filler are not a number. After the second layer all five are.",
    )
