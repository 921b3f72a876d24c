"""What `check_grouped` asks with, in parts that can be mistaken."""

import math

from torch import Tensor

from attnlab.shapes import Keys, Queries, Values
from bookkit.checking.mistakes import Part
from bookkit.checking.mistakes.causal import causal_weights


def _each_in_turn(kept: Tensor, heads: int) -> Tensor:
    return kept.repeat_interleave(heads // kept.shape[1], dim=1)  # (B, heads, T, d_k)


def _grouped(
    query: Queries,
    key: Keys,
    value: Values,
    *,
    asked: Part = lambda query, groups: query,
    shared: Part = _each_in_turn,
    shared_values: Part | None = None,
    divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
    weigh: Part = causal_weights,
    found: Part = lambda output, groups: output,
) -> Tensor:
    heads, groups = query.shape[1], key.shape[1]
    query = asked(query, groups)
    key, value = shared(key, heads), (shared_values or shared)(value, heads)  # (B, heads, T, d_k)
    output: Tensor = weigh(query @ key.mT / divisor(query, key)) @ value
    return found(output, groups)  # type: ignore[no-any-return]
