"""What this chapter trains: models of today that see other texts of their crop, and models that don't."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.masks import causal, combine
from attnlab.shapes import Mask
from attnlab.training.history import History
from attnlab.training.run import Run
from bookkit import weights
from chapters.a_gpt_of_your_own.models import CONTEXT, Reading, in_bits, learned, pieces, some_of
from chapters.the_block_of_today import models as of_today

SHORT, SEEDS = 400, 3


def documents(ids: Tensor, end: int) -> Mask:
    """`documents(ids, end=0)` lets each place of ids (B, T) see its own text, which a 0 closes: (B, T, T).

    >>> documents(torch.tensor([[5, 0, 7, 0]]), end=0).int().tolist()
    [[[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]]
    """
    ends = (ids == end).int()
    text = ends.cumsum(-1) - ends  # (B, T): how many texts have ended before
    return text[..., None] == text[..., None, :]


class Within(nn.Module):
    """`Within(model, end=0)(ids)` are logits of a model that sees, in ids (B, T), its own text alone."""

    def __init__(self, model: nn.Module, end: int) -> None:
        super().__init__()
        self.model, self.end = model, end

    def forward(self, ids: Tensor) -> Tensor:
        """`within(ids)` has the shape of `model(ids)`, (B, T, vocabulary)."""
        own = combine(documents(ids, self.end), causal(ids.shape[1], device=ids.device))
        logits: Tensor = self.model(ids, visible=own)
        return logits


def after(updates: int, apart: bool, seed: int, texts: Reading) -> nn.Module:
    """`after(400, apart=True, seed=0, texts=texts)` has learned with its own text alone in sight."""
    torch.manual_seed(seed)
    model = of_today.today()
    learner = Within(model, pieces().end) if apart else model
    Run(learner, texts.training, updates=updates, rate=of_today.RATE, rows=8, seed=seed).go(updates)
    return model.eval()


def compared(seed: int) -> tuple[nn.Module, History]:
    """`_, history = compared(seed=0)` notes bits a byte of three pairs of short trainings, and of a long one.

    In "bits" (4, 2) each is read as it has learned, the one with all in sight first; "more" (4,) is what it
    needs more than the other, and "exchanged" (4, 2) what each needs more where it is read the other way. The
    last rows are the stored model of today and one that has learned for as long, from the same start.
    """
    texts, _ = learned()
    some, end = some_of(texts), pieces().end

    def read(model: nn.Module) -> list[float]:
        return [in_bits(model, some), in_bits(Within(model, end), some)]

    seeds = range(SEEDS * seed, SEEDS * seed + SEEDS)
    pairs = [[read(after(SHORT, apart, one, texts)) for apart in (False, True)] for one in seeds]
    stored = of_today.today()
    weights.load("the_block_of_today/today", stored)
    pairs.append([read(stored), read(after(of_today.UPDATES, True, seed, texts))])
    return nn.Identity(), noted(torch.tensor(pairs, dtype=torch.float64), in_crops(texts.training, end))


def in_crops(row: Tensor, end: int) -> Tensor:
    """`in_crops(row, end=0)` are the ends in a crop of 128, and the share of causal pairs across texts."""
    crops = row[: len(row) // CONTEXT * CONTEXT].view(-1, CONTEXT)[::17]  # 2,000 from all of the row
    seen = causal(CONTEXT)
    own = combine(documents(crops, end), seen).sum() / seen.sum() / len(crops)
    return torch.tensor([float((crops == end).sum()) / len(crops), 1 - float(own)])


def noted(pairs: Tensor, crops: Tensor) -> History:
    """`noted(pairs, crops)`: of bits (4, 2, 2), differences are noted, too, and so keep more digits."""
    bits = pairs.diagonal(dim1=1, dim2=2)  # (4, 2)
    exchanged = pairs.flip(2).diagonal(dim1=1, dim2=2) - bits
    notes = {"bits": bits, "more": bits[:, 0] - bits[:, 1], "exchanged": exchanged, "crops": crops}
    return History(training_losses=bits[-1].tolist(), notes=notes)


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {"compared": compared}
