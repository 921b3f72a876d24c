"""What this chapter trains: the model of today with fewer and fewer heads of keys, at equal weights."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from attnlab.corpora.pieces import Pieces
from attnlab.today.model import Today
from attnlab.training.history import History
from attnlab.training.run import Run, row_of
from chapters.a_gpt_of_your_own.models import CONTEXT, VOCABULARY, in_bits, learned, some_of
from chapters.the_block_of_today.models import spread

HEADS = 6
# Heads of keys, and how wide the feed-forward network is beside them: what some leave, it gets.
HIDDEN = {6: 277, 3: 309, 2: 320, 1: 331}
UPDATES, RATE = 400, 4e-3


def sharing(groups: int) -> Today:
    """`sharing(1)` has one head of keys for six of queries, and 547,000 weights like `sharing(6)`."""
    return Today(VOCABULARY, 96, HEADS, groups, HIDDEN[groups], layers=3, longest=CONTEXT, spread=spread(96))


def crops(texts: Sequence[str], pieces: Pieces) -> tuple[Tensor, Tensor, float]:
    """`ids, targets, nat = crops(texts, pieces)` are (32, 128) each, and a nat a piece in bits a byte."""
    row = row_of(map(pieces.encode, texts), pieces.end)
    cut = torch.stack([part[:129] for part in row.chunk(32)])
    return cut[:, :-1], cut[:, 1:], len(row) / len("".join(texts).encode()) / math.log(2)


def groups(seed: int) -> tuple[nn.Module, History]:
    """`_, history = groups(seed=0)` trains one of each; only what was noted of them is kept."""
    texts, _ = learned()
    noted, last = [], 0.0
    for count in HIDDEN:
        torch.manual_seed(seed)
        run = Run(sharing(count), texts.training, updates=UPDATES, rate=RATE, rows=8, seed=seed)
        run.go(UPDATES)
        last = sum(run.losses[-50:]) / 50
        weights = sum(weight.numel() for weight in run.model.parameters())
        noted.append([count, weights / 1000, in_bits(run.model, some_of(texts))])
    return nn.Identity(), History(training_losses=[last], notes={"noted": torch.tensor(noted)})


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {"groups": groups}
