"""What this chapter trains, at equal weights: models of today with fewer heads of keys."""

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from attnlab.corpora.pieces import Pieces
from attnlab.today.model import Today
from attnlab.training.history import History
from attnlab.training.run import Run, row_of
from chapters.a_gpt_of_your_own.models import CONTEXT, VOCABULARY, Reading, in_bits, learned, some_of
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
    noted = []
    for count in HIDDEN:
        torch.manual_seed(seed)
        noted.append([count, *after(sharing(count), RATE, seed, texts)])
    return nn.Identity(), History(training_losses=[noted[-1][-1]], notes={"noted": torch.tensor(noted)})


def after(model: nn.Module, rate: float, seed: int, texts: Reading) -> tuple[float, float]:
    """`weights, bits = after(sharing(1), 4e-3, 0, texts)` trains it: thousand weights, and bits a byte."""
    run = Run(model, texts.training, updates=UPDATES, rate=rate, rows=8, seed=seed)
    run.go(UPDATES)
    return sum(weight.numel() for weight in model.parameters()) / 1000, in_bits(model, some_of(texts))


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {"groups": groups}
