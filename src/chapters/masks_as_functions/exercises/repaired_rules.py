"""Repair three rules: a prefix that is seen both ways, a window with sinks, and every so many places."""

from collections.abc import Callable
from functools import partial
from typing import Any

from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part
from chapters.masks_as_functions.exercises.document_rule import mistakes_of, table_of

THREE = "Three rules are expected, one after the other: `return with_prefix, near, strided`."


def _asked(work: Callable[..., Any], prefix: int, width: int, sinks: int, n: int) -> Any:
    rules = returned(work(prefix, width, sinks))
    if not isinstance(rules, (tuple, list)) or len(rules) != 3:
        raise WrongTypeError(THREE)
    return tuple(table_of(rule, n) for rule in rules)


def _rules(
    prefix: int,
    width: int,
    sinks: int,
    *,
    first: Part = lambda q, k, prefix: (k <= q) | (k < prefix),
    near: Part = lambda q, k, width, sinks: (k <= q) & ((q - k < width) | (k < sinks)),
    strided: Part = lambda q, k, width: (k <= q) & ((q - k) % width == 0),
    answer: Part = lambda *rules: rules,
) -> Any:
    return answer(
        lambda query, key: first(query, key, prefix),
        lambda query, key: near(query, key, width, sinks),
        lambda query, key: strided(query, key, width),
    )


COLLEAGUES: dict[str, Any] = {
    "first": lambda q, k, prefix: (k <= q) | (q < prefix),
    "near": lambda q, k, width, sinks: (k <= q) & (q - k < width) | (k < sinks),
    "strided": lambda q, k, width: (q - k) % width == 0,
}

SAID = {
    "still broken": "All three faults are still there, one a rule. Print the tables of 6 places: what is "
    "seen that must not be?",
    "the prefix sees all": "The prefix sees what comes behind it. The *key* must lie in it, or be no later.",
    "the prefix alone": "Only the prefix sees anything. The others see what is before them.",
    "no prefix": "The prefix is read like all the rest. Its places see each other both ways.",
    "sinks seen from before": "Who stands before the sinks sees them: `&` binds tighter than `|`.",
    "window too wide": "The window is one place too wide. `width` 2 is the query itself and one before.",
    "window too narrow": "The window is one place too narrow. Its own place is one of the `width`.",
    "sinks lost": "The sinks are gone as soon as the window has left them. They stay in sight.",
    "one sink too many": "There is one sink too many: with `sinks` 2, the places 0 and 1 stay in sight.",
    "window and sink at once": "A key must be near *and* a sink to be seen. One of both is enough: `|`.",
    "and, or": "`and`, `or`, `if` and `0 <= x < y` ask a tensor for a single truth. Take `&` and `|`.",
    "strides ahead": "The third rule sees what comes later: −2 % 2 is 0, too. Join it with `key <= query`.",
    "strides from the start": "The third rule counts from the start of the text. Count back from the query.",
    "strides without itself": "In the third rule a query does not see itself. 0 places back is the first.",
    "one step alone": "The third rule goes one step back and stops. 2 · `width` back comes next.",
    "in another order": "The second and the third rule have changed places.",
    "one rule": THREE,
}


MISTAKES: Mistakes = {
    "still broken": (SAID["still broken"], partial(_rules, **COLLEAGUES)),
} | mistakes_of(
    _rules,
    SAID,
    first={
        "the prefix sees all": COLLEAGUES["first"],
        "the prefix alone": lambda q, k, prefix: (q < prefix) & (k < prefix),
        "no prefix": lambda q, k, prefix: k <= q,
    },
    near={
        "sinks seen from before": COLLEAGUES["near"],
        "window too wide": lambda q, k, width, sinks: (k <= q) & ((q - k <= width) | (k < sinks)),
        "window too narrow": lambda q, k, width, sinks: (k <= q) & ((q - k < width - 1) | (k < sinks)),
        "sinks lost": lambda q, k, width, sinks: (k <= q) & (q - k < width),
        "one sink too many": lambda q, k, width, sinks: (k <= q) & ((q - k < width) | (k <= sinks)),
        "window and sink at once": lambda q, k, width, sinks: (k <= q) & (q - k < width) & (k < sinks),
        "and, or": lambda q, k, width, sinks: k <= q and (q - k < width or k < sinks),
    },
    strided={
        "strides ahead": COLLEAGUES["strided"],
        "strides from the start": lambda q, k, width: (k <= q) & (k % width == 0),
        "strides without itself": lambda q, k, width: (k < q) & ((q - k) % width == 0),
        "one step alone": lambda q, k, width: (k == q) | (q - k == width),
    },
    answer={
        "in another order": lambda first, near, strided: (first, strided, near),
        "one rule": lambda first, near, strided: first,
    },
)

check_repaired_rules = Exercise(
    "repaired_rules",
    difficulty=2,
    minutes=20,
    takes=("prefix", "width", "sinks", "n"),
    returns=("the prefix's table", "the window's table", "the strided table"),
    reference=_rules,
    ask=_asked,
    cases=(
        Case("right for six places", 2, 2, 1, 6),
        Case("right with more sinks", 3, 3, 2, 9),
        Case("right without a prefix and sinks", 0, 3, 0, 8),
        Case("right where the prefix is all there is", 5, 2, 3, 5),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
