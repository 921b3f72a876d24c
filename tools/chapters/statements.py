"""Every number that a chapter's prose states, and what holds it.

| kind | what holds the number |
|---|---|
| measured | a claim measured it |
| claimed | it is a claim's bound, or stands in a claim that is either true or not |
| printed | a cell prints it |
| named | a claim's sentence names it beside what it measured: “raw, d_k = 64: mean of 20 seeds” |
| set | the code sets it |

All are compared at every run, so a number that is held can't go stale unseen. What the text speaks of stands
in the same section. From another one only a bound holds a number, as when a result is repeated. The opening
and the summary speak of the whole chapter.

An equal literal in the code is not enough. The code sets what it gives to a name or to a function:
`width = 64`, `steps=200`, an item of such a list. A number amid arithmetic, in a comparison or among a
claim's own arguments is given to nothing. And a share or a ratio, 18 % or 3 times as long, is always found:
it must be measured, claimed or printed.

0, 1 and 2 are left out, and 100 %: nearly always they belong to a formula or to a way of speaking. So are
years, versions, and the numbers of sections in papers.
"""

import ast
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nbformat import NotebookNode

from bookkit.mime_types import CLAIM
from tools.chapters import notebooks, stamps

# What is not prose, or states nothing.
NOT_STATED = [
    r"(?ms)^```.*?^```",  # a block of code
    r"(?ms)^<!-- \{tour\}.*?^<!-- end -->",  # tests/site/test_tours.py looks its numbers up in the playground
    r"(?m)^\d+\. ",  # an item of a numbered list
    r"`[^`\n]*`(?:`[^`\n]*`)?",  # code in a line, and a role's target
    r"(?s)<!--.*?-->",
    r"<[^<>\n]+>",  # an HTML tag
    r"\{[a-z:]+\}(?=`)",
    r"\[[^\]\n]*\b(?:19|20)\d\d\)?\]\([^)\n]*\)",  # what a paper is called
    r"\]\([^)\n]*\)",  # where a link leads
    r"\\tag\{\d+\}",
    r"(?m)^\*.*(?:minutes to read|Difficulty).*\*$",
    r"\b(?:Sections?|§+|Tables?|Figures?|Chapters?|Appendix|Theorem|Eq\.|[Ee]quations?) *\(?\d+(?:\.\d+)*",
    r"\b\d+\.\d+\.\d+\b",
    r"\b(?:[Tt]orch(?:text)?|PyTorch|Python|CUDA|[Vv]ersion|[Rr]elease) \d+\.\d+\b",
    r"(?:\b[Ii]n|\b[Ss]ince|\b[Uu]ntil|[(]|\b[A-Z]\w+,?) (?:[A-Z]\w+ )?(?:19\d\d|20[0-4]\d)\b",  # a year
    r"[(](?:19\d\d|20[0-4]\d)[)]",
]
# LaTeX's ways of writing a number, as Python writes it.
LATEX: list[tuple[str, str | Callable[[re.Match[str]], str]]] = [
    (r"\\(?:,|;|!|%)", lambda found: "%" if found[0] == r"\%" else " "),
    (r"(?<=\d)\{,\}(?=\d)", ""),
    (r"(\d(?:\.\d+)?) *(?:\\cdot|\\times|·|×) *10\^\{?[-−]?(\d+)\}?", lambda found: scientific(found)),
    (r"(?<![\w.])10\^\{?([-−]?\d+)\}?", lambda found: "1e" + found[1].replace("−", "-")),
    (r"\\t?frac\{(\d+)\}\{(\d+)\}", r" \1/\2 "),
    (r"[\^_](?:\{[^{}]*\}|\w)", ""),  # exponents and indices
]
NUMBER = re.compile(
    r"(?<![\w.\\])(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e(?P<power>[-−]?\d+))?"
    r"(?:/(?P<under>\d+)(?![\w.]))?(?P<percent> ?%)?(?P<times>(?=\$? times\b))?(?![\w]*\w)"
)
ROUGHLY = re.compile(r"(?:about|≈|\\approx|~|some|nearly|almost|around|over|roughly)[ $]*$")
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[^a-z])|\n\s*\n|\n(?=[-*|] )")


