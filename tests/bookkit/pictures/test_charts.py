"""Charts say what they show, hold little, and open with numbers that are right.

In the page, tests/chapters moves their controls through all the rest.
"""

import importlib
import inspect
import json
import math
import pkgutil
import re

import altair as alt
import pytest
import torch
import vl_convert

import chapters
from attnlab import masks, positions, scores
from attnlab.attention import masked_softmax
from attnlab.training.batches import iterations_per_epoch
from bookkit.mime_types import CHART
from bookkit.pictures import charts
from chapters.buffers_parameters_and_plain_tensors.charts import who_follows
from chapters.epochs_batches_iterations.charts import one_epoch
from chapters.from_words_to_vectors.charts import OFFERED, word_map
from chapters.from_words_to_vectors.counting import count, neighbours
from chapters.from_words_to_vectors.grammar import NUMBER, written
from chapters.queries_keys_and_values_that_learn.charts import CHASED, PERCENT, through_training
from chapters.text_as_tensors.charts import FAMOUS_LENGTHS, padding_and_cutting
from chapters.two_ways_to_score.charts import KEYS, score_field
from chapters.what_is_attention.charts import VISITORS, soft_dictionary
from chapters.what_is_attention.front_page import ANIMALS, soft_look_up
from chapters.where_am_i.charts import POSITIONS, position_table
from chapters.who_may_look_where.charts import SCORES, who_may_look
from chapters.why_divide_by_root_dk.charts import STANDARD_SCORES, softmax_saturation

MODULES = [
    importlib.import_module(module.name)
    for module in pkgutil.walk_packages(chapters.__path__, "chapters.")
    if module.name.endswith((".charts", ".front_page"))
]
CHARTS = [
    function
    for module in MODULES
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not name.startswith("_")
]


@pytest.mark.weekly
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_is_the_same_each_time(chart):
    first, second = (json.dumps(chart()._repr_mimebundle_()) for _ in range(2))
    assert first == second


@pytest.mark.thorough
@pytest.mark.parametrize("chart", CHARTS)
def test_a_cell_stores_the_chart_and_its_description(chart):
    stored = chart()._repr_mimebundle_()
    assert stored.keys() == {CHART, "text/plain"}
    assert stored["text/plain"] == stored[CHART]["description"]
    assert len(stored["text/plain"]) > 80


@pytest.mark.thorough
@pytest.mark.parametrize("chart", CHARTS)
def test_a_chart_brings_few_numbers(chart):
    data_sets = chart().to_dict().get("datasets", {}).values()
    assert sum(len(row) for data in data_sets for row in data) <= 200


@pytest.mark.parametrize("description", [{}, {"description": ""}, {"description": " \n"}])
def test_a_chart_without_a_description_is_refused(description):
    with pytest.raises(ValueError, match="description must say in words what the chart shows"):
        charts.for_notebooks(description)


def drawn(chart, **values):
    """The SVG of a chart whose controls stand at `values`."""
    spec = chart.to_dict()
    for control in spec.get("params", []):
        control["value"] = values.pop(control["name"], control.get("value"))
    assert not values, "no control of the chart has such a name"
    return vl_convert.vegalite_to_svg(spec)


def texts(picture):
    return re.findall(r"<(?:text|tspan)[^>]*>([^<]+)</(?:text|tspan)>", picture)


def test_the_softmax_of_great_scores_does_not_overflow():
    """No chart's controls go so far; the next chart's may."""
    rows = alt.Chart(alt.InlineData([{"x": 0}, {"x": 1000}, {"x": 1000}]))
    chart = charts.softmax(rows, score="datum.x").mark_text().encode(text="weight:Q")
    assert texts(drawn(chart)) == ["0", "0.5", "0.5"]


def test_a_slider_goes_from_end_to_end_by_its_steps():
    slider = charts.slider("d_model", "columns", 2, 32, step=4, value=16).param.to_dict()
    bind = {"input": "range", "name": "columns", "min": 2, "max": 32, "step": 4}
    assert slider == {"name": "d_model", "value": 16, "bind": bind}


def test_a_choice_begins_as_it_is_told():
    choice = charts.choice("cut", "a long review", ["front", "back"], value="back").param.to_dict()
    bind = {"input": "radio", "name": "a long review", "options": ["front", "back"]}
    assert choice == {"name": "cut", "value": "back", "bind": bind}


@pytest.mark.parametrize(("side", "x", "align"), [("left", 0, "left"), ("right", "width", "right")])
def test_a_readout_stands_at_its_side_and_is_named_for_the_page(side, x, align):
    readout = charts.readout(alt.Chart(alt.InlineData([{"readout": "one"}])), side, y=0).to_dict()
    assert readout["name"] == "readout"
    assert readout["encoding"]["x"] == {"value": x}
    assert readout["mark"]["align"] == align


def test_what_who_follows_says_of_an_operation():
    assert {"state_dict(): Is it in there?", "yes: parameter, frozen, buffer", "no: unsaved, plain"} <= set(
        texts(drawn(who_follows(), operation="state_dict()"))
    )


def test_how_one_epoch_counts():
    said = texts(drawn(one_epoch(), examples=2001, workers=2, batch_size=500))
    assert f"iterations per epoch: {iterations_per_epoch(2001, 500, workers=2)}" in said
    assert {"in the last update: 2", "read twice: 1, left out: 0"} <= set(said)


