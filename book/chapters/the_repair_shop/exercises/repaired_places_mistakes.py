"""The mistakes that `check_repaired_places` knows by name."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.the_repair_shop.exercises.repaired_places_parts import _logits


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
