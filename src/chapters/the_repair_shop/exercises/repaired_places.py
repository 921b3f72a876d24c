"""Repair a model that reads well, and writes rubbish behind short beginnings."""

from typing import Any

import torch
from torch import Tensor, nn

from attnlab.transformer import Block
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

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


def _last_rows(places: Tensor, ids: Tensor) -> Tensor:
    """The colleague's."""
    return places[-ids.shape[1] :]


def _padded(places: Tensor, ids: Tensor) -> Tensor:
    spare = torch.zeros(1, places.shape[1], dtype=places.dtype, device=places.device)
    return torch.cat([spare, places])[: ids.shape[1]]


MISTAKES: Mistakes = in_parts(
    _logits,
    stand={
        "still broken": (
            "The fault is still there: a short text gets other places than the beginning of a long one. "
            "Print which rows of `places` are used for 3 ids, and for 12.",
            _last_rows,
        ),
        "turned around": (
            "The rows of places stand in the wrong order: the first id has place 0.",
            lambda places, ids: places[: ids.shape[1]].flip(0),
        ),
        "one place late": (
            "Each id has the place behind its own. Places begin at 0.",
            lambda places, ids: (
                places[1 : ids.shape[1] + 1]
                if ids.shape[1] < len(places)
                else places[(torch.arange(ids.shape[1], device=ids.device) + 1) % len(places)]
            ),
        ),
        "all at place 0": (
            "All ids have place 0: their order can't be told.",
            lambda places, ids: places[:1],
        ),
        "places by their ids": (
            "You look places up by the ids. They go by where an id stands: 0, 1, 2 and so on.",
            lambda places, ids: places[ids],
        ),
        "nothing at the first": (
            "The first id has no place now, and each other the place of the one before.",
            _padded,
        ),
    },
    begin={
        "no places": (
            "No places are added any more, and short and long texts agree: but no order can be told.",
            lambda words, rows: words,
        ),
        "multiplied": ("Places are multiplied with words. They are added.", lambda words, rows: words * rows),
    },
    answer={
        "only the last": (
            "You return the logits of the last place alone. Wanted are those of all, (B, T, letters).",
            lambda stream, letters: (stream @ letters.T)[:, -1],
        ),
        "chances": (
            "You return chances. Logits are wanted: what softmax makes chances of.",
            lambda stream, letters: (stream @ letters.T).softmax(-1),
        ),
    },
)


def _case(label: str, seed: int, rows: int, length: int) -> Case:
    source = torch.Generator(device="cpu").manual_seed(seed)
    ids = torch.randint(LETTERS, (rows, length), generator=source, device="cpu")
    letters, places = (
        torch.randn(size, WIDTH, generator=source, dtype=torch.float64, device="cpu")
        for size in (LETTERS, LONGEST)
    )
    return Case(label, ids, letters, places, _blocks(seed).double())


check_repaired_places = Exercise(
    "repaired_places",
    difficulty=2,
    minutes=20,
    takes=("ids", "letters", "places", "blocks"),
    returns=("logits",),
    reference=_logits,
    cases=(
        _case("right for as many ids as there are places", 1, 2, LONGEST),
        _case("right for one less", 2, 2, LONGEST - 1),
        _case("right for three", 3, 1, 3),
        _case("right for several short texts", 4, 5, 4),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
