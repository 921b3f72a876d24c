"""Count tiles: in which of them any pair is seen, and in which all are."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part
from chapters.masks_as_functions.exercises.document_rule import mistakes_of


def _cut(table: Tensor, tile: int, count: int) -> Tensor:
    return table.reshape(count, tile, count, tile)


def _tiles(
    table: Tensor,
    tile: int,
    *,
    cut: Part = _cut,
    some: Part = lambda tiles: tiles.any(3).any(1),
    whole: Part = lambda tiles: tiles.all(3).all(1),
    both: Part = lambda tiles, some, whole: (some, whole),
) -> Any:
    tiles = cut(table, tile, len(table) // tile)  # (n/tile, tile, n/tile, tile)
    return both(tiles, some(tiles), whole(tiles))  # (n/tile, n/tile) each


def _asked(work: Callable[..., Any], table: Tensor, tile: int) -> Any:
    """A number for each tile has a sentence of its own."""
    answer = returned(work(table, tile))
    for part in answer if isinstance(answer, (tuple, list)) else ():
        if isinstance(part, Tensor) and part.dtype != torch.bool:
            raise WrongTypeError(SAID["counts"])
    return answer


SAID = {
    "a view alone": "A row of the table is cut up, and its pieces are stacked. Cut both axes.",
    "every so many": "A tile holds places that lie n/tile apart. Those of a tile are neighbours.",
    "overlapping": "Tiles overlap: the second begins at place 1. It begins at place `tile`.",
    "one place short": "The last row and column of each tile are left out. `[a:b]` ends before b.",
    "turned": "The tiles are turned on their side: a row is a query's, a column a key's.",
    "all for any": "The first result holds the tiles of which all is seen. One pair is enough: `any`.",
    "the first pair alone": "Only the first pair of a tile tells whether any is seen. Ask all of them.",
    "empty ones": "The first result is True where nothing is seen. It is to be True where anything is.",
    "any for all": "The second result holds the tiles of which anything is seen. All must be: `all`.",
    "one corner alone": "One corner tells whether all is seen. That does for a causal table alone.",
    "partly seen": "The second result is True where some pairs are seen. There all must be.",
    "one axis alone": "`any` and `all` went over one axis of a tile, and the other is left. Go over both.",
    "results exchanged": "Both results are right, in the wrong order: first where any is seen.",
    "counts": "These are numbers. Return what is true or false of each tile: any pair seen, and all.",
}


MISTAKES: Mistakes = mistakes_of(
    _tiles,
    SAID,
    cut={
        "a view alone": lambda table, tile, count: table.reshape(count, count, tile, tile).transpose(1, 2),
        "every so many": lambda table, tile, count: table.view(tile, count, tile, count).permute(1, 0, 3, 2),
        "overlapping": lambda table, tile, count: (
            table.unfold(0, tile, 1).unfold(1, tile, 1)[:count, :count].transpose(1, 2)
        ),
        "one place short": lambda table, tile, count: _cut(table, tile, count)[:, :-1, :, :-1],
        "turned": lambda table, tile, count: _cut(table.mT, tile, count),
    },
    some={
        "all for any": lambda tiles: tiles.all(3).all(1),
        "the first pair alone": lambda tiles: tiles[:, 0, :, 0],
        "empty ones": lambda tiles: ~tiles.any(3).any(1),
    },
    whole={
        "any for all": lambda tiles: tiles.any(3).any(1),
        "one corner alone": lambda tiles: tiles[:, 0, :, -1],
        "partly seen": lambda tiles: tiles.any(3).any(1) & ~tiles.all(3).all(1),
    },
    both={
        "one axis alone": lambda tiles, some, whole: (tiles.any(3), tiles.all(3)),
        "results exchanged": lambda tiles, some, whole: (whole, some),
        "counts": lambda tiles, some, whole: (tiles.sum((1, 3)), whole.long()),
    },
)


def _drawn(label: str, seed: int, count: int, tile: int) -> Case:
    """A table without symmetry, with tiles that are empty, partly seen and whole."""
    drawn = torch.rand(3, count, count, generator=generator(seed), device="cpu")
    kind = (drawn[0] * 3).long().repeat_interleave(tile, 0).repeat_interleave(tile, 1)  # (n, n)
    pairs = torch.rand(count * tile, count * tile, generator=generator(seed + 1), device="cpu") < 0.3
    return Case(label, (kind == 2) | (kind == 1) & pairs, tile)


check_counted_tiles = Exercise(
    "counted_tiles",
    difficulty=2,
    minutes=15,
    takes=("table", "tile"),
    returns=("any", "whole"),
    reference=_tiles,
    ask=_asked,
    cases=(
        Case("right for a causal table", torch.ones(4, 4, device="cpu").tril().bool(), 2),
        _drawn("right for a table of its own", 1, 2, 3),
        _drawn("right for a larger one", 3, 4, 3),
        _drawn("right where tiles are wider than many", 5, 3, 5),
        _drawn("right where a tile is a single pair", 7, 4, 1),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
