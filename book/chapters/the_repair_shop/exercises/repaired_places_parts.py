"""What `check_repaired_places` asks with, in parts that can be mistaken."""

from typing import Any

import torch
from torch import Tensor, nn

from attnlab.transformer import Block
from bookkit.checking.mistakes import Part

LETTERS, WIDTH, LONGEST = 11, 8, 12


def _blocks(seed: int) -> nn.ModuleList:
    """Two blocks on the processor, with weights so large that all that is seen matters."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        with torch.device("cpu"):
            return nn.ModuleList(Block(WIDTH, 2) for _ in range(2)).eval().requires_grad_(False)


def _first_rows(places: Tensor, ids: Tensor) -> Tensor:
    return places[: ids.shape[1]]


def _logits(
    ids: Tensor,
    letters: Tensor,
    places: Tensor,
    blocks: nn.ModuleList,
    *,
    stand: Part = _first_rows,
    begin: Part = lambda words, rows: words + rows,
    passed: Part = lambda stream, blocks: blocks[1](blocks[0](stream)),
    answer: Part = lambda stream, letters: stream @ letters.T,
) -> Any:
    """Logits (B, T, letters) of ids (B, T)."""
    stream = begin(letters[ids], stand(places, ids))  # (B, T, width)
    return answer(passed(stream, blocks), letters)
