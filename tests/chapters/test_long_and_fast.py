"""“Long and fast”: what only its exercises say, and its chart."""

import math
import re

import pytest
import torch
from exercise_cases import of, telling
from living_charts import drawn

from attnlab.attention import Cache
from chapters.long_and_fast.charts import tiles
from chapters.long_and_fast.charts.costs import MODELS, ROOM, cache_size
from chapters.long_and_fast.exercises import check_cache_bytes, check_running_softmax

softmax = check_running_softmax.reference
test_who_looks_back_is_told = telling(
    *of(
        check_running_softmax,
        (
            lambda query, chunks: [keys @ query for keys, _ in chunks] and softmax(query, chunks),
            "It goes back",
        ),
        (
            lambda *inputs: softmax(*inputs) + 0 * torch.cat([keys for keys, _ in inputs[1]]).sum(),
            "It lays all",
        ),
    )
)


@pytest.mark.parametrize("groups", [1, 3])
def test_it_counts_what_a_cache_holds(groups):
    caches = [Cache() for _ in range(2)]
    for cache in caches:
        for _ in range(5):  # words
            word = torch.zeros(4, groups, 1, 8)  # (rows, groups, 1, d_k)
            keys, values = cache.extended(word, word)
        assert (keys.nbytes + values.nbytes) * len(caches) == check_cache_bytes.reference(
            2, 6, groups, 8, 5, 4, 32, None
        )


# --- the chart of what a cache costs ---


# What the papers and the published files say: vocabulary, d_model, width of the network.
ELSE = {
    "Llama 2 7B": (32000, 4096, 11008),
    "Llama 3 8B": (128256, 4096, 14336),
    "Llama 3 70B": (128256, 8192, 28672),
}


def says(**settings):
    """`says(layers=16)` are the lines of the readout."""
    picture = drawn(cache_size(), **settings)
    said = re.findall(r">([\d,]+ words: [^<]+)<.*?>([^<]+ KiB a word)<.*?>([^<]+)<", picture)
    assert len(said) == 1
    return said[0]


def size(words):
    """`size("128 words: 16 GiB")` are bytes."""
    number, unit = words.split(": ")[1].split()
    return float(number.replace(",", "")) * {"MiB": 2**20, "GiB": 2**30}[unit]


def counted(layers, groups, d_k, doublings, each):
    return check_cache_bytes.reference(
        layers, groups, groups, d_k, 2**doublings, 1, int(8 * float(each)), None
    )


@pytest.mark.thorough
def test_it_begins_with_sixteen_gibibytes():
    assert says() == ("32,768 words: 16 GiB", "512 KiB a word", "21 % of an H100’s 80 GB")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "sizes", [(32, 8, 128, 15, "2"), (4, 1, 32, 7, "0.5"), (96, 64, 256, 20, "2"), (80, 8, 64, 17, "1")]
)
def test_it_says_what_is_counted(sizes):
    given = dict(zip(("layers", "groups", "d_k", "doublings", "each"), sizes, strict=True))
    first, each_word, share = says(**given)
    assert size(first) == pytest.approx(counted(*sizes), rel=1e-3)
    assert float(each_word.split()[0].replace(",", "")) == pytest.approx(
        counted(*sizes) / 2 ** sizes[3] / 1024, rel=1e-3
    )
    assert float(share.split()[0]) == pytest.approx(100 * counted(*sizes) / ROOM, rel=0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("doublings", "each"), [(15, "2"), (20, "0.5")])
def test_a_known_model_has_its_own_sizes(name, doublings, each):
    model = MODELS[name]
    first, _, times = says(given=name, doublings=doublings, each=each, layers=4, groups=1, d_k=32)
    held = counted(*model[:3], doublings, each)
    assert size(first) == pytest.approx(held, rel=1e-3)
    assert times.endswith(" times its weights")
    assert float(times.split()[0]) == pytest.approx(held / (2 * model.weights), rel=0.05)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_its_weights_are_those_of_its_layers(name):
    model, (vocabulary, d_model, hidden) = MODELS[name], ELSE[name]
    narrow = model.groups * model.d_k
    layer = 2 * d_model * d_model + 2 * d_model * narrow + 3 * d_model * hidden + 2 * d_model
    assert model.weights == 2 * vocabulary * d_model + model.layers * layer + d_model


# --- the chart of tiles ---


def texts(step, mask):
    """What the chart writes, each text of its picture."""
    return re.findall(r">([^<>]+)</t", drawn(tiles.filling(), step=step, mask=mask))


def seen(step, causal):
    """Of each query, the keys in the tiles so far."""
    place = torch.arange(tiles.LENGTH)
    tile = place[:, None] // tiles.TILE * tiles.ACROSS + place // tiles.TILE
    return (tile < step) & ((place <= place[:, None]) if causal else torch.tensor(True))


@pytest.mark.thorough
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
    words = texts(step, mask)
    assert sorted(word for word in words if re.fullmatch(r"-?\d+\.\d+", word)) == sorted(expected)
    assert words.count("–") == 3 * (~so_far.any(-1)).sum()


@pytest.mark.thorough
def test_it_says_by_what_the_sum_is_multiplied():
    scores, _ = tiles.numbers()
    before, after = scores[2, :2].max(), scores[2, :4].max()
    assert after > before
    factor = math.exp(before - after)
    assert f"q3: max {before:.1f} → {after:.1f}, so sum × {factor:.2f}" in texts(5, tiles.NONE)
    assert "all hidden, so it is skipped" in texts(2, tiles.CAUSAL)