def scientific(found: re.Match[str]) -> str:
    sign = "-" if re.search(r"\^\{?[-−]", found[0]) else ""
    return f"{found[1]}e{sign}{found[2]}"


@dataclass(frozen=True)
class Number:
    """`Number("82 %", 82, 1, percent=True)`: as written, its value, its last digit's worth."""

    written: str
    value: float
    unit: float
    percent: bool = False
    times: bool = False  # as in “3 times as long”

    @property
    def is_ratio(self) -> bool:
        return self.percent or self.times

    def is_(self, other: float, margin: float = 0) -> bool:
        """Whether `other` may be what was written; 82 % is also 0.82, and a sign may be said in words."""
        for scale in (1, 100) if self.percent else (1,):
            off = math.fabs(math.fabs(other) - self.value / scale)
            if off <= margin * self.unit / scale + 1e-9 * max(math.fabs(other), 1e-6):
                return True
        return False


@dataclass(frozen=True)
class Statement:
    """A number, the sentence that states it, the cell where that stands, and in words what holds it."""

    number: Number
    sentence: str
    cell: str
    holder: str

    @property
    def kind(self) -> str:
        """One of `KINDS`, or what is no holder: `LITERAL`, or nothing."""
        return self.holder.partition(":")[0]

    @property
    def is_held(self) -> bool:
        return self.kind in KINDS

    def __str__(self) -> str:
        told = f"{self.number.written}  “{shortened(self.sentence, 70)}”"
        if self.is_held:
            return f"{told}  ← {self.holder}"
        return f"{told}  (cell {self.cell})  {NOTHING}" + (f" but a {self.holder}" if self.holder else "")


