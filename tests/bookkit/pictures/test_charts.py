"""Charts say what they show, hold little, and open with numbers that are right.

In the page, tests/chapters moves their controls through all the rest.
"""

import importlib
import inspect
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


@pytest.mark.thorough
@pytest.mark.parametrize("chart", CHARTS)
def test_a_cell_stores_the_chart_with_few_numbers_and_its_description(chart):
    stored = chart()._repr_mimebundle_()
    assert stored.keys() == {CHART, "text/plain"}
    assert stored["text/plain"] == stored[CHART]["description"]
    assert len(stored["text/plain"]) > 80
    assert stored == chart()._repr_mimebundle_()
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


# ---- what each chart of a chapter says, beside what is computed without it ----


def who_is_nearest():
    counts = count(neighbours(written(400, seed=0)))
    dog, cat, the = (counts[NUMBER[word]] for word in ("dog", "cat", "the"))
    cosine = torch.cosine_similarity(dog, cat, dim=0)
    nearest = {"dot product": f"the {dog @ the:,.0f}, ", "cosine": f"cat {cosine:.2f}, "}
    nearest["distance"] = f"cat {(dog - cat).norm():.1f}, "
    for measure, first in nearest.items():
        chosen = {"chosen": OFFERED.index("dog"), "measure": measure}
        yield word_map(), chosen, [f"dog, nearest by {measure}:", first]


def soft_look_ups():
    angles, legs = torch.tensor(list(ANIMALS.values()), dtype=torch.float64).T
    weights = (5 * (angles - 30).deg2rad().cos()).softmax(-1)
    said = [f"largest weight {weights.max():.2f}", f"output {weights @ legs:.2f} legs"]
    yield soft_look_up(), {"degrees": 30, "factor": 5}, said
    hours, visitors = torch.tensor(list(VISITORS.items()), dtype=torch.float64).T
    weights = (-(hours - 12).abs() / 2).softmax(-1)
    said = [f"answer {weights @ visitors:.1f} visitors", f"largest weight {100 * weights.max():.1f} %"]
    yield soft_dictionary(), {"query": 12, "exponent": 1}, said


def epochs_and_rows():
    iterations = f"iterations per epoch: {iterations_per_epoch(2001, 500, workers=2)}"
    said = [iterations, "in the last update: 2", "read twice: 1, left out: 0"]
    yield one_epoch(), {"examples": 2001, "workers": 2, "batch_size": 500}, said
    lost = sum(max(0, tokens - 100) for tokens in FAMOUS_LENGTHS) / sum(FAMOUS_LENGTHS)
    padding = sum(max(0, 100 - tokens) for tokens in FAMOUS_LENGTHS) / (100 * len(FAMOUS_LENGTHS))
    said = [f"tokens lost {100 * lost:.1f} %", f"padding {100 * padding:.1f} % of the array"]
    yield padding_and_cutting(), {"row": 100}, said


def a_field_of_scores():
    query = torch.tensor([[math.sqrt(3), 1.0]])  # of length 2, at 30 degrees
    table = scores.general(query, torch.tensor([*KEYS.values()]), torch.tensor([[0.0, 1.0], [-1.0, 0.0]]))[0]
    best = f"best key {list(KEYS)[table.argmax()]}, score {table.max():.2f}"
    said = [best, f"its weight {table.softmax(-1).max():.3f}"]
    yield score_field(), {"formula": "general", "direction": 30, "length": 2}, said


def whom_training_shows():
    on_the_chased = [PERCENT[80][6 * place + chased] for place, chased in enumerate(CHASED)]
    mean, least = sum(on_the_chased) / len(CHASED), min(on_the_chased)
    said = [f"weight on the chased one: mean {mean:.0f} %, least {least} %"]
    yield through_training(), {"steps": 80}, said
    said = ["state_dict(): Is it in there?", "yes: parameter, frozen, buffer", "no: unsaved, plain"]
    yield who_follows(), {"operation": "state_dict()"}, said


def rows_of_positions():
    table = positions.sinusoidal(POSITIONS, 8, 100, torch.float64)
    alike = (table @ table[0] / 4)[1:]
    said = [
        "position 0, 8 columns, base 100",
        f"most alike: position {alike.argmax() + 1}, {alike.max():.3f}",
    ]
    yield position_table(), {"d_model": 8, "exponent": 2, "chosen": 0}, said


def who_may_look_at_whom():
    table, causal = torch.tensor([SCORES], dtype=torch.float64), masks.causal(6)
    in_front = masks.padding(torch.tensor([4]), 6).flip(-1)  # two of filler, four words
    on_filler = masked_softmax(table, causal)[..., :2].sum() / 6
    controls = {"words": 4, "mask": "causal", "side": "at the front"}
    yield who_may_look(), controls, [f"weight on filler {100 * on_filler:.0f} %, on later places 0 %"]
    weights = 100 * masked_softmax(table, masks.combine(causal, in_front))[0]
    said = ["rows that may look at nothing: 2", *(f"{weight:.0f}" for weight in weights[5, 2:])]
    yield who_may_look(), controls | {"mask": "both"}, said


def a_saturating_softmax():
    assert len(STANDARD_SCORES) == 16
    assert sorted(STANDARD_SCORES, reverse=True) == list(STANDARD_SCORES)
    weights = (torch.tensor(STANDARD_SCORES, dtype=torch.float64) / 4).softmax(-1)
    entropy = f"entropy {torch.special.entr(weights).sum():.2f} nats of {math.log(16):.2f}"
    said = [f"largest weight {weights.max():.3f}", entropy]
    yield softmax_saturation(), {"exponent": 4, "divisor": "d_k"}, said


READINGS = [
    who_is_nearest, soft_look_ups, epochs_and_rows, a_field_of_scores, whom_training_shows,
    rows_of_positions, who_may_look_at_whom, a_saturating_softmax,
]  # fmt: skip


@pytest.mark.parametrize("reading", READINGS)
def test_a_chart_says_what_is_computed(reading):
    for chart, controls, said in reading():
        seen = texts(drawn(chart, **controls))
        for words in said:
            assert any(each.startswith(words) if words.endswith(", ") else each == words for each in seen), (
                words
            )


def test_every_altair_chart_is_stored_so():
    """An author who draws a chart in a chapter gets the same treatment, and the same refusal."""
    chart = alt.Chart(alt.InlineData([{"x": 1}])).mark_bar().encode(x="x:Q")
    with pytest.raises(ValueError, match="description"):
        chart._repr_mimebundle_()
    assert "text/html" not in chart.properties(description="One bar.")._repr_mimebundle_()
