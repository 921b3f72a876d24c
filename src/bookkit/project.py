"""A project of the reader's own: the numbers it reports, and what its notebook still lacks.

`python -m bookkit.project my-project.ipynb` says what a notebook lacks, and runs nothing: the numbers are
those that `report(...)` has stored there. Of words little can be judged: a section may be long, and wrong.
"""

import json
import re
import sys
from collections.abc import Iterator, Sequence
from math import inf, isfinite
from pathlib import Path
from statistics import mean, stdev, variance
from textwrap import fill
from typing import Any, NamedTuple

from IPython.core.getipython import get_ipython
from IPython.display import display

from attnlab.training.many_seeds import student
from bookkit.mime_types import as_saved

PROJECT = "application/vnd.attnlab.project+json"  # the type of what `report` stores
TEMPLATE = Path(__file__).with_name("my-project.ipynb")
FEWEST_SEEDS, FEWEST_WORDS, MOST_WORDS = 3, 15, 1000
STATED = re.compile(r"(\d*\.?\d+)[\s$%\\]*(?:±|\\pm|\+/-)[\s$]*(\d*\.?\d+)")
A_UNIT = re.compile(r"\b(an?|per|of)\b|/|%")
SECTIONS = {
    "question": "The question",
    "rival": "The rival",
    "interval": "What I found",
    "limits": "What it does not show",
}
GOOD = {
    "it ran": "restart the kernel, run all cells, wait until it is done, save.",
    "question": "“Does a dropout of 0.1 cost a GPT anything that reads no text twice?”",
    "training": "one function that trains one model, from a rate and a seed, and whose losses are reported.",
    "rival": "the same model without your change, trained by the same function for as many updates.",
    "rates": "tried={0.004: 2.11, 0.008: 2.05, 0.016: 2.09} and rate=0.008, on both sides.",
    "seeds": "seeds=[0, 1, 2, 3, 4] and five losses, on both sides.",
    "interval": "“It costs 0.031 ± 0.012 bits a byte (95 %, five pairs).”",
    "unit": "“bits a byte”, “nats a word”, “% of the sums”.",
    "limits": "“One size, one text, a hundred updates: whether it holds for longer trainings was not tried.”",
    "length": f"two pages, which are at most {MOST_WORDS:,} words.",
}


class Side(NamedTuple):
    """`Side("no dropout", {4e-3: 2.11, 8e-3: 2.05}, 8e-3, [0, 1], [2.06, 2.04], curve, 100, 72_048)`.

    What one side of a comparison was given, and where it ended. Losses: less is better.
    """

    name: str
    tried: dict[float, float]  # each rate, and its loss (or nan) on the text that chooses between them
    rate: float  # the one chosen
    seeds: Sequence[int]
    losses: Sequence[float]  # on the text that judges, one for each seed
    curve: Sequence[float]  # the training losses of one of these runs
    updates: int
    weights: int


class Finding(NamedTuple):
    """`Finding("seeds", "cell 7", "a seed comes twice")` is a thing looked for, where, and what it lacks."""

    thing: str
    place: str
    lack: str = ""  # nothing, where it was found


def report(mine: Side, rival: Side, *, unit: str, paired: bool, equal: str = "updates") -> None:
    """`report(mine, rival, unit="bits a byte", paired=True)` shows the difference, and stores all numbers.

    paired: whether each seed starts both sides with the same weights and the same order of texts.
    equal: what both sides had as much of. If it is "time", the rival may have had fewer updates.
    """
    sides = {"mine": mine, "rival": rival}
    given: dict[str, Any] = {"unit": unit, "paired": paired, "equal": equal}
    for name, side in sides.items():
        # A rate may diverge, and no notebook may hold a NaN: any other raises below.
        tried = [(rate, loss if isfinite(loss) else None) for rate, loss in side.tried.items()]
        given[name] = side._asdict() | {"tried": tried}
    numbers = json.dumps(given, allow_nan=False, default=_as_list)
    record = json.loads(numbers)
    words = f"{mine.name} minus {rival.name}: "
    try:
        middle, error, freedom = difference(record["mine"]["losses"], record["rival"]["losses"], paired)
        words += f"{middle:+.3g} ± {student(freedom) * error:.2g} {unit}"
    except ValueError:  # one seed has no spread, and losses without a partner make no pairs
        words += "no interval"
    if get_ipython() is None:
        print(words)
    else:
        display({"text/plain": words, PROJECT: as_saved(record)}, raw=True)


def _as_list(each: Any) -> Any:
    return each.tolist() if hasattr(each, "tolist") else list(each)


