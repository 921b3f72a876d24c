"""What is read here, and what each place of it costs."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.corpora.pieces import Pieces
from attnlab.shapes import Mask
from attnlab.today.model import Today
from attnlab.training.run import row_of

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
