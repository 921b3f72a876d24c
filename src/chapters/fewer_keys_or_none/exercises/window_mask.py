"""Make the mask of a window: the last few places, and the first few."""

import torch
from torch import Tensor

from attnlab import masks
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts


def _window_mask(
    n: int,
    width: int,
    sinks: int,
    *,
    past: Part = lambda query, key: key <= query,
    near: Part = lambda query, key, width, sinks: query - key < width,
    first: Part = lambda key, sinks, n: key < sinks,
    seen: Part = lambda past, near, first: past & (near | first),
) -> Tensor:
    places = torch.arange(n, device="cpu")
    query, key = places[:, None], places[None]  # (n, 1), (1, n)
    mask: Tensor = seen(past(query, key), near(query, key, width, sinks), first(key, sinks, n))
    return mask  # (n, n)


def _on_both_sides(n: int, width: int, sinks: int) -> Tensor:
    places = torch.arange(n, device="cpu")
    apart = places[:, None] - places  # (n, n)
    return (apart.abs() < width) | ((places < sinks) & (apart >= 0))


MISTAKES: Mistakes = (
    in_parts(
        _window_mask,
        past={
            "later ones seen": (
                "Places that come later are seen. A window ends at its query: no key may stand behind that.",
                lambda query, key: (key <= query) | (key > query),
            )
        },
        near={
            "one too many": (
                "The window is one place too wide. With `width` 2 a query sees itself and one before.",
                lambda query, key, width, sinks: query - key <= width,
            ),
            "one too few": (
                "The window is one place too narrow. With `width` 2 a query sees itself and one before.",
                lambda query, key, width, sinks: query - key < width - 1,
            ),
            "not itself": (
                "A query does not see its own place. With `width` 2 it sees itself and one before.",
                lambda query, key, width, sinks: (query - key < width) & (key != query),
            ),
            "itself not counted": (
                "The window ends before its query, and has `width` places there. The query's own is the last "
                "of them.",
                lambda query, key, width, sinks: (query - key <= width) & (key != query),
            ),
            "the far ones": (
                "The window is turned inside out: what is far is seen, and what is near is hidden.",
                lambda query, key, width, sinks: query - key >= width,
            ),
            "blocks": (
                "The text is cut into blocks, and each sees its own. A window moves along: every query sees "
                "the last `width`.",
                lambda query, key, width, sinks: query // width == key // width,
            ),
            "sinks taken off the window": (
                "The window gets narrower by the number of sinks. It keeps its `width`: they come on top.",
                lambda query, key, width, sinks: query - key < width - sinks,
            ),
            "no window": (
                "Everything before is seen: `width` plays no part.",
                lambda query, key, width, sinks: query - key < 10**6,
            ),
        },
        first={
            "no sinks": (
                "The sinks are forgotten: the first `sinks` places stay in sight.",
                lambda key, sinks, n: key < 0,
            ),
            "one sink too few": (
                "There is one sink too few: with `sinks` 2, the places 0 and 1 stay in sight.",
                lambda key, sinks, n: key < sinks - 1,
            ),
            "one sink too many": (
                "There is one sink too many: places count from 0, so the first two are 0 and 1.",
                lambda key, sinks, n: key <= sinks,
            ),
            "one sink alone": (
                "Only place `sinks - 1` stays in sight, and not all of the first `sinks`.",
                lambda key, sinks, n: key == sinks - 1,
            ),
            "sinks at the end": (
                "The *last* places of the text are taken for sinks. It is the first ones that stay in sight.",
                lambda key, sinks, n: key >= n - sinks,
            ),
        },
        seen={
            "sinks seen by those before them": (
                "The sinks are seen by queries that stand before them. They, too, are seen only from behind.",
                lambda past, near, first: (past & near) | first,
            ),
            "sinks alone": (
                "A key must be near *and* a sink to be seen here. One of both is enough: `|`.",
                lambda past, near, first: past & near & first,
            ),
            "sinks or window, not both": (
                "A sink in the window is hidden: `^` is true where just one of both is. Take `|`.",
                lambda past, near, first: past & (near ^ first),
            ),
            "everything seen": (
                "Everything is seen, later places too. A query sees what is near, or a sink, and (`&`) past.",
                lambda past, near, first: past | ~past,
            ),
        },
    )
    | in_answer(
        _window_mask,
        {
            "True means hidden": (
                "True stands where a key is hidden. Here, as everywhere in this book, True = may attend.",
                lambda mask: ~mask,
            ),
            "turned": (
                "The mask is turned on its side: a row is a query, a column is a key.",
                lambda mask: mask.mT,
            ),
        },
    )
    | {
        "both sides": ("The window lies on both sides of its query. It ends at the query.", _on_both_sides),
        "width and sinks exchanged": (
            "`width` and `sinks` have changed places: the window is `width` wide, and `sinks` stay in sight.",
            lambda n, width, sinks: _window_mask(n, sinks, width),
        ),
    }
)


check_window_mask = Exercise(
    "window_mask",
    difficulty=2,
    minutes=15,
    takes=("n", "width", "sinks"),
    returns=("mask",),
    reference=_window_mask,
    cases=(
        Case("right without sinks", 4, 2, 0),
        Case("right without sinks", 7, 3, 0),
        Case("right with one sink", 5, 2, 1),
        Case("right with several", 8, 3, 2),
        Case("right where each sees itself alone", 3, 1, 0),
        Case("right where sinks are more than the window", 7, 2, 4),
        Case("right where all is seen", 4, 9, 0),
        Case("right for a single place", 1, 2, 2),
    ),
    mistakes=MISTAKES,
    without=(masks,),
    trainable=False,
)
