"""The drawings from the chapter's idea to “What a softmax does with large scores”."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    column,
    draw,
    grid,
    joined,
    operator,
    over,
    row,
)
from bookkit.pictures.svg import SMALL, Side, curve, label, line

WORDS = ("the", "cat", "sat", "on", "the", "mat")


# ---- the idea: one query, six keys ----
def idea(scores: Tensor, d_k: int) -> None:
    """`idea(scores, 64)` takes one query's scores through the softmax, as they are and divided by √d_k."""
    divided = scores / math.sqrt(d_k)

    def lane(name: str, numbers: Tensor, title: str, words: str, narrow: bool) -> Part:
        cell = (44.0, 30.0) if narrow else (46.0, 32.0)
        first = grid(
            numbers[None],
            name=f"{name} scores",
            title=title,
            columns=WORDS,
            colour="key",
            digits=1,
            cell=cell,
        )
        step = operator("softmax", name=f"{name} softmax")
        last = grid(
            numbers.softmax(-1)[None], name=f"{name} weights", title="weights", columns=WORDS, colour="query",
            shaded=True, cell=cell, shape=words,
        )  # fmt: skip
        ends: tuple[Side, Side] = ("bottom", "top") if narrow else ("right", "left")
        arrows = (
            Arrow(f"{name} scores", f"{name} softmax", sides=ends),
            Arrow(f"{name} softmax", f"{name} weights", sides=ends),
        )
        whole = column(first, step, last, gap=20) if narrow else row(first, step, last, gap=24)
        return joined(whole, *arrows)

    def arrange(narrow: bool) -> Part:
        above = lane("raw", scores, f"scores q · k, d_k = {d_k}", "one word takes nearly all", narrow)
        below = lane("divided", divided, f"scores ÷ √{d_k}", "every word keeps a say", narrow)
        both = column(above, below, gap=30, align="left")
        down = Arrow("raw scores", "divided scores", "÷ √d_k", sides=("bottom", "top"))
        return both if narrow else joined(both, down)

    draw(
        arrange,
        alt=f"A query's scores with the keys of six words, at d_k = {d_k}. Their softmax gives one word "
        "nearly all the weight. Below, the same scores divided by the root of d_k: every word keeps a part "
        "of the weight.",
    )


# ---- a score is a walk ----
def walks(products: Tensor) -> None:
    """`walks(products)` adds up each row of (walks, steps) coins: every row is one score on its way."""
    count, steps = products.shape
    places = torch.cat([torch.zeros(count, 1), products.cpu().float().cumsum(-1)], dim=-1).tolist()
    root = math.sqrt(steps)

    def arrange(narrow: bool) -> Part:
        wide, high, unit = (210.0, 190.0, 3.7) if narrow else (480.0, 180.0, 4.0)
        middle, left = high / 2, 34.0
        step = wide / steps
        marks = line(left, middle, left + wide, middle, colour="faint")
        for sign in (-1, 1):
            edge = [(left + step * n, middle + sign * unit * math.sqrt(n)) for n in range(steps + 1)]
            marks += curve(edge, colour="orange", width=2.5)
            words = f"{'−' if sign > 0 else '+'}√{steps} = {'−' if sign > 0 else ''}{root:.0f}"
            marks += label(
                left + wide + 10,
                middle + sign * unit * root + 5,
                words,
                colour="orange",
                anchor="start",
                size=SMALL,
            )
        for number, walk in enumerate(places):
            path = [(left + step * n, middle - unit * place) for n, place in enumerate(walk)]
            last = number == count - 1
            marks += curve(path, colour="blue" if last else "grey", width=2.5 if last else 0.7)
        marks += label(left - 6, middle + 5, "0", anchor="end", size=SMALL)
        marks += label(left + wide + 10, middle + 5, "the score", anchor="start", size=SMALL, colour="grey")
        marks += label(
            left + wide / 2,
            high - 2,
            f"{steps} products q_i k_i, one after the other →",
            size=SMALL,
            colour="grey",
        )
        return over(left + wide + 84, high + 4, marks)

    draw(
        arrange,
        alt=f"{count} walks of {steps} steps up or down, each a score that grows product by product. Most "
        f"end not much further from zero than the root of {steps}, {root:.0f}; a curve for the root of the "
        "steps so far goes with them.",
    )


# ---- weights that freeze ----
def freezing(standard: Tensor, lengths: Sequence[int]) -> None:
    """`freezing(standard, [4, 1024])` shows the weights at each d_k, raw and divided."""
    raw = torch.stack([(standard * math.sqrt(d_k)).softmax(-1) for d_k in lengths])
    scaled = standard.softmax(-1).expand(len(lengths), -1)
    names = [f"d_k = {d_k}" for d_k in lengths]

    def arrange(narrow: bool) -> Part:
        cell = (38.0, 30.0) if narrow else (43.0, 32.0)
        left = grid(
            raw, title="weights, raw", rows=names, columns=WORDS, colour="query", shaded=True, cell=cell,
            shape="one word takes over",
        )  # fmt: skip
        right = grid(
            scaled, title="weights, ÷ √d_k", rows=names if narrow else (), columns=WORDS, colour="query",
            shaded=True, cell=cell, shape="the same at every width",
        )  # fmt: skip
        return column(left, right, gap=22) if narrow else row(left, right, gap=40)

    largest = ", ".join(f"{weights.max():.2f}" for weights in raw)
    draw(
        arrange,
        alt=f"One query's weights on six words, a row for each d_k: {', '.join(map(str, lengths))}. Raw, "
        "the largest weight "
        f"grows from row to row: {largest}. Divided by the root of d_k all rows are alike, the largest "
        f"{scaled.max():.2f}.",
    )
