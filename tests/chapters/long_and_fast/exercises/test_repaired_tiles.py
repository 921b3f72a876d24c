"""The exercise `repaired_tiles`, tried as readers would."""

import math

import exercise_cases
import torch
from exercise_cases import changed, judged_as, named
from torch.nn import functional as F

from attnlab.today.tiles import tiled
from chapters.long_and_fast.exercises import check_repaired_tiles


def broken(query, key, value, tile, causal):
    """The notebook's."""
    outputs = []
    for top in range(0, len(query), tile):
        queries = query[top : top + tile]
        highest, total, mixed = torch.tensor(-math.inf), 0.0, 0.0
        for left in range(0, len(key), tile):
            scores = queries @ key[left : left + tile].T / math.sqrt(query.shape[-1])
            if causal:
                hidden = torch.ones_like(scores, dtype=torch.bool).triu(1)
                scores = scores.masked_fill(hidden, -math.inf)
            highest = torch.maximum(highest, scores.amax(1, keepdim=True))
            before = highest
            weights, kept = (scores - highest).exp(), (before - highest).exp()
            total = kept * total + weights.sum(1, keepdim=True)
            mixed = kept * mixed + weights @ value[left : left + tile]
        outputs.append(mixed / total)
    return torch.cat(outputs)


def visible(rows, columns):
    return columns[None, :] <= rows[:, None]


def mended(*, kept=None, seen=visible, of_sum=True, of_output=True, least=-math.inf, always=False):
    """A reader's repair, in which one step may be another."""
    kept = kept or (lambda before, now: torch.exp(before - now))

    def code(query, key, value, tile, causal):
        places, outputs = torch.arange(len(query)), []
        for rows in places.split(tile):
            highest, total, mixed = torch.full((len(rows), 1), -math.inf), torch.zeros(len(rows), 1), 0.0
            for columns in places.split(tile):
                scores = query[rows] @ key[columns].T / math.sqrt(key.shape[1])
                if causal or always:
                    scores = torch.where(seen(rows, columns), scores, least)
                before, highest = highest, torch.maximum(highest, scores.amax(1, keepdim=True))
                weights, factor = torch.exp(scores - highest), kept(before, highest)
                total = (factor if of_sum else 1) * total + weights.sum(1, keepdim=True)
                mixed = (factor if of_output else 1) * mixed + weights @ value[columns]
            outputs.append(mixed / total)
        return torch.cat(outputs)

    return code


def by_skipping(query, key, value, tile, causal):
    outputs = []
    for top in range(0, len(query), tile):
        end = top + tile if causal else len(key)
        scores = query[top : top + tile] @ key[:end].T / math.sqrt(query.shape[-1])
        if causal:
            hidden = torch.ones_like(scores).triu(top + 1).bool()
            scores = scores.masked_fill(hidden, -math.inf)
        outputs.append(scores.softmax(-1) @ value[:end])
    return torch.cat(outputs)


def whole(query, key, value, tile, causal):
    return F.scaled_dot_product_attention(query, key, value, is_causal=causal)


def in_the_tile(rows, columns):
    return visible(rows - rows[0], columns - columns[0])


RIGHT = {check_repaired_tiles: named(mended(), by_skipping, whole, tiled)}
NAMED = {
    check_repaired_tiles: {
        "not rescaled": mended(kept=lambda before, now: torch.ones_like(now)),
        "rescaled the wrong way": mended(
            kept=lambda before, now: torch.where(before.isinf(), 0.0, torch.exp(now - before))
        ),
        "sum not rescaled": mended(of_sum=False),
        "output not rescaled": mended(of_output=False),
        "hidden by places in the tile": mended(seen=in_the_tile),
        "hidden on the diagonal alone": mended(
            seen=lambda rows, columns: visible(rows, columns) | torch.tensor(rows[0] != columns[0])
        ),
        "hidden by whole tiles": mended(
            seen=lambda rows, columns: (columns[0] <= rows[0]).expand(len(rows), len(columns))
        ),
        "the past hidden": mended(
            seen=lambda rows, columns: visible(rows + 2 * (columns[0] - rows[0]), columns)
        ),
        "the next one shown": mended(seen=lambda rows, columns: visible(rows + 1, columns)),
        "transposed": mended(seen=lambda rows, columns: columns[None] >= rows[:, None]),
        "0 in the place of −∞": mended(least=0.0),
        "always causal": mended(always=True),
    }
}
UNKNOWN = {
    check_repaired_tiles: {
        "one hundredth too much": changed(mended(), lambda output: 1.01 * output),
        "no root": lambda query, *others: mended()(2 * query, *others),
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


def test_the_broken_tiles_pass_where_the_clues_are():
    exercise_cases.assert_still_broken(check_repaired_tiles, broken, "✓✓✓✗✗✗✗✓")
