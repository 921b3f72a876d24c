"""The chart of windows and sinks draws what attnlab's masks show, and counts what a cache holds."""

import re

import pytest
import torch
import vl_convert

from attnlab import masks
from chapters.fewer_keys_or_none import charts
from chapters.fewer_keys_or_none.charts import D_K, GROUPS, HEADS, LAYERS, MOST_SINKS, PLACES, WIDEST

pytestmark = pytest.mark.thorough


def drawn(width: int, sinks: int, groups: str) -> str:
    spec = charts.sight().to_dict()
    for control in spec["params"]:
        control["value"] = {"window_width": width, "sinks": sinks, "groups": groups}[control["name"]]
    return vl_convert.vegalite_to_svg(spec)


def said(picture: str) -> list[float]:
    """Of the readout: places held, numbers held, per cent of all, places reached."""
    words = " ".join(re.findall(r">([^<>]*(?:the cache|numbers:|three layers)[^<>]*)<", picture))
    found = re.search(
        r"holds (\d+) of 24 places, ([\d,]+) numbers: ([\d.]+) % of all three .* (\d+) places", words
    )
    assert found, words
    return [float(number.replace(",", "")) for number in found.groups()]


def cells(picture: str, *kinds: str) -> torch.Tensor:
    """Which cells are drawn as one of these, (24, 24)."""
    shown = torch.zeros(PLACES, PLACES, dtype=torch.bool)
    for label in re.findall(r'aria-label="([^"]*key: looked at: [^"]*)"', picture):
        key, query = (int(re.search(rf"{name}: (\d+)", label)[1]) for name in ("looked at", "query: looks"))
        shown[query - 1, key - 1] = any(f"kind: {kind}" in label for kind in kinds)
    return shown


@pytest.mark.parametrize(("width", "sinks"), [(1, 0), (6, 0), (6, 3), (2, 4), (16, 4), (9, 1)])
def test_the_cells_are_those_of_the_masks(width: int, sinks: int) -> None:
    picture = drawn(width, sinks, "2")
    mask = masks.window(PLACES, width, sinks)[0]
    assert cells(picture, charts.SEEN, charts.SINK).equal(mask)
    through = torch.linalg.matrix_power(mask.double(), LAYERS) > 0
    assert cells(picture, charts.SEEN, charts.SINK, charts.REACHED).equal(through)


@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize(("width", "sinks"), [(1, 0), (1, 4), (6, 2), (16, 4)])
def test_the_readout_counts_what_the_cache_holds(width: int, sinks: int, groups: str) -> None:
    held = int(masks.window(1, width, sinks, PLACES).sum())
    numbers = held * 2 * int(groups) * D_K * LAYERS
    share = 100 * numbers / (PLACES * 2 * HEADS * D_K * LAYERS)
    assert said(drawn(width, sinks, groups)) == pytest.approx(
        [held, numbers, share, LAYERS * (width - 1)], abs=0.051
    )


def test_each_step_of_a_slider_changes_what_it_says() -> None:
    by_width = [tuple(said(drawn(width, 0, "2"))) for width in range(1, WIDEST + 1)]
    by_sinks = [tuple(said(drawn(WIDEST, sinks, "2"))) for sinks in range(MOST_SINKS + 1)]
    by_groups = [tuple(said(drawn(6, 0, groups))) for groups in GROUPS]
    for each in (by_width, by_sinks, by_groups):
        assert len({*each}) == len(each)
