"""The mistakes that `check_window_mask` knows by name."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Mistakes, in_answer, in_parts
from chapters.fewer_keys_or_none.exercises.window_mask_parts import _window_mask


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
            ),
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
        "both sides": (
            "The window lies on both sides of its query. It ends at the query.",
            _on_both_sides,
        ),
    }
)
