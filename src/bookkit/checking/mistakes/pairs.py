"""Two mistakes at once: where each stands in another part of the same function, both can be made."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import Any

JOIN = " & "  # of two names


def pairs(mistakes: Mapping[str, tuple[str, Any]]) -> Iterator[tuple[str, str, Callable[..., Any]]]:
    """`for name, sentence, code in pairs(in_parts(attention, …))` makes two mistakes of different parts."""
    parts = {name: code for name, (_, code) in mistakes.items() if isinstance(code, partial)}
    for (one, first), (other, second) in combinations(parts.items(), 2):
        if _apart(first, second):
            sentence = f"Two things at once. {mistakes[one][0]} And: {mistakes[other][0]}"
            code = partial(first.func, *first.args, **first.keywords, **second.keywords)
            yield f"{one}{JOIN}{other}", sentence, code


def _apart(first: partial[Any], second: partial[Any]) -> bool:
    return (
        first.func is second.func
        and first.args == second.args
        and not first.keywords.keys() & second.keywords.keys()
    )
