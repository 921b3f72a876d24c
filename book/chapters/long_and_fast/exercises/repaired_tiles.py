"""Repair attention in tiles that forgets to rescale, and hides by places in the tile."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from chapters.long_and_fast.exercises.repaired_tiles_mistakes import MISTAKES
from chapters.long_and_fast.exercises.repaired_tiles_parts import _tiled

# Each query's best key is the first: so none of a later tile has a higher score.
_QUERIES = exact([2, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0])
_FALLING = exact([4, 0, 0, 0], [3, 0, 0, 0], [2, 0, 0, 0], [1, 0, 0, 0])
_VALUES = exact([8, 0], [0, 1], [2, 2], [4, -2])


def _drawn(label: str, seed: int, n: int, tile: int, *, causal: bool) -> Case:
    return Case(label, *draw(seed, (n, 4), (n, 4), (n, 3)), tile, causal)


check_repaired_tiles = Exercise(
    "repaired_tiles",
    difficulty=3,
    minutes=25,
    takes=("query", "key", "value", "tile", "causal"),
    returns=("output",),
    reference=_tiled,
    cases=(
        _drawn("right with one tile", 1, 4, 4, causal=False),
        _drawn("right with one causal tile", 4, 4, 5, causal=True),
        Case("right where the first tile scores highest", _QUERIES, _FALLING, _VALUES, 2, False),
        Case("right where a later tile scores higher", _QUERIES, _FALLING.flip(0), _VALUES, 2, False),
        Case("right in causal tiles", _QUERIES, _FALLING, _VALUES, 2, True),
        _drawn("right where tiles do not divide it", 7, 7, 3, causal=False),
        _drawn("right in all of this", 10, 8, 3, causal=True),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
