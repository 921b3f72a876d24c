"""What one draws the next piece from: the chances as they are, sharpened, and cut in three ways."""

from collections.abc import Sequence
from functools import partial

import torch

from attnlab.decoding import chances
from bookkit.pictures.drawings import Part, column, draw, left_note, over, row
from bookkit.pictures.svg import SMALL, SMALLEST, Place, label, line, rectangle

FIXED = (0.42, 0.2, 0.13, 0.1, 0.06, 0.04, 0.03, 0.02)
WORDS = ("the", "a", "True", "an", "all", "list", "None", "new")  # behind "Return"
WAYS = {
    "temperature 0.5": (partial(chances, temperature=0.5), "all stay, the likely gain"),
    "top-k 3": (partial(chances, top_k=3), "the 3 likeliest"),
    "top-p 0.8": (partial(chances, top_p=0.8), "the fewest that make 0.8"),
    "min-p 0.1": (partial(chances, min_p=0.1), "from 0.1 × the likeliest"),
}


def stays() -> None:
    """`stays()` has the chances of eight pieces, and what is left of them in four ways to draw."""
    left = {name: way(torch.tensor(FIXED).log()).tolist() for name, (way, _) in WAYS.items()}
    longest = max(share for shares in left.values() for share in shares)

    def arrange(narrow: bool) -> Part:
        names, room, step = (44.0, 236.0, 19.0) if narrow else (38.0, 92.0, 21.0)

        def one(name: str) -> Part:
            marks = ""
            for place, (word, before, after) in enumerate(zip(WORDS, FIXED, left[name], strict=True)):
                y, now, was = step * place, room * after / longest, room * before / longest
                middle, end = y + step / 2 + 4, names + was
                strong = "ink" if after else "grey"
                marks += label(names - 7, middle, word, size=SMALLEST, colour=strong, anchor="end")
                if after:
                    bar = Place(names, y + 3, now, step - 6)
                    marks += rectangle(bar, "output", fill="output", opacity=0.45)
                    marks += line(end, y + 1, end, y + step - 1, colour="ink")
                    beside = names + max(now, was) + 6
                    marks += label(beside, middle, _written(after), size=SMALLEST, anchor="start")
                else:
                    marks += rectangle(Place(names, y + 3, was, step - 6), "grey", opacity=0.5, dashed=True)
            bars = over(names + room + 36, step * len(WORDS), marks)
            title = label(0, 13, name, size=SMALL, anchor="start", bold=True)
            title += label(0, 31, WAYS[name][1], size=SMALLEST, colour="grey", anchor="start")
            return over(bars.width, 38 + bars.height, title, (bars, 0, 38))

        panels = [one(name) for name in WAYS]
        key = left_note(
            "A line marks the chance before. What is dashed goes, and what stays is made to come to 1.",
            320 if narrow else 700,
        )
        body = column(*panels, gap=18, align="left") if narrow else row(*panels, gap=14, align="top")
        return column(body, key, gap=12, align="left")

    what = "; ".join(f"{name} leaves {_listed(shares)}" for name, shares in left.items())
    draw(
        arrange,
        alt=f"Behind “Return” eight pieces can follow, with the chances {_listed(FIXED)}. What is drawn "
        f"from: {what}.",
    )


def _written(share: float) -> str:
    return f"{share:.2f}" if share >= 0.005 else "< 0.01"


def _listed(shares: Sequence[float]) -> str:
    """`_listed([0.5, 0.5, 0])` are the words that have a chance, each with it."""
    return ", ".join(f"{word} {_written(share)}" for word, share in zip(WORDS, shares, strict=False) if share)
