"""Attend with one query to keys that come chunk by chunk."""

from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from chapters.long_and_fast.exercises.running_softmax_mistakes import MISTAKES
from chapters.long_and_fast.exercises.running_softmax_parts import _running_softmax


def _case(label: str, query: Tensor, keys: Tensor, values: Tensor, sizes: list[int]) -> Case:
    chunks = list(zip(keys.split(sizes), values.split(sizes), strict=True))  # type: ignore[no-untyped-call]
    return Case(label, query, chunks)


def _drawn(label: str, seed: int, d_k: int, sizes: list[int]) -> Case:
    query, keys, values = draw(seed, (d_k,), (sum(sizes), d_k), (sum(sizes), 3))
    return _case(label, query, keys, values, sizes)


_QUERY = exact([2, 0, 0, 0])[0]
_RISING = exact([1, 0, 0, 0], [2, 0, 0, 0], [4, 0, 0, 0], [3, 0, 0, 0])
_VALUES = exact([8, 0], [0, 1], [2, 2], [4, -2])

check_running_softmax = Exercise(
    "running_softmax",
    difficulty=3,
    minutes=25,
    takes=("query", "chunks"),
    returns=("output",),
    reference=_running_softmax,
    cases=(
        _drawn("right for a single chunk", 1, 5, [4]),
        _case("right where the maximum rises", _QUERY, _RISING, _VALUES, [2, 2]),
        _case("right where the maximum stays", _QUERY, _RISING.flip(0), _VALUES, [2, 2]),
        _drawn("right for chunks of several lengths", 9, 4, [3, 1, 4, 2]),
        _drawn("right where a chunk has no keys", 13, 4, [2, 0, 3]),
        _case("right for large scores", 100 * _QUERY, _RISING, _VALUES, [2, 2]),
        _case("right where scores fall far", -1000 * _QUERY, _RISING, _VALUES, [2, 2]),
        _case("right where all are far below 0", _QUERY, _RISING - 204, _VALUES, [2, 2]),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
