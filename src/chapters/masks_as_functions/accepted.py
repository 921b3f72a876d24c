"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import torch

from bookkit.other_words import named
from chapters.masks_as_functions.exercises.counted_tiles import check_counted_tiles
from chapters.masks_as_functions.exercises.document_rule import check_document_rule
from chapters.masks_as_functions.exercises.fewest_tiles import TILE, check_fewest_tiles, tiles_before
from chapters.masks_as_functions.exercises.repaired_rules import check_repaired_rules

# --- document_rule ---


def counted_from_behind(ids, end):
    still_to_come = (ids == end).flip(0).cumsum(0).flip(0)
    return lambda query, key: (still_to_come[query] == still_to_come[key]) & (query >= key)


def shifted(ids, end):
    behind = torch.cat([torch.zeros(1, dtype=torch.long), (ids == end).long()])[:-1].cumsum(0)

    def rule(query, key):
        return torch.logical_and(behind[query] == behind[key], query >= key)

    return rule


def looked_up(ids, end):
    table = torch.zeros(len(ids), len(ids), dtype=torch.bool)
    start = 0
    for place, each in enumerate(ids.tolist()):
        table[place, start : place + 1] = True
        start = place + 1 if each == end else start
    return lambda query, key: table[query, key]


class OfTexts:
    def __init__(self, ids, end):
        starts = torch.tensor([0, *((ids == end).nonzero().flatten() + 1).tolist()])
        self.first = starts[torch.searchsorted(starts, torch.arange(len(ids)), right=True) - 1]

    def __call__(self, query, key):
        return (self.first[query] <= key) & (key <= query)


def an_object(ids, end):
    return OfTexts(ids, end)


# --- counted_tiles ---


def by_view(table, tile):
    count = len(table) // tile
    tiles = table.reshape(count, tile, count, tile)
    return tiles.amax((1, 3)), tiles.amin((1, 3))


def by_counts(table, tile):
    count = len(table) // tile
    seen = table.int().view(count, tile, count, tile).sum((1, 3))
    return seen > 0, seen == tile**2


def by_slices(table, tile):
    starts = range(0, len(table), tile)
    tiles = [[table[i : i + tile, j : j + tile] for j in starts] for i in starts]
    return [
        torch.tensor([[bool(ask(each)) for each in row] for row in tiles]) for ask in (torch.any, torch.all)
    ]


def by_unfold(table, tile):
    tiles = table.unfold(0, tile, tile).unfold(1, tile, tile).flatten(2)
    return tiles.any(-1), tiles.all(-1)


# --- repaired_rules ---


def in_three_definitions(prefix, width, sinks):
    def with_prefix(query, key):
        return (query < prefix) & (key < prefix) | (key <= query)

    def near(query, key):
        back = query - key
        return (back >= 0) & (back < width) | (key < sinks) & (key <= query)

    def strided(query, key):
        return (key <= query) & (query % width == key % width)

    return with_prefix, near, strided


def in_a_list(prefix, width, sinks):
    return [
        lambda q, k: torch.where(q < prefix, k < torch.maximum(q + 1, torch.tensor(prefix)), k <= q),
        lambda q, k: ~((k > q) | (q - k >= width) & ~(k < sinks)),
        lambda q, k: torch.isin(q - k, torch.arange(0, 1000, width)),
    ]


# --- fewest_tiles ---


def with_a_block(layer):
    if layer == 0:
        return lambda query, key: (key <= query) & (query // 32 == key // 32)
    return tiles_before(3 - layer)


def with_the_first_tile(layer):
    if layer == 0:
        return lambda query, key: (key <= query) & ((query // TILE == key // TILE) | (key < TILE))
    return tiles_before(3 - layer)


ACCEPTED = {
    check_document_rule: named(counted_from_behind, shifted, looked_up, an_object),
    check_counted_tiles: named(by_view, by_counts, by_slices, by_unfold),
    check_repaired_rules: named(in_three_definitions, in_a_list),
    check_fewest_tiles: named(with_a_block, with_the_first_tile),
}
