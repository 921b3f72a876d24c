"""What `make grade` writes beside the hand-ins: a page to read, and a table for a spreadsheet."""

import csv
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from bookkit import catalogue, registry
from bookkit.checking.mistakes.pairs import JOIN

# How an exercise can stand, and its mark: the checks' own states, then the grader's.
STATES = {
    "passed": "✓",
    "not yet": "✗",
    "not written yet": "·",
    "missing": "·",
    "not reached": "·",
    "not believed": "!",
}
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the beginning of one

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Hand-ins: {title}</title>
<style>
  :root {{ color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }}
  body {{ margin: 2rem auto; padding: 0 1rem; max-width: 90rem }}
  .wide {{ overflow-x: auto; margin-block: 2rem }}
  table {{ border-collapse: collapse }}
  caption {{ text-align: start; font-weight: 600; padding-block: .5rem }}
  th, td {{ padding: .4rem .6rem; text-align: start; vertical-align: top; border-bottom: 1px solid GrayText }}
  th {{ font-weight: 600 }}
  tbody th {{ overflow-wrap: anywhere; min-width: 12rem }}
  td:last-child, .remarks:not(:empty) {{ min-width: 14rem; overflow-wrap: anywhere }}
  td[data-state="passed"] {{ background: color-mix(in srgb, green 15%, Canvas) }}
  td[data-state="not believed"] {{ background: color-mix(in srgb, orange 25%, Canvas) }}
  dt {{ font-weight: 600 }}
</style>
</head>
<body>
<main>
<h1>Hand-ins: {title}</h1>
<p>Every notebook was run again and its answers checked; what it says of itself was not read.</p>
{tables}
<dl>
<dt>not reached</dt><dd>The run was stopped before it.</dd>
<dt>missing</dt><dd>What the check asks for was never defined.</dd>
<dt>not believed</dt><dd>Where it ran, the check said “passed”, and the answers are wrong.</dd>
</dl>
</main>
</body>
</html>
"""
# It can be scrolled sideways, with the keys, too.
TABLE = """<div class="wide" role="region" tabindex="0" aria-label="{caption}">
<table>
<caption>{caption}</caption>
<thead><tr>{head}</tr></thead>
<tbody>
{body}
</tbody>
</table>
</div>"""


@dataclass(frozen=True)
class Result:
    """How one exercise stands, with the name of the mistake where the check knows it."""

    state: str
    mistake: str = ""

    def __str__(self) -> str:
        return f"{self.state}: {self.mistake}" if self.mistake else self.state


@dataclass
class HandIn:
    """How each exercise of a hand-in stands, and what else is to be said of it."""

    name: str
    walled: bool | None = None  # whether the system kept its process in; None where none has run
    remarks: list[str] = field(default_factory=list)
    results: dict[str, Result] = field(default_factory=dict)

    @property
    def passed(self) -> int:
        return sum(result.state == "passed" for result in self.results.values())


def write(hand_ins: list[HandIn], chapter: registry.Chapter, folder: Path) -> None:
    names = [check.name for check in catalogue.of_chapter(chapter.package)]
    # The mark at the beginning says to spreadsheets that this is UTF-8.
    with (folder / "grades.csv").open("w", newline="", encoding="utf-8-sig", errors="replace") as file:
        rows = ([*map(as_text, row)] for row in lines(hand_ins, names))
        csv.writer(file).writerows(rows)
    (folder / "grades.html").write_text(page(hand_ins, chapter, names), "utf-8", "replace")


# ---- for a spreadsheet ----


def lines(hand_ins: list[HandIn], names: list[str]) -> Iterator[list[str]]:
    yield ["hand-in", "passed", *names, "remarks"]
    for one in hand_ins:
        results = [str(one.results.get(name, "")) for name in names]
        yield [one.name, str(one.passed), *results, "; ".join(one.remarks)]


def as_text(cell: str) -> str:
    """`as_text("=1+1")` is text, too, for a spreadsheet that would reckon."""
    return f"'{cell}" if cell.startswith(FORMULA) else cell


# ---- for a person ----


def page(hand_ins: list[HandIn], chapter: registry.Chapter, names: list[str]) -> str:
    heads = ("hand-in", "passed", "remarks", *names)  # what is last may be out of sight
    rows = ["".join(cells_of(one, names)) for one in hand_ins]
    tables = [table("Who passed what", heads, rows)]
    if rows := list(mistake_rows(hand_ins, chapter)):
        heads = ("exercise", "mistake", "hand-ins", "what the check says")
        tables.append(table("Mistakes that were recognised", heads, rows))
    return PAGE.format(title=escape(chapter.title), tables="\n".join(tables))


def cells_of(one: HandIn, names: list[str]) -> Iterator[str]:
    yield f'<th scope="row">{escape(one.name)}</th>'
    remarks = "<br>".join(map(escape, one.remarks))
    if not one.results:  # it could not be run
        yield f'<td colspan="{len(names) + 2}">{remarks}</td>'
        return
    yield f"<td>{one.passed} of {len(names)}</td>"
    yield f'<td class="remarks">{remarks}</td>'
    for result in map(one.results.__getitem__, names):
        yield f'<td data-state="{result.state}">{STATES[result.state]} {escape(str(result))}</td>'


def mistake_rows(hand_ins: list[HandIn], chapter: registry.Chapter) -> Iterator[str]:
    """The commonest first, for whoever wants to speak of them in class."""
    made = Counter(
        (name, mistake)
        for one in hand_ins
        for name, result in one.results.items()
        if result.mistake
        for mistake in result.mistake.split(JOIN)  # of two at once, each counts
    )
    known = {check.name: check.mistakes for check in catalogue.of_chapter(chapter.package)}
    for (name, mistake), count in made.most_common():
        sentence, _ = known[name].get(
            mistake, ("", None)
        )  # some show in any answer, and are no exercise's own
        others = "".join(f"<td>{escape(str(cell))}</td>" for cell in (mistake, count, sentence))
        yield f'<th scope="row">{name}</th>{others}'


def table(caption: str, heads: tuple[str, ...], rows: list[str]) -> str:
    head = "".join(f'<th scope="col">{escape(one).replace("_", "_<wbr>")}</th>' for one in heads)
    return TABLE.format(caption=caption, head=head, body="\n".join(f"<tr>{row}</tr>" for row in rows))
