"""The chart of a cache's size: what it says is what is counted, and each step of a slider says another."""

import re

import pytest
import vl_convert

from chapters.long_and_fast.charts.costs import MODELS, OWN, ROOM, cache_size
from chapters.long_and_fast.exercises.cache_bytes import check_cache_bytes

pytestmark = pytest.mark.thorough

# What the papers and the published files say: vocabulary, d_model, width of the network.
ELSE = {
    "Llama 2 7B": (32000, 4096, 11008),
    "Llama 3 8B": (128256, 4096, 14336),
    "Llama 3 70B": (128256, 8192, 28672),
}


def says(**settings):
    """`says(layers=16)` are the lines of the readout."""
    spec = cache_size().to_dict()
    for control in spec["params"]:
        control["value"] = settings.get(control["name"], control.get("value"))
        if control["value"] is None:
            del control["value"]  # it has an expression
    picture = vl_convert.vegalite_to_svg(spec)
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


def test_it_begins_with_sixteen_gibibytes():
    assert says() == ("32,768 words: 16 GiB", "512 KiB a word", "21 % of an H100’s 80 GB")


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


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(("doublings", "each"), [(15, "2"), (20, "0.5")])
def test_a_known_model_has_its_own_sizes(name, doublings, each):
    model = MODELS[name]
    first, _, times = says(given=name, doublings=doublings, each=each, layers=4, groups=1, d_k=32)
    held = counted(*model[:3], doublings, each)
    assert size(first) == pytest.approx(held, rel=1e-3)
    assert times.endswith(" times its weights")
    assert float(times.split()[0]) == pytest.approx(held / (2 * model.weights), rel=0.05)


@pytest.mark.parametrize("name", MODELS)
def test_its_weights_are_those_of_its_layers(name):
    model, (vocabulary, d_model, hidden) = MODELS[name], ELSE[name]
    narrow = model.groups * model.d_k
    layer = 2 * d_model * d_model + 2 * d_model * narrow + 3 * d_model * hidden + 2 * d_model
    assert model.weights == 2 * vocabulary * d_model + model.layers * layer + d_model


@pytest.mark.parametrize("name", ["layers", "groups", "d_k", "doublings"])
def test_the_last_step_of_a_slider_says_another(name):
    """Its share of the whole is the smallest there, and the readout rounds."""
    (bind,) = (each["bind"] for each in cache_size().to_dict()["params"] if each["name"] == name)
    assert says(**{name: bind["max"]}) != says(**{name: bind["max"] - bind["step"]})


def test_without_a_known_model_there_is_one_dashed_line():
    assert OWN not in MODELS
    spec = cache_size().to_dict()
    assert "its weights" not in vl_convert.vegalite_to_svg(spec)