def difference(mine: Sequence[float], rival: Sequence[float], paired: bool) -> tuple[float, float, float]:
    """`difference([1.0, 1.2], [0.5, 0.5], paired=True)`: how far apart, its standard error, and its freedom.

    >>> [round(number, 2) for number in difference([1.0, 1.2], [0.5, 0.5], paired=True)]
    [0.6, 0.1, 1]
    """
    if paired:
        apart = [one - other for one, other in zip(mine, rival, strict=True)]
        return mean(apart), stdev(apart) / len(apart) ** 0.5, len(apart) - 1
    squares = [variance(side) / len(side) for side in (mine, rival)]
    # Welch's: the two may spread differently.
    shares = sum(square**2 / (len(side) - 1) for square, side in zip(squares, (mine, rival), strict=True))
    return mean(mine) - mean(rival), sum(squares) ** 0.5, sum(squares) ** 2 / shares if shares else 1


class Notebook:
    """`Notebook(path)` is a notebook as it was last saved: its cells, its sections, and what it reported."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise ValueError(f"path must be a notebook, and there is no file {path}")
        try:
            cells = list(enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"], 1))
            for _, cell in cells:
                cell["source"] = "".join(cell["source"])
            self.texts = [each for each in cells if each[1]["cell_type"] == "markdown"]
            code = [each for each in cells if each[1]["cell_type"] == "code"]
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"path must be a notebook (nbformat 4), and {path} is none") from error
        # The cell that checks is run after the notebook was saved.
        of_the_check = re.compile(r"check_project\(|^\s*$")
        self.code = [each for each in code if not of_the_check.search(each[1]["source"])]

    def reported(self) -> tuple[str, dict[str, Any]]:
        """`place, record = notebook.reported()` is what `report` has stored last."""
        found: tuple[str, dict[str, Any]] = ("no cell", {})
        for number, cell in self.code:
            for output in cell.get("outputs", []):
                if PROJECT in output.get("data", {}):
                    found = f"cell {number}", output["data"][PROJECT]
        return found

    def section(self, heading: str, given: str = "") -> tuple[str, str]:
        """`place, text = notebook.section("The rival")` stands below that heading, less the rows given."""
        place, found, inside = f"no section “## {heading}”", list[str](), False
        for number, cell in self.texts:
            for row in cell["source"].splitlines():
                here = row.startswith("#") and row.strip("#*: ").lower() == heading.lower()
                if here or re.match(r"##?\s", row):
                    inside, place = here, f"cell {number}" if here else place
                elif inside and row not in given.splitlines():
                    found.append(row)
        return place, "\n".join(found)


def look(path: Path) -> list[Finding]:
    """`look(Path("my-project.ipynb"))` are the findings, at least one for each thing of `GOOD`."""
    notebook, template = Notebook(path), Notebook(TEMPLATE)
    findings, own = [*_ran(notebook)], {}
    for thing, heading in SECTIONS.items():
        own[thing] = place, text = notebook.section(heading, template.section(heading)[1])
        lack = f"{len(text.split())} words of yours stand there" * (len(text.split()) < FEWEST_WORDS)
        if thing == "question" and "?" not in text:
            lack = lack or "no question stands there"
        findings.append(Finding(thing, place, lack))
    place, record = notebook.reported()
    try:
        findings += _numbers(record, place, *own["interval"])
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        raise ValueError(f"{place}: what `report` stored there can't be read") from error
    words = sum(len(cell["source"].split()) for _, cell in notebook.texts)
    given = {cell["source"] for _, cell in template.code}
    same = all(cell["source"] in given for _, cell in notebook.code)
    findings.append(Finding("training", "all cells", "this is the template's example, and not yours" * same))
    return [*findings, Finding("length", "all cells", f"{words:,} words" * (words > MOST_WORDS))]


def _ran(notebook: Notebook) -> Iterator[Finding]:
    last, never = 0, [str(number) for number, cell in notebook.code if cell.get("execution_count") is None]
    yield Finding("it ran", f"cells {', '.join(never)}" if never else "all cells", "not run" * bool(never))
    for number, cell in notebook.code:
        for output in cell.get("outputs", []):
            if output.get("output_type") == "error":
                lack = f"it ended with {output.get('ename')}: {output.get('evalue')}"
                yield Finding("it ran", f"cell {number}", lack)
        count = cell.get("execution_count") or last
        yield Finding("it ran", f"cell {number}", "it ran before the cell above it" * (count < last))
        last = count


def _numbers(record: dict[str, Any], place: str, found: str, text: str) -> Iterator[Finding]:
    """What the reported numbers lack, and whether the section “What I found” says the same."""
    if not record:
        lack = "no output of `report(...)` is stored"
        missing = ("training", "rival", "rates", "seeds", "interval", "unit")
        yield from (Finding(thing, place, lack) for thing in missing)
        return
    mine, rival, unit = (record[name] for name in ("mine", "rival", "unit"))
    if mine["name"] == rival["name"]:
        yield Finding("rival", place, f"both sides are called “{mine['name']}”")
    for part in ("weights",) if record.get("equal") == "time" else ("updates", "weights"):
        less = rival[part] < 0.9 * mine[part]
        yield Finding("rival", place, f"it has {rival[part]:,} {part}, and yours {mine[part]:,}" * less)
    for name, side in {"yours": mine, "the rival": rival}.items():
        for thing, lack in {"training": _curve(side), "rates": _rates(side), "seeds": _seeds(side)}.items():
            yield Finding(thing, place, lack and f"{name}: {lack}")
    if not_pairs := record["paired"] and mine["seeds"] != rival["seeds"]:
        yield Finding("seeds", place, "pairs need the same seeds on both sides, in the same order")
    if not_pairs or _seeds(mine) or _seeds(rival):
        yield Finding("interval", found, "without the right seeds there is none")
    else:
        apart = difference(mine["losses"], rival["losses"], record["paired"])
        yield Finding("interval", found, _stated(*apart, text))
    if not A_UNIT.search(unit):
        yield Finding("unit", place, f"“{unit}” does not say of what: a word, a byte, a piece?")
    else:
        said = unit.lower() in " ".join(text.lower().split())
        yield Finding("unit", found, f"“What I found” does not say “{unit}”" * (not said))


def _curve(side: dict[str, Any]) -> str:
    curve: list[float] = side["curve"]
    tenth = len(curve) // 10
    if tenth < 1:
        return f"its curve has {len(curve)} losses: hand over those of all updates"
    return "its curve ends no lower than it began" * (mean(curve[-tenth:]) >= mean(curve[:tenth]))


def _rates(side: dict[str, Any]) -> str:
    tried = sorted(side["tried"])
    if len(tried) < 2:
        return "its rate was not searched"
    best, loss = min(tried, key=lambda pair: inf if pair[1] is None else pair[1])
    if side["rate"] != best:
        return f"a rate of {best:g} was better than the one chosen, {side['rate']:g}"
    if best in (tried[0][0], tried[-1][0]):
        return f"the best rate, {best:g}, is the outermost that was tried: try beyond it"
    same = loss in (*side["losses"], mean(side["losses"]))
    return "what chose its rate is what is reported: choose by one text, and report another" * same


def _seeds(side: dict[str, Any]) -> str:
    seeds, losses = side["seeds"], side["losses"]
    if len(losses) != len(seeds):
        return f"{len(losses)} losses from {len(seeds)} seeds: the unit is a training, and has one loss"
    if len(set(seeds)) < len(seeds):
        return "a seed comes twice"
    if len(seeds) < FEWEST_SEEDS:
        return f"the number of seeds is {len(seeds)}, and {FEWEST_SEEDS} are the least"
    same = len(set(losses)) == 1
    return "all seeds end at the very same loss: does the seed reach the training?" * same


def _stated(middle: float, error: float, freedom: float, text: str) -> str:
    """What is wrong with the interval that the text states."""

    def says(written: str, number: float, *, above: float = 0.51) -> bool:
        last = 10.0 ** -len(written.partition(".")[2])
        return -0.51 * last <= float(written) - abs(number) <= above * last

    half, stated = student(freedom) * error, STATED.findall(text.replace(",", "."))
    right = f"the losses give {middle:.3g} ± {half:.2g}"
    if not stated:
        return f"no “number ± number” stands there; {right}"
    for about, reach in stated:
        # A reach may be rounded up. Few digits may hide neither the middle nor the reach.
        near = abs(float(about) - abs(middle)) <= half / 2 and 0 < float(reach) <= 2 * half
        if near and says(about, middle) and says(reach, half, above=1):
            return ""
    about, reach = stated[0]
    for name, times in {"one standard error": 1, "1.96 standard errors": 1.96}.items():
        if float(reach) and says(reach, times * error):
            return f"± {reach} is {name}, and 95 % need {student(freedom):.2f}: {right}"
    return f"it says {about} ± {reach}, and {right}"


def check_project(path: str | Path) -> bool:
    """`check_project("my-project.ipynb")` prints what the saved notebook has and lacks: True if nothing."""
    findings = look(Path(path))
    missing = list(dict.fromkeys(each.thing for each in findings if each.lack))
    for thing, good in GOOD.items():
        here = [each for each in findings if each.thing == thing]
        if thing not in missing:
            print(f"  ✓ {thing} ({here[0].place})")
            continue
        for each in (each for each in here if each.lack):
            said = f"✗ {thing} ({each.place}): {each.lack}"
            print(fill(said, 88, initial_indent="  ", subsequent_indent="      "))
        print(f"      a good one: {good}")
    print("→ Missing: " + ", ".join(missing) if missing else "→ Nothing is missing that a program can see.")
    return not missing


if __name__ == "__main__":
    try:
        sys.exit(not check_project(sys.argv[1] if len(sys.argv) > 1 else TEMPLATE.name))
    except ValueError as error:
        sys.exit(f"project: {error}")
