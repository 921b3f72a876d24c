"""Attend with one query to keys that come chunk by chunk."""

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from attnlab.shapes import Keys, Values
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, Part, in_parts


class _State(NamedTuple):
    """What is known of the keys so far."""

    highest: Tensor  # () score
    total: Tensor  # () sum of exponentials
    mixed: Tensor  # (d_v,) values, mixed by them


def _scores(query: Tensor, keys: Keys) -> Tensor:
    return keys @ query / math.sqrt(len(query))  # (m,)


def _highest(before: Tensor, scores: Tensor) -> Tensor:
    return torch.maximum(before, scores.max())


def _kept(before: Tensor, highest: Tensor) -> Tensor:
    return (before - highest).exp()


def _nothing(query: Tensor, values: Values) -> _State:
    zero = query.new_zeros(())
    return _State(zero - math.inf, zero, values.new_zeros(values.shape[-1]))


def _running_softmax(
    query: Tensor,
    chunks: list[tuple[Keys, Values]],
    *,
    start: Part = _nothing,
    scored: Part = _scores,
    highest: Part = _highest,
    kept: Part = _kept,
    total: Part = lambda kept, total, weights: kept * total + weights.sum(),
    mixed: Part = lambda kept, mixed, weights, values: kept * mixed + weights @ values,
    divided: Part = lambda state: state.mixed / state.total,
) -> Tensor:
    """What attention gives one query whose keys and values come chunk by chunk: (d_v,)."""
    state = start(query, chunks[0][1])
    for keys, values in chunks:
        if len(keys) == 0:
            continue
        scores = scored(query, keys)
        now = highest(state.highest, scores)
        weights, factor = (scores - now).exp(), kept(state.highest, now)
        state = _State(now, total(factor, state.total, weights), mixed(factor, state.mixed, weights, values))
    output: Tensor = divided(state)
    return output


_Chunks = list[tuple[Keys, Values]]


def _from_zero(query: Tensor, values: Values) -> _State:
    zero = query.new_zeros(())
    return _State(zero, zero, values.new_zeros(values.shape[-1]))


def _by_chunk(query: Tensor, chunks: _Chunks) -> list[tuple[Tensor, Tensor]]:
    """For each chunk the logarithm of its sum, and its own softmax's output."""
    scored = [(_scores(query, keys), values) for keys, values in chunks if len(keys)]
    return [(scores.logsumexp(-1), scores.softmax(-1) @ values) for scores, values in scored]


def _mean_of_chunks(query: Tensor, chunks: _Chunks) -> Tensor:
    return torch.stack([output for _, output in _by_chunk(query, chunks)]).mean(0)


def _sum_of_chunks(query: Tensor, chunks: _Chunks) -> Tensor:
    return torch.stack([output for _, output in _by_chunk(query, chunks)]).sum(0)


def _last_chunk(query: Tensor, chunks: _Chunks) -> Tensor:
    return _by_chunk(query, chunks)[-1][1]


def _without_maximum(query: Tensor, chunks: _Chunks) -> Tensor:
    powers = [(_scores(query, keys).exp(), values) for keys, values in chunks]
    mixed = torch.stack([weights @ values for weights, values in powers]).sum(0)
    return mixed / torch.stack([weights.sum() for weights, _ in powers]).sum()


def _no_empty_chunk(query: Tensor, chunks: _Chunks) -> Tensor:
    """The maximum of nothing is an error."""
    return _running_softmax(query, [each for each in chunks if len(each[0]) or each[0].max()])


