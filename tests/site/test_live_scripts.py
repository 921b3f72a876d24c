"""What the build makes for pages whose code can be run, and those parts of them that need no page."""

import gzip
import json
from typing import Any

import altair
from node import printed

from _ext import charts, live
from _ext.javascript import NODE_MODULES
from bookkit.registry import BOOK

LIVE = BOOK / "_static" / "live"


def in_node(module: str, names: str, script: str) -> Any:
    """What `script` hands to `tell`, with these names of the module."""
    whole = f"""import {{ {names} }} from {json.dumps((LIVE / module).as_uri())};
const tell = (value) => console.log(JSON.stringify(value));
{script}"""
    return printed(whole, "--input-type=module")


WRITTEN = [
    ("plain\n", "plain\n"),
    ("\x1b[31mred\x1b[0m", "red"),
    ("1 %\r2 %", "2 %"),
    ("100 %\r9", "900 %"),
    ("bar 3/3\r       \rover\n", "over   \n"),
    ("a\rb\nc\rd", "b\nd"),
    ("x" * 5_000_000 + "\ny", "x" * 10_000 + "… 4,990,000 letters more\ny"),
    ("a\n" * 200_000, "a\n" * 900 + "… 199,000 lines more …\n" + "a\n" * 100),
]
IN_PIECES = """const all = [];
for (const text of TEXTS) {
  const lines = new Lines();
  for (const [piece] of text.matchAll(/[^]{1,7}/g)) lines.add(piece);
  all.push(lines.text);
}
tell(all);"""


def test_a_line_that_is_written_anew_is_shown_as_a_terminal_would():
    script = f"tell({json.dumps([text for text, _ in WRITTEN])}.map(written))"
    assert in_node("terminal.mjs", "written", script) == [shown for _, shown in WRITTEN]
    script = IN_PIECES.replace("TEXTS", json.dumps([text for text, _ in WRITTEN[:-2]]))
    assert in_node("terminal.mjs", "Lines", script) == [shown for _, shown in WRITTEN[:-2]]


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


# ---- what the build makes ----


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
