"""The exercise `window_mask`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as, named

from attnlab import masks
from chapters.fewer_keys_or_none.exercises.window_mask import check_window_mask


def place_by_place(n, width, sinks):
    mask = torch.zeros(n, n, dtype=torch.bool)
    for query in range(n):
        mask[query, : min(sinks, query + 1)] = True
        mask[query, max(0, query - width + 1) : query + 1] = True
    return mask


def by_triangles(n, width, sinks):
    before = torch.ones(n, n).tril().bool()
    seen = before.triu(1 - width)
    seen[:, :sinks] = before[:, :sinks]
    return seen


def by_differences(n, width, sinks):
    ids = torch.arange(n)
    apart = ids.view(-1, 1) - ids.view(1, -1)
    return torch.logical_and(apart >= 0, torch.logical_or(apart < width, ids < sinks))


def in_lists(n, width, sinks):
    return torch.tensor([[k <= q and (k > q - width or k < sinks) for k in range(n)] for q in range(n)])


def by_the_library(n, width, sinks):
    return masks.window(n, width, sinks)[0]


def in_triangles(diagonal=lambda width: 1 - width):
    """A reader's function, in which the window may be another."""

    def code(n, width, sinks):
        past = torch.tril(torch.ones(n, n))
        band = torch.triu(past, diagonal(width))
        band[:, :sinks] = past[:, :sinks]
        return band > 0

    return code


def sinks_for_all(n, width, sinks):
    mask = in_triangles()(n, width, 0)
    mask[:, :sinks] = True
    return mask


def sinks_for_all_and_no_past(n, width, sinks):
    ids = torch.arange(n)
    return (ids[:, None] - ids < width) | (ids < sinks)


def by_slices(n, width, sinks):
    """A cache of `width` places in all, sinks included."""
    mask = torch.zeros(n, n).bool()
    for row in range(n):
        kept = max(0, row + 1 - max(0, width - sinks))
        mask[row, kept : row + 1] = True
        mask[row, : min(sinks, row + 1)] = True
    return mask


def last_ones(n, width, sinks):
    mask = place_by_place(n, width, 0)
    for query in range(n):
        mask[query, n - sinks : query + 1] = True
    return mask


RIGHT = {check_window_mask: named(place_by_place, by_triangles, by_differences, in_lists)}
NAMED = {
    check_window_mask: {
        "one too many": in_triangles(lambda width: -width),
        "one too few": in_triangles(lambda width: 2 - width),
        "later ones seen": sinks_for_all_and_no_past,
        "everything seen": lambda n, width, sinks: torch.ones(n, n).bool(),
        "no window": lambda n, width, sinks: torch.ones(n, n).tril().bool(),
        "no sinks": lambda n, width, sinks: place_by_place(n, width, 0),
        "sinks seen by those before them": sinks_for_all,
        "one sink too many": lambda n, width, sinks: place_by_place(n, width, sinks + 1),
        "sinks taken off the window": by_slices,
        "sinks at the end": last_ones,
        "True means hidden": lambda *inputs: torch.logical_not(in_lists(*inputs)),
        "turned": lambda *inputs: by_triangles(*inputs).T,
        "both sides": lambda n, width, sinks: in_lists(n, width, sinks) | in_lists(n, width, 0).T,
        "itself not counted": lambda n, width, sinks: (
            in_lists(n, width + 1, sinks) & ~torch.eye(n).bool()
            | (torch.eye(n).bool() & (torch.arange(n) < sinks))
        ),
    }
}
UNKNOWN = {
    check_window_mask: {
        "nothing": lambda n, width, sinks: torch.zeros(n, n).bool(),
        "zeros and ones": changed(in_lists, lambda mask: mask.int()),
        "with a batch": changed(in_lists, lambda mask: mask[None]),
        "a list": changed(in_lists, torch.Tensor.tolist),
        "to be added": changed(in_lists, lambda mask: torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_whoever_calls_what_is_there_already_is_told():
    report = check_window_mask.judge(by_the_library)
    assert not report.passed
    assert "✗ is written without what is there already" in str(report)
