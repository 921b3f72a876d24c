"""Scaled attention with another divisor or other weights, each of which can be mistaken."""

import math
from collections.abc import Callable

from torch import Tensor

from attnlab.scores import dot
from attnlab.shapes import Keys, Queries, Scores


def _scaled(
    query: Queries,
    key: Keys,
    *,
    compare: Callable[..., Scores] = dot,
    divisor: Callable[..., float | Tensor] = lambda query, key: math.sqrt(query.shape[-1]),
) -> Scores:
    """The scaled scores in parts, each of which can be mistaken."""
    return compare(query, key) / divisor(query, key)
