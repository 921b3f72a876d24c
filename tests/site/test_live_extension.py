"""What the build makes for the pages whose code can be run."""

import gzip
import json
import re

import pytest

from _ext import charts, live
from _ext.javascript import NODE_MODULES
from bookkit.mime_types import CHART
from bookkit.registry import BOOK

NOTEBOOK = {
    "metadata": {"attnlab": {"code": "abc"}},
    "cells": [
        {"id": "title", "cell_type": "markdown", "metadata": {}, "source": ["# Té\n", "words"]},
        {
            "id": "one",
            "cell_type": "code",
            "metadata": {"tags": ["measurement"]},
            "source": "1 + 1",
            "execution_count": 3,
            "outputs": [{"data": {"text/plain": "2"}}, {"data": {CHART: {"mark": "bar"}}}],
        },
    ],
}


def test_a_page_is_told_all_cells_and_of_what_they_put_out_the_chart_alone() -> None:
    script = live.told(NOTEBOOK, name="a-page", hub="").decode()
    chapter = json.loads(re.fullmatch(r"chapterToRun = (.*);\n", script)[1])
    assert chapter == {
        "name": "a-page",
        "hub": "",
        "metadata": NOTEBOOK["metadata"],
        "cells": [
            {"id": "title", "cell_type": "markdown", "metadata": {}, "source": "# Té\nwords"},
            {
                "id": "one",
                "cell_type": "code",
                "metadata": {"tags": ["measurement"]},
                "source": "1 + 1",
                "chart": {"mark": "bar"},
            },
        ],
    }


def test_what_comes_is_weighed_compressed() -> None:
    files = [b"a" * 100_000, bytes(range(256)) * 100]
    assert live.kilobytes(files) == f"{sum(len(gzip.compress(file)) for file in files) / 1000:.0f}\u00a0kB"


def test_the_script_stays_light() -> None:
    """A page that needs no chart of its own loads no Vega-Lite."""
    assert len(gzip.compress(live.script())) < 175_000
    assert b"vega-lite" not in live.script()
    assert len(gzip.compress(live.charts())) < 95_000


def test_a_chart_that_changed_looks_as_the_build_would_have_it() -> None:
    look, widths, script = live.charts().decode().split("\n", 2)
    assert json.loads(look.removeprefix("chartLook = ").removesuffix(";")) == charts.LOOK
    assert json.loads(widths.removeprefix("chartWidths = ").removesuffix(";")) == charts.WIDTHS
    assert "showChart" in script


def test_vega_lite_is_the_one_that_wrote_the_charts() -> None:
    import altair

    version = json.loads((NODE_MODULES / "vega-lite/package.json").read_text("utf-8"))["version"]
    assert f"v{version}" == altair.SCHEMA_VERSION


@pytest.mark.parametrize("name", sorted(file.name for file in (BOOK / "_static/live").glob("*.mjs")))
def test_each_script_has_one_concern(name: str) -> None:
    lines = (BOOK / "_static/live" / name).read_text("utf-8").splitlines()
    assert len(lines) < 250
    assert all(len(line) <= 120 for line in lines)
