"""“Fewer keys”: what only its exercises say, and its chart."""

import re

import pytest
import torch
from exercise_cases import of, telling, told
from living_charts import drawn
from torch.nn import functional as F

from attnlab import masks
from attnlab.attention import Cache
from chapters.fewer_keys_or_none import charts
from chapters.fewer_keys_or_none.charts import D_K, GROUPS, HEADS, LAYERS, PLACES
from chapters.fewer_keys_or_none.exercises import smallest_cache_parts as parts
from chapters.fewer_keys_or_none.exercises.grouped import check_grouped
from chapters.fewer_keys_or_none.exercises.smallest_cache import check_smallest_cache
from chapters.fewer_keys_or_none.exercises.smallest_cache_mistakes import Choice, Small, passing
from chapters.fewer_keys_or_none.exercises.window_mask import check_window_mask

# --- window_mask and grouped ---

test_a_reader_is_told = telling(
    told(
        check_window_mask,
        lambda n, width, sinks: masks.window(n, width, sinks)[0],
        "✗ is written without what is there already",
    ),
    told(
        check_grouped,
        lambda *inputs: F.scaled_dot_product_attention(*inputs, is_causal=True, enable_gqa=True),
        "It calls for `enable_gqa`",
    ),
)


# --- smallest_cache ---


class Half(Cache):
    def __init__(self, layer):
        super().__init__()

    def extended(self, keys, values):
        return super().extended(keys.bfloat16(), values.bfloat16())


@pytest.mark.thorough
def test_the_full_cache_loses_nothing_and_its_bits_are_counted():
    found = parts.measured(lambda layer: Cache())
    assert found.lost == pytest.approx(0, abs=1e-6)
    assert found.bits == 2 * parts.FULL  # in float32
    assert parts.measured(Half).bits == parts.FULL


@pytest.mark.thorough
def test_step_by_step_the_model_is_judged_as_all_at_once():
    with torch.no_grad():
        logits = parts.stored()(parts.crops()[:, :-1])[:, parts.LENGTH // 2 :]
    at_once = F.cross_entropy(logits.flatten(0, 1), parts.crops()[:, parts.LENGTH // 2 + 1 :].flatten())
    assert parts.full_loss() == pytest.approx(at_once.item(), abs=1e-4)


@pytest.mark.thorough
def test_the_bar_leaves_room_to_those_who_think_and_none_to_one_choice_for_all():
    found = parts.measured(passing)
    assert 0.9 * parts.LIMIT < found.bits < parts.LIMIT
    assert found.lost < 0.75 * parts.LOST
    alike = parts.measured(lambda layer: Small(layer, Choice(28, 16, 16)))
    assert alike.bits < parts.LIMIT
    assert alike.lost > parts.LOST


class InAClass:
    def __init__(self, layer):
        self.layer = layer
        setattr(InAClass, f"layer_{layer}", passing(layer))

    def extended(self, keys, values):
        return getattr(InAClass, f"layer_{self.layer}").extended(keys, values)


class Packed(Half):
    def extended(self, keys, values):
        self.packed = keys.numpy().tobytes()
        return Cache.extended(self, keys, values)


test_whose_cache_is_none_is_told = telling(
    *of(
        check_smallest_cache,
        (InAClass, "", "kept elsewhere"),
        (Packed, "something of the type bytes, which can't be counted"),
        marks=pytest.mark.thorough,
    )
)


@pytest.mark.parametrize(
    ("tensor", "bits"),
    [
        (torch.tensor([0, 3, 1]), 64 + 6),
        (torch.tensor([-1, 0, 1], dtype=torch.int8), 64 + 3 * 1.584962500721156),
        (torch.tensor([7, 7]), 64),
        (torch.tensor([True, False]), 64 + 2),
        (torch.ones(3).half(), 48),
        (torch.ones(2), 64),
        (torch.ones(2).double(), 128),
        (torch.empty(0, dtype=torch.int8), 0),
    ],
)
def test_bits(tensor, bits):
    assert parts.bits_of(tensor) == pytest.approx(bits)


def test_all_that_is_in_it_is_found():
    class Held:
        def __init__(self):
            self.rows = {"keys": [torch.ones(2)], "values": (torch.ones(3),)}
            self.time, self.name, self.again, self.nothing = 7, "held", self.rows, None

    assert sorted(each.numel() for each in parts.numbers_of(Held())) == [1, 2, 3]


# --- the chart ---


def sight(width: int, sinks: int, groups: str) -> str:
    return drawn(charts.sight(), window_width=width, sinks=sinks, groups=groups)


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


@pytest.mark.thorough
@pytest.mark.parametrize(("width", "sinks"), [(1, 0), (6, 0), (6, 3), (2, 4), (16, 4), (9, 1)])
def test_the_cells_are_those_of_the_masks(width: int, sinks: int) -> None:
    picture = sight(width, sinks, "2")
    mask = masks.window(PLACES, width, sinks)[0]
    assert cells(picture, charts.SEEN, charts.SINK).equal(mask)
    through = torch.linalg.matrix_power(mask.double(), LAYERS) > 0
    assert cells(picture, charts.SEEN, charts.SINK, charts.REACHED).equal(through)


@pytest.mark.thorough
@pytest.mark.parametrize("groups", GROUPS)
@pytest.mark.parametrize(("width", "sinks"), [(1, 0), (1, 4), (6, 2), (16, 4)])
def test_the_readout_counts_what_the_cache_holds(width: int, sinks: int, groups: str) -> None:
    held = int(masks.window(1, width, sinks, PLACES).sum())
    numbers = held * 2 * int(groups) * D_K * LAYERS
    share = 100 * numbers / (PLACES * 2 * HEADS * D_K * LAYERS)
    assert said(sight(width, sinks, groups)) == pytest.approx(
        [held, numbers, share, LAYERS * (width - 1)], abs=0.051
    )
