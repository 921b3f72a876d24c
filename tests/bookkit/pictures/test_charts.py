"""Charts say what they show and hold little; tests/chapters moves their controls, beside what is computed."""

import importlib
import inspect
import pkgutil
import re

import altair as alt
import pytest
import vl_convert

import chapters
from bookkit.mime_types import CHART
from bookkit.pictures import charts

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


def test_the_softmax_of_great_scores_does_not_overflow():
    """No chart's controls go so far; the next chart's may."""
    rows = alt.Chart(alt.InlineData([{"x": 0}, {"x": 1000}, {"x": 1000}]))
    chart = charts.softmax(rows, score="datum.x").mark_text().encode(text="weight:Q")
    picture = vl_convert.vegalite_to_svg(chart.to_dict())
    assert re.findall(r"<text[^>]*>([^<]+)</text>", picture) == ["0", "0.5", "0.5"]


def test_no_altair_chart_is_stored_without_a_description():
    chart = alt.Chart(alt.InlineData([{"x": 1}])).mark_bar().encode(x="x:Q")
    for described in (chart, chart.properties(description=" \n")):
        with pytest.raises(ValueError, match="description must say in words what the chart shows"):
            described._repr_mimebundle_()
    assert "text/html" not in chart.properties(description="One bar.")._repr_mimebundle_()