def shortened(text: str, length: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= length else text[: length - 1] + "…"


def prose(markdown: str) -> str:
    for pattern in NOT_STATED:
        markdown = re.sub(pattern, " ", markdown)
    for pattern, replacement in LATEX:
        markdown = re.sub(pattern, replacement, markdown)
    return markdown


def numbers(text: str) -> Iterator[Number]:
    for found in NUMBER.finditer(text):
        digits = found["number"].replace(",", "")
        power = int((found["power"] or "0").replace("−", "-"))
        value = float(digits) * 10.0**power
        unit = 10.0 ** (power - len(digits.partition(".")[2]))
        if int(found["under"] or 0):
            value /= int(found["under"])
            unit = value / 100
        elif "." not in digits and ROUGHLY.search(text[: found.start()]):
            unit *= 10 ** (len(digits) - len(digits.rstrip("0")))
        yield Number(found[0].strip(), value, unit, bool(found["percent"]), found["times"] is not None)


def stated(markdown: str) -> Iterator[tuple[Number, str]]:
    text = prose(markdown)
    start = 0
    ends = [found.end() for found in SENTENCE.finditer(text)] + [len(text)]
    for end in ends:
        sentence = text[start:end].strip()
        start = end
        for number in numbers(sentence):
            if number.value not in (0, 1, 2) and not (number.percent and number.value == 100):
                yield number, sentence


# ---- what can hold a number ----


@dataclass(frozen=True)
class Holder:
    """A claim, an output or code that has these numbers: one of `KINDS`, or `LITERAL`."""

    kind: str
    words: str
    values: tuple[float, ...]
    section: str
    # What is written of a measured value is rounded: it may be off by half of its last digit.
    margin: float = 0

    def holds(self, number: Number) -> bool:
        return any(number.is_(value, self.margin) for value in self.values)


RESULTS = ("measured", "claimed", "printed")  # what can hold a share or a ratio
KINDS = (*RESULTS, "named", "set")
Functions = dict[str, ast.FunctionDef]
LITERAL = "literal"  # an equal number in the code, or one that is set elsewhere: it holds nothing
NOTHING = "← NOTHING"  # ends a line whose number has no holder
HELP = """\
Nothing holds these numbers. If it is a result, claim it or print it, in its own section. If it is a setting,
let the code there give it to a name or to a function (`steps = 200`)."""
IMPORTS = ""  # what comes before the first heading
EXERCISES, SOLUTIONS = "Exercises", "Solutions"  # one section: what the first states, the second sets
# The sections that speak of the whole chapter.
OVERVIEWS = (IMPORTS, "What we measured")


def holders(cell: NotebookNode, section: str, functions: Functions) -> Iterator[Holder]:
    for data in notebooks.displays(cell):
        if CLAIM in data:
            claim = data[CLAIM]
            sentence, said = claim["sentence"], tuple(values_in(claim["sentence"]))
            if claim["measured"] is True:
                yield Holder("claimed", sentence, said, section)
            else:
                yield Holder("measured", sentence, (claim["measured"],), section, margin=0.5 + 1e-6)
                yield Holder("claimed", sentence, tuple(claim["numbers"].values()), section)
                yield Holder("named", sentence, said, section)
        elif "text/plain" in data:
            yield Holder("printed", cell.id, tuple(values_in(data["text/plain"])), section)
    for output in cell.outputs:
        if output.output_type == "stream":
            yield Holder("printed", cell.id, tuple(values_in(output.text)), section)
    source = stamps.plain_python(cell)
    code = ast.parse(source)
    code.body += [functions[name] for name in called(code) if name in functions]
    yield Holder("set", cell.id, tuple(settings(code)), section)
    literals = (value for node in ast.walk(code) if (value := constant(node)) is not None)
    yield Holder(LITERAL, cell.id, tuple(literals), section)
    # What an exercise asks for is set by its check.
    imported = [module for module in stamps.imported_modules(source) if module.startswith("chapters.")]
    for file in {*stamps.package_files(imported)} & checks():
        yield Holder("set", file.parent.name, tuple(settings(ast.parse(file.read_text("utf-8")))), section)


def called(code: ast.AST) -> Iterator[str]:
    """The names in `claims.softmax(…)` and the like."""
    for node in ast.walk(code):
        match node:
            case ast.Attribute(value=ast.Name(id="claims"), attr=name):
                yield name


def functions_of(notebook: NotebookNode) -> Functions:
    """The functions of the chapter's claims.py, each with its name."""
    cells = stamps.code_cells(notebook)
    modules = {module for cell in cells for module in stamps.imported_modules(stamps.plain_python(cell))}
    files = [stamps.source().joinpath(*name.split(".")).with_suffix(".py") for name in modules]
    files = [file for file in files if file.name == "claims.py" and file.exists()]
    trees = [ast.parse(file.read_text("utf-8")) for file in files]
    return {part.name: part for tree in trees for part in tree.body if isinstance(part, ast.FunctionDef)}


@cache
def checks() -> set[Path]:
    return {*stamps.source().glob("chapters/*/exercises/*.py")}


def values_in(text: str) -> Iterator[float]:
    for number in numbers(prose(text)):
        yield number.value
        if number.percent:
            yield number.value / 100


def settings(code: ast.AST) -> Iterator[float]:
    """What `widths = [16, 64]` and `train(model, steps=200)` set: 16, 64 and 200; nothing in `25 / epoch`."""
    for node in ast.walk(code):
        match node:
            case ast.Call(func=ast.Name(id="claim" | "print")):
                pass  # what these are given is no choice
            case ast.Call(args=given, keywords=named):
                yield from (
                    value for part in [*given, *(one.value for one in named)] for value in whole(part)
                )
            case ast.arguments(defaults=defaults, kw_defaults=more):
                yield from (value for part in [*defaults, *more] for value in whole(part))
            case ast.Assign(value=given) | ast.AnnAssign(value=given) | ast.NamedExpr(value=given):
                yield from whole(given)
            case ast.For(iter=given) | ast.comprehension(iter=given):
                yield from whole(given)


def whole(node: ast.AST | None) -> Iterator[float]:
    """The numbers that stand alone in a value, or as an item of it: 5 and 7 of `[5, 7, 9 * width]`."""
    match node:
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            yield from (value for item in items for value in whole(item))
        case ast.Dict(keys=names, values=items):
            yield from (value for item in [*names, *items] for value in whole(item))
        case ast.IfExp(body=one, orelse=other):
            yield from (value for item in (one, other) for value in whole(item))
        case _ if (value := constant(node)) is not None:
            yield value


def constant(node: ast.AST | None) -> float | None:
    """Of `-3`, of `2**10` and of `1 / 3`: Python has no shorter way to write a power or a quotient."""
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.UnaryOp(op=ast.USub(), operand=number) if (positive := constant(number)) is not None:
            return -positive
        case ast.BinOp(left=left, op=ast.Pow() | ast.Div() as sign, right=right):
            one, other = constant(left), constant(right)
            if one is None or other is None:
                return None
            if isinstance(sign, ast.Div):
                return one / other if other else None
            return one**other if abs(other) <= 64 else None
    return None


def held_by(number: Number, section: str, candidates: list[Holder]) -> str:
    """In words. The number's own section comes first, and what was measured before what was chosen."""
    near = [candidate for candidate in candidates if candidate.section == section]
    far = [candidate for candidate in candidates if candidate.section not in (section, EXERCISES)]
    if section not in OVERVIEWS:
        # Among all that a chapter measures, prints or sets, something would equal any number by chance.
        far = [one for one in far if one.kind == "claimed" or one.section == IMPORTS]
    for group in (near, far):
        for kind in RESULTS if number.is_ratio else KINDS:
            for candidate in group:
                if candidate.kind == kind and candidate.holds(number):
                    place = f" (in “{candidate.section}”)" if group is far and candidate.section else ""
                    return f"{kind}: {candidate.words}{place}"
    equal = [candidate for candidate in candidates if candidate.kind == LITERAL and candidate.holds(number)]
    return f"{LITERAL}: {equal[0].words}" if equal else ""


def statements(notebook: NotebookNode) -> list[Statement]:
    section = IMPORTS
    functions = functions_of(notebook)
    candidates: list[Holder] = []
    found: list[tuple[str, str, Number, str]] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            candidates += holders(cell, section, functions)
            continue
        for part in re.split(r"(?m)^(?=## )", cell.source):
            if part.startswith("## "):
                section = part.splitlines()[0].removeprefix("## ").strip().replace(SOLUTIONS, EXERCISES)
            found += [(section, cell.id, *one) for one in stated(part)]
    return [
        Statement(number, sentence, cell, held_by(number, section, candidates))
        for section, cell, number, sentence in found
    ]


def table(path: Path) -> Iterator[str]:
    """The chapter's numbers, one a line with what holds it, under their count."""
    found = statements(notebooks.read(path))
    kinds = [statement.kind for statement in found]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS)
    unheld = len(found) - sum(one.is_held for one in found)
    yield f"{path.name}: {len(found)} numbers stated ({counts}, {unheld} held by nothing)"
    yield from (f"  {statement}" for statement in found)


def loose(listed: list[str]) -> list[str]:
    """The lines of a chapter's table whose numbers nothing holds."""
    name = listed[0].partition(":")[0]
    return [f"{name}: {line.strip()}" for line in listed if NOTHING in line]


if __name__ == "__main__":
    asked = [Path(name) for name in sys.argv[1:]] or notebooks.chapters()
    tables = [[*table(chapter)] for chapter in asked]
    print("\n".join(line for listed in tables for line in listed))
    if failing := [line for listed in tables for line in loose(listed)]:
        sys.exit("\n".join([HELP, *failing]))
