"""What the build makes for pages whose code can be run, and those parts of them that need no page."""

import gzip
import json
import re
import subprocess
from typing import Any

import altair

from _ext import charts, live
from _ext.javascript import NODE, NODE_MODULES
from bookkit.mime_types import CHART
from bookkit.registry import BOOK

LIVE = BOOK / "_static" / "live"


def in_node(module: str, names: str, script: str) -> Any:
    """What `script` hands to `tell`, with these names of the module."""
    whole = f"""import {{ {names} }} from {json.dumps((LIVE / module).as_uri())};
const tell = (value) => console.log(JSON.stringify(value));
{script}"""
    command = [NODE, "--input-type=module", "-"]
    run = subprocess.run(command, input=whole, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


WRITTEN = [
    ("plain\n", "plain\n"),
    ("\x1b[31mred\x1b[0m", "red"),
    ("1 %\r2 %", "2 %"),
    ("100 %\r9", "900 %"),
    ("bar 3/3\r       \rover\n", "over   \n"),
    ("a\rb\nc\rd", "b\nd"),
]


def test_a_line_that_is_written_anew_is_shown_as_a_terminal_would():
    script = f"tell({json.dumps([text for text, _ in WRITTEN])}.map(written))"
    assert in_node("terminal.mjs", "written", script) == [shown for _, shown in WRITTEN]


LOCATED = [
    ("SyntaxError", "'(' was never closed (30.py, line 2)", "'(' was never closed (this cell, line 2)"),
    ("IndentationError", "expected (595929769.py, line 12)", "expected (this cell, line 12)"),
    ("_IncompleteInputError", "incomplete input (1.py, line 1)", "incomplete input (this cell, line 1)"),
    ("SyntaxError", "invalid syntax (<unknown>, line 1)", "invalid syntax (<unknown>, line 1)"),
    ("SyntaxError", "invalid syntax (mine.py, line 1)", "invalid syntax (mine.py, line 1)"),
    ("SyntaxError", "mine (1.py, line 2) (<string>)", "mine (1.py, line 2) (<string>)"),
    ("ValueError", "mine (1.py, line 2)", "mine (1.py, line 2)"),
]


def test_what_python_could_not_read_is_told_of_this_cell_and_of_no_other_file():
    given = [[name, words] for name, words, _ in LOCATED]
    script = f"tell({json.dumps(given)}.map((each) => located(...each)))"
    assert in_node("terminal.mjs", "located", script) == [shown for *_, shown in LOCATED]


def test_a_saved_notebook_has_the_answers_and_no_outputs():
    words = {"id": "words", "cell_type": "markdown", "metadata": {}, "source": "# One"}
    mine = {"id": "mine", "cell_type": "code", "metadata": {"tags": []}, "source": "..."}
    chapter = {"metadata": {"attnlab": {"code": "abc"}}, "cells": [words, mine | {"chart": {"a": 1}}]}
    sources = 'new Map([["mine", "x = 1"]])'
    saved = in_node("saving.mjs", "notebook", f"tell(notebook({json.dumps(chapter)}, {sources}))")
    assert saved == {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": chapter["metadata"],
        "cells": [words, mine | {"source": "x = 1", "outputs": [], "execution_count": None}],
    }


BINDER = """
const said = [];
let stream;
globalThis.EventSource = class {
  constructor(address) {
    said.push(address);
    stream = this;
  }
  close() {
    said.push("closed");
  }
};
const coming = binder("https://binder/build", (words) => said.push(words), SLOW)
  .then((server) => said.push(server), ({ message, way }) => said.push(message, way));
for (const event of EVENTS) {
  if (typeof event === "number") await new Promise((resume) => setTimeout(resume, event));
  else if (event === "broken") stream.onerror();
  else stream.onmessage({ data: JSON.stringify(event) });
}
await coming;
tell(said);
"""


def told_by_binder(*events: Any, slow: int = 60_000) -> list[Any]:
    script = BINDER.replace("EVENTS", json.dumps(events)).replace("SLOW", str(slow))
    address, *said = in_node("binder.mjs", "binder", script)
    assert address == "https://binder/build"
    assert said.count("closed") == 1  # the browser would ask again and again
    return [words for words in said if words != "closed"]


def test_a_phase_is_told_once_and_what_is_unknown_is_not_told():
    phases = [{"phase": phase} for phase in ("waiting", "waiting", "unknown", "launching")]
    ready = {"phase": "ready", "url": "https://hub/user/ada/", "token": "t"}
    *words, server = told_by_binder(*phases, ready)
    assert words == ["Binder has taken the order and waits for a free machine.", "Binder starts the machine."]
    assert server == {"baseUrl": "https://hub/user/ada/", "token": "t"}


def test_who_waits_long_for_binder_is_told_so():
    said = told_by_binder({"phase": "fetching"}, 60, "broken", slow=20)
    assert said[1].startswith("Binder fetches the book. This takes long.")
    ended = told_by_binder({"phase": "fetching"}, "broken", 60, slow=20)
    assert not any("takes long" in words for words in ended)


def test_what_went_wrong_at_binder_is_told_by_how_far_it_was():
    assert told_by_binder("broken")[0].startswith("Binder does not answer")
    assert told_by_binder({"phase": "built"}, "broken")[1].startswith("The connection to Binder broke off")
    words, way = told_by_binder({"phase": "failed", "message": "no such tag\n"})
    assert words == "Binder could not start the book: “no such tag”"
    assert "make live" in way


TABS = """
const all = new Map();
globalThis.localStorage = {
  getItem: (name) => all.get(name) ?? null,
  setItem: (name, value) => all.set(name, value),
  removeItem: (name) => all.delete(name),
};
const complaints = [];
const tab = () => new Answers("a-page", () => complaints.push("full"));
const [one, other] = [tab(), tab()];
one.of("cell");
other.of("cell");
"""


def with_tabs(script: str) -> Any:
    return in_node("answers.mjs", "Answers", TABS + script)


def test_what_was_typed_is_found_again_under_its_own_chapter_and_cell():
    script = """one.keep("cell", "x");
tell([tab().of("cell"), tab().of("another"), new Answers("other-page").of("cell"), one.other("cell")])"""
    assert with_tabs(script) == ["x", None, None, None]


def test_what_another_tab_typed_is_set_aside_and_not_lost():
    script = """one.keep("cell", "from one");
other.keep("cell", "from other");
other.keep("cell", "from other, more");
const kept = tab().of("cell"), aside = tab().other("cell");
one.settle("cell");
tell([kept, aside, tab().other("cell")])"""
    assert with_tabs(script) == ["from other, more", "from one", None]


def test_an_answer_that_was_put_back_is_forgotten():
    assert with_tabs("""one.keep("cell", "x"); one.forget("cell"); tell([...all])""") == []


def test_a_browser_that_is_full_is_complained_of_once():
    script = """localStorage.setItem = () => { throw new Error("full"); };
one.keep("cell", "x");
one.keep("cell", "xy");
tell(complaints)"""
    assert with_tabs(script) == ["full"]


# ---- what the build makes ----

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


def test_a_page_is_told_all_cells_and_of_what_they_put_out_the_chart_alone():
    script = live.script_of(NOTEBOOK, name="a-page", hub="").decode()
    chapter = json.loads(re.fullmatch(r"chapterToRun = (.*);\n", script)[1])
    tagged = {"id": "one", "cell_type": "code", "metadata": {"tags": ["measurement"]}, "source": "1 + 1"}
    assert chapter.pop("cells") == [
        {"id": "title", "cell_type": "markdown", "metadata": {}, "source": "# Té\nwords"},
        tagged | {"chart": {"mark": "bar"}},
    ]
    assert chapter == {"name": "a-page", "hub": "", "metadata": NOTEBOOK["metadata"]}


def test_what_comes_is_weighed_compressed():
    files = [b"a" * 100_000, bytes(range(256)) * 100]
    assert live.kilobytes(files) == f"{sum(len(gzip.compress(file)) for file in files) / 1000:.0f}\u00a0kB"


def test_the_script_stays_light():
    """A page that needs no chart of its own loads no Vega-Lite."""
    assert len(gzip.compress(live.script())) < 175_000
    assert b"vega-lite" not in live.script()
    assert len(gzip.compress(live.charts())) < 95_000


def test_a_chart_that_changed_looks_as_the_build_would_have_it():
    look, widths, script = live.charts().decode().split("\n", 2)
    assert json.loads(look.removeprefix("chartLook = ").removesuffix(";")) == charts.LOOK
    assert json.loads(widths.removeprefix("chartWidths = ").removesuffix(";")) == charts.WIDTHS
    assert "showChart" in script


def test_vega_lite_is_the_one_that_wrote_the_charts():
    version = json.loads((NODE_MODULES / "vega-lite/package.json").read_text("utf-8"))["version"]
    assert f"v{version}" == altair.SCHEMA_VERSION
