"""What is read here, and what each place of it costs."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.corpora.pieces import Pieces
from attnlab.shapes import Mask
from attnlab.today.model import Today
from attnlab.training.run import row_of

Model = Callable[[Tensor], Tensor]

LENGTH = 1024
ENDS = (128, 256, 512, LENGTH)  # of the ranges of places that are told apart


def eight_windows(texts: Sequence[str], pieces: Pieces) -> tuple[Tensor, Tensor]:
    """`starts, windows = eight_windows(texts, pieces)` are ids (8, 1025), from all over the texts."""
    row = row_of(map(pieces.encode, texts), pieces.end)
    starts = torch.linspace(0, len(row) - LENGTH - 1, 8).long()
    return starts, row[starts[:, None] + torch.arange(LENGTH + 1)]


def by_place(model: Today, windows: Tensor, frequencies: Tensor, visible: Mask | None = None) -> Tensor:
    """`by_place(model, windows, model.frequencies)` are nats a piece by range and window, (4, 8)."""
    model.frequencies = frequencies
    nats = []
    with torch.no_grad():
        for row in windows:
            logits = model(row[None, :-1], visible=visible)[0]  # (1024, 2048)
            nats.append(F.cross_entropy(logits, row[1:], reduction="none"))
    each = torch.stack(nats)  # (8, 1024)
    return torch.stack([each[:, start:end].mean(1) for start, end in pairwise((0, *ENDS))])


def gained_by_repeating(model: Model, windows: Tensor, length: int, back: int, last: int) -> Tensor:
    """`gained_by_repeating(model, windows, 128, back=64, last=32)` are nats a piece, one for each window.

    Of 128 pieces the last 32 are another window's. The gain is what they cost less where the same 32 stand 64
    places before, too. Their first 8 only say which passage it is, and do not count.
    """
    gained = []
    with torch.no_grad():
        for row, passage in zip(
            windows[:, -length - 1 :], windows[:, 100 : 100 + last].roll(1, dims=0), strict=True
        ):
            new = row.clone()
            new[-last:] = passage
            again = new.clone()
            again[-last - back : -back] = passage
            once, twice = (
                F.cross_entropy(model(ids[None, :-1])[0, 8 - last :], ids[8 - last :]) for ids in (new, again)
            )
            gained.append(once - twice)
    return torch.stack(gained)