def test_who_is_nearest_on_the_map_of_words():
    counts = count(neighbours(written(400, seed=0)))
    dog, cat, the = (counts[NUMBER[word]] for word in ("dog", "cat", "the"))
    nearest = {
        "dot product": f"the {dog @ the:,.0f}, ",
        "cosine": f"cat {torch.cosine_similarity(dog, cat, dim=0):.2f}, ",
        "distance": f"cat {(dog - cat).norm():.1f}, ",
    }
    for measure, first in nearest.items():
        said = texts(drawn(word_map(), chosen=OFFERED.index("dog"), measure=measure))
        assert f"dog, nearest by {measure}:" in said
        assert any(words.startswith(first) for words in said)


def test_what_the_soft_look_up_finds():
    angles, legs = torch.tensor(list(ANIMALS.values()), dtype=torch.float64).T
    weights = (5 * (angles - 30).deg2rad().cos()).softmax(-1)
    said = texts(drawn(soft_look_up(), degrees=30, factor=5))
    assert {f"largest weight {weights.max():.2f}", f"output {weights @ legs:.2f} legs"} <= set(said)


def test_how_much_padding_and_cutting_cost():
    lost = sum(max(0, tokens - 100) for tokens in FAMOUS_LENGTHS) / sum(FAMOUS_LENGTHS)
    padding = sum(max(0, 100 - tokens) for tokens in FAMOUS_LENGTHS) / (100 * len(FAMOUS_LENGTHS))
    said = texts(drawn(padding_and_cutting(), row=100))
    assert {f"tokens lost {100 * lost:.1f} %", f"padding {100 * padding:.1f} % of the array"} <= set(said)


def test_what_the_general_score_of_the_field_is():
    query = torch.tensor([[math.sqrt(3), 1.0]])  # of length 2, at 30 degrees
    keys = torch.tensor(list(KEYS.values()))
    table = scores.general(query, keys, torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))[0]
    said = texts(drawn(score_field(), formula="general", direction=30, length=2))
    best = list(KEYS)[table.argmax()]
    assert {f"best key {best}, score {table.max():.2f}", f"its weight {table.softmax(-1).max():.3f}"} <= set(
        said
    )


def test_whom_through_training_shows_at_each_step():
    on_the_chased = [PERCENT[80][6 * place + chased] for place, chased in enumerate(CHASED)]
    said = texts(drawn(through_training(), steps=80))
    mean, least = sum(on_the_chased) / len(CHASED), min(on_the_chased)
    assert f"weight on the chased one: mean {mean:.0f} %, least {least} %" in said


def test_what_the_soft_dictionary_answers():
    hours, visitors = torch.tensor(list(VISITORS.items()), dtype=torch.float64).T
    weights = (-(hours - 12).abs() / 2).softmax(-1)
    said = texts(drawn(soft_dictionary(), query=12, exponent=1))
    assert f"answer {weights @ visitors:.1f} visitors" in said
    assert f"largest weight {100 * weights.max():.1f} %" in said


def test_how_alike_the_rows_of_the_position_table_are():
    table = positions.sinusoidal(POSITIONS, 8, 100, torch.float64)
    alike = table @ table[0] / 4
    said = texts(drawn(position_table(), d_model=8, exponent=2, chosen=0))
    assert "row 0 of 8 columns, base 100" in said
    assert f"most alike: row {alike[1:].argmax() + 1}, {alike[1:].max():.3f}" in said


def test_where_the_weight_goes_under_a_mask():
    table, causal = torch.tensor([SCORES], dtype=torch.float64), masks.causal(6)
    in_front = masks.padding(torch.tensor([4]), 6).flip(-1)  # two of filler, four words
    seen = texts(drawn(who_may_look(), words=4, mask="causal", side="at the front"))
    on_filler = masked_softmax(table, causal)[..., :2].sum() / 6
    assert f"weight on filler {100 * on_filler:.0f} %, on later places 0 %" in seen
    hidden = texts(drawn(who_may_look(), words=4, mask="both", side="at the front"))
    assert "rows that may look at nothing: 2" in hidden
    weights = 100 * masked_softmax(table, masks.combine(causal, in_front))[0]
    assert {f"{weight:.0f}" for weight in weights[5, 2:]} <= set(hidden)


def test_how_far_the_softmax_saturates():
    weights = (torch.tensor(STANDARD_SCORES, dtype=torch.float64) / 4).softmax(-1)
    entropy = torch.special.entr(weights).sum()
    said = texts(drawn(softmax_saturation(), exponent=4, divisor="d_k"))
    assert f"largest weight {weights.max():.3f}" in said
    assert f"entropy {entropy:.2f} nats of {math.log(16):.2f}" in said


def test_the_standard_scores_are_sixteen_from_high_to_low():
    assert len(STANDARD_SCORES) == 16
    assert sorted(STANDARD_SCORES, reverse=True) == list(STANDARD_SCORES)


def test_every_altair_chart_is_stored_so():
    """An author who draws a chart in a chapter gets the same treatment, and the same refusal."""
    chart = alt.Chart(alt.InlineData([{"x": 1}])).mark_bar().encode(x="x:Q")
    with pytest.raises(ValueError, match="description"):
        chart._repr_mimebundle_()
    assert "text/html" not in chart.properties(description="One bar.")._repr_mimebundle_()
