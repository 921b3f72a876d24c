"""The chart of tiles says at every step what attention over the keys seen so far would give."""

import math
import re

import pytest
import torch
import vl_convert

from attnlab.today.tiles import tiled
from chapters.long_and_fast.charts import tiles

pytestmark = pytest.mark.thorough


def drawn(step, mask):
    """What the chart writes, each text of its picture."""
    spec = tiles.filling().to_dict()
    for control in spec["params"]:
        control["value"] = {"step": step, "mask": mask}.get(control["name"], control["value"])
    picture = vl_convert.vegalite_to_svg(spec)
    return [words.replace("−", "-") for words in re.findall(r">([^<>]+)</t", picture)]


def seen(step, causal):
    """Of each query, the keys in the tiles so far."""
    place = torch.arange(tiles.LENGTH)
    tile = place[:, None] // tiles.TILE * tiles.ACROSS + place // tiles.TILE
    return (tile < step) & ((place <= place[:, None]) if causal else torch.tensor(True))


@pytest.mark.parametrize("step", [0, 4, 7, 9])
@pytest.mark.parametrize("mask", [tiles.NONE, tiles.CAUSAL])
def test_it_says_what_is_known_of_each_query(step, mask):
    scores, values = (each.double() for each in tiles.numbers())
    so_far, ever = seen(step, mask == tiles.CAUSAL), seen(tiles.TILES, mask == tiles.CAUSAL)
    expected: list[str] = []
    for row in range(tiles.LENGTH):
        last = scores[row][ever[row]].softmax(0) @ values[ever[row]]
        expected.append(f"{last:.2f}")
        if so_far[row].any():
            some = scores[row][so_far[row]]
            expected += [f"{some.max():.1f}", f"{(some - some.max()).exp().sum():.2f}"]
            expected.append(f"{some.softmax(0) @ values[so_far[row]]:.2f}")
            expected += [f"{score:.1f}" for score in some]
    words = drawn(step, mask)
    assert sorted(word for word in words if re.fullmatch(r"-?\d+\.\d+", word)) == sorted(expected)
    assert words.count("–") == 3 * (~so_far.any(-1)).sum()


@pytest.mark.parametrize("mask", [tiles.NONE, tiles.CAUSAL])
def test_each_step_says_something_else(mask):
    said = ["; ".join(drawn(step, mask)[-3:]) for step in range(tiles.TILES + 1)]
    assert len({*said}) == len(said)


def test_it_says_by_what_the_sum_is_multiplied():
    scores, _ = tiles.numbers()
    before, after = scores[2, :2].max(), scores[2, :4].max()
    assert after > before
    factor = math.exp(before - after)
    assert f"q3: max {before:.1f} → {after:.1f}, so sum × {factor:.2f}" in drawn(5, tiles.NONE)
    assert "all hidden, so it is skipped" in drawn(2, tiles.CAUSAL)


@pytest.mark.parametrize("causal", [False, True])
def test_at_the_end_it_says_what_tiled_gives(causal):
    scores, values = tiles.numbers()
    query = scores * math.sqrt(tiles.LENGTH)  # with the identity for keys these are the scores
    output = tiled(query, torch.eye(tiles.LENGTH), values[:, None], tile=tiles.TILE, causal=causal)
    words = drawn(tiles.TILES, tiles.CAUSAL if causal else tiles.NONE)
    assert all(words.count(f"{each:.2f}") >= 2 for each in output.flatten())
