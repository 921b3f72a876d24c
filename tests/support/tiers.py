"""Of many things that are alike, one or a few are enough for people: the others are left to machines."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def left_to(mark: pytest.MarkDecorator, things: Iterable[Any], but: Collection[Any]) -> list[Any]:
    """`left_to(pytest.mark.weekly, MODELS, but=["gpt"])` are all, and all but gpt have that mark."""
    return [one if one in but else pytest.param(one, marks=mark) for one in things]
