"""What a chart says and holds once its controls have been moved: drawn without a page, or on a built one."""

from typing import Any

import torch
import vl_convert
from browser_pages import PATIENCE
from playwright.sync_api import Locator


def drawn(chart: Any, **settings: object) -> str:
    """`drawn(charts.sight(), sinks=2)` is the chart as SVG, with its controls so."""
    spec = chart.to_dict()
    for control in spec["params"]:
        if control["name"] in settings:
            control["value"] = settings[control["name"]]
    return vl_convert.vegalite_to_svg(spec).replace("−", "-")


def says(chart: Locator, words: str) -> str:
    """`says(chart, "d_k = 64")` is the chart's readout, as soon as it holds these words.

    It looks often: Playwright's `expect` would wait a tenth of a second, at each of many moves.
    """
    script = """async (chart, [words, patience]) => {
        const readout = chart.querySelector("[role=status]");
        for (const end = Date.now() + patience; Date.now() < end && !readout.textContent.includes(words);)
            await new Promise((resolve) => setTimeout(resolve, 5));
        return readout.textContent;
    }"""
    said: str = chart.evaluate(script, [words, PATIENCE])
    assert words in said
    return said


def numbers(chart: Locator, *fields: str) -> list[torch.Tensor]:
    """`numbers(chart, "weight")` holds, of each field, what stands in the first data set that has it."""
    script = """async (chart, fields) => {
        await chart.view.runAsync();  // what has been set counts
        const { data } = JSON.parse(chart.querySelector("script").textContent);
        const sets = data.map(({ name }) => chart.view.data(name));
        return fields.map((field) => {
            const set = sets.find((rows) => rows[0]?.[field] !== undefined);
            return set.map((row) => row[field]);
        });
    }"""
    return [torch.tensor(values, dtype=torch.float64) for values in chart.evaluate(script, fields)]
