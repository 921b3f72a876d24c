"""Small numbers of the block of today: what two norms make of three vectors, and who shares whose keys."""

import torch
from torch.nn import functional as F

from bookkit.pictures.drawings import Part, column, draw, grid, left_note, row

VECTORS = torch.tensor([[3.0, 4.0], [30.0, 40.0], [103.0, 104.0]])
HEADS, GROUPS = 6, 2


def norms() -> None:
    """`norms()` has three vectors, and what two norms make of them; two answers are the reader's to guess."""
    by_rms, by_layer = F.rms_norm(VECTORS, (2,)).tolist(), F.layer_norm(VECTORS, (2,)).tolist()
    first = [f"{number:.2f}" for number in by_rms[0]]

    def arrange(narrow: bool) -> Part:
        cell = (46.0, 26.0) if narrow else (64.0, 28.0)
        vectors = grid(VECTORS.tolist(), title="x", digits=0, cell=cell)
        layer = grid(by_layer, title="LayerNorm", digits=0, colour="output", cell=cell)
        rms = grid([first, ["?", "?"], ["?", "?"]], title="RMSNorm", colour="output", cell=cell)
        return row(vectors, layer, rms, gap=12 if narrow else 40)

    draw(
        arrange,
        alt="Three vectors: (3, 4), (30, 40) and (103, 104). LayerNorm makes (−1, 1) of each. RMSNorm makes "
        f"({', '.join(first)}) of the first; what it makes of the others is left open.",
    )


def groups() -> None:
    """`groups()` has six heads that ask, above two sets of keys and values."""

    def arrange(narrow: bool) -> Part:
        wide = 50.0 if narrow else 70.0
        shared = HEADS // GROUPS
        asking = grid(
            [[str(head) for head in range(HEADS)]], title="heads that ask", colour="query", cell=(wide, 28)
        )
        answering = grid(
            [[str(group) for group in range(GROUPS)]],
            title="keys and values that answer",
            colour="key",
            cell=(wide * shared, 28),
        )
        words = "Each head looks at the keys and values below it."
        both = column(asking, answering, gap=8, align="left")
        return column(both, left_note(words, wide * HEADS), gap=8, align="left")

    draw(
        arrange,
        alt="Six heads that ask, numbered from 0, above two sets of keys and values. Heads 0, 1 and 2 stand "
        "above the first, heads 3, 4 and 5 above the second.",
    )