MISTAKES: Mistakes = in_parts(
    _running_softmax,
    scored={
        "not divided by the root": (
            "The scores are not divided by √d_k: `math.sqrt(len(query))`.",
            lambda query, keys: keys @ query,
        ),
        "divided by d_k": (
            "The scores are divided by d_k. Divide them by its root.",
            lambda query, keys: keys @ query / len(query),
        ),
        "root of the number of keys": (
            "The scores are divided by the root of the number of keys. It is the root of the *query's* "
            "length.",
            lambda query, keys: keys @ query / math.sqrt(len(keys)),
        ),
    },
    total={
        "sum not rescaled": (
            "The sum so far is not rescaled: when the maximum rises, what was added before is too large, "
            "beside what is added now.",
            lambda kept, total, weights: total + weights.sum(),
        ),
        "only the last sum": (
            "The sum is that of the last chunk alone. Add it to what was summed before, rescaled.",
            lambda kept, total, weights: weights.sum(),
        ),
        "new sum rescaled, too": (
            "You rescale the sum when all is added. Only what was there before is too large: the new "
            "weights have the new maximum already.",
            lambda kept, total, weights: kept * (total + weights.sum()),
        ),
    },
    mixed={
        "output not rescaled": (
            "The mixed values so far are not rescaled, the sum is. Both were made with the old maximum.",
            lambda kept, mixed, weights, values: mixed + weights @ values,
        ),
        "only the last values": (
            "Only the values of the last chunk are mixed. Add them to what was mixed before, rescaled.",
            lambda kept, mixed, weights, values: weights @ values,
        ),
        "new values rescaled, too": (
            "You rescale the mixed values when all is added. Only what was there before is too large: the "
            "new weights have the new maximum already.",
            lambda kept, mixed, weights, values: kept * (mixed + weights @ values),
        ),
        "divided in each chunk": (
            "You mix the values by each chunk's own softmax: its weights, divided by their sum. Mix by the "
            "exponentials, and divide once, at the end.",
            lambda kept, mixed, weights, values: kept * mixed + weights / weights.sum() @ values,
        ),
    },
    kept={
        "rescaled the wrong way": (
            "The exponent has the wrong sign: what was summed grows when the maximum rises. It has to "
            "shrink: exp(old − new), which is at most 1.",
            lambda before, highest: (highest - before).exp(),
        ),
        "rescaled the wrong way, but the first": (
            "What was summed grows when the maximum rises, and has to shrink: by exp(old − new), at most 1.",
            lambda before, highest: torch.where(before.isinf(), 0.0, (highest - before).exp()),
        ),
        "difference without exp": (
            "What was summed is multiplied by old − new. The factor is the *exponential* of that.",
            lambda before, highest: torch.where(before.isinf(), 0.0, before - highest),
        ),
    },
    highest={
        "maximum of the chunk": (
            "Right while the maximum rises. You take the maximum of each chunk for the maximum so far: where "
            "a later chunk has far lower scores, the factor overflows. Let the maximum stay what it was.",
            lambda before, scores: scores.max(),
        ),
        "minimum": (
            "You subtract the lowest score. Large ones then overflow: subtract the highest.",
            lambda before, scores: torch.minimum(
                torch.where(before.isinf(), scores.min(), before), scores.min()
            ),
        ),
    },
    start={
        "maximum from 0": (
            "The maximum so far begins at 0. Where all scores are far below, all exponentials are 0, and "
            "0 / 0 is NaN. Begin at `-math.inf`.",
            _from_zero,
        ),
        "maximum from −100": (
            "The maximum so far begins at a number that you hold for low. Scores may be lower, and then all "
            "exponentials are 0, and 0 / 0 is NaN. Begin at `-math.inf`.",
            lambda query, values: _nothing(query, values)._replace(highest=query.new_tensor(-100.0)),
        ),
    },
    divided={"never divided": ("The mixed values are never divided by the sum.", lambda state: state.mixed)},
) | {
    "mean of the chunks": (
        "You take the mean of the chunks' outputs. A chunk with high scores counts for more: carry the sums "
        "along, and divide once.",
        _mean_of_chunks,
    ),
    "sum of the chunks": (
        "You add up the chunks' outputs, each divided by its own sum. Divide once, by the sum of all.",
        _sum_of_chunks,
    ),
    "last chunk alone": ("The output is that of the last chunk alone.", _last_chunk),
    "first chunk alone": (
        "The output is that of the first chunk that has keys. Does the `return` stand within the loop?",
        lambda query, chunks: _by_chunk(query, chunks)[0][1],
    ),
    "overflow": (
        "Right for small scores, NaN for large: exp(89) is too large for float32. Subtract the highest "
        "score so far before you take exponentials.",
        _without_maximum,
    ),
    "no empty chunk": (
        "Right but for a chunk without keys, which has no maximum. Leave it out.",
        _no_empty_chunk,
    ),
}


class _Looks(TorchFunctionMode):
    """`with _Looks(chunks):` nobody goes back to a chunk, nor lays a long row of them side by side."""

    def __init__(self, query: Tensor, chunks: list[tuple[Keys, Values]]) -> None:
        super().__init__()
        keys = [keys for keys, _ in chunks if len(keys)]
        self.place = {each.data_ptr(): place for place, each in enumerate(keys)}
        self.all, self.most, self.latest = sum(map(len, keys)), 2 * len(query), 0

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = function(*args, **kwargs or {})
        if isinstance(result, Tensor) and self.place:
            if len(self.place) > 1 and self.all > self.most and self.all in result.shape:
                raise WrongTypeError(
                    f"It lays all chunks side by side, here {self.all} keys. See each alone."
                )
            looks = [self.place.get(each.data_ptr(), -1) for each in args if isinstance(each, Tensor)]
            if any(0 <= place < self.latest for place in looks):
                raise WrongTypeError("It goes back to a chunk that it has seen. See each once, in order.")
            self.latest = max(self.latest, *looks, 0)
        return result


def _looking(work: Part, query: Tensor, chunks: list[tuple[Keys, Values]]) -> Any:
    with _Looks(query, chunks):
        return work(query, chunks)


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
    ask=_looking,
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
