"""Every number that a chapter's prose states, and what holds it: a claim, an output, or the code.

A number is held when a claim has it as what it measured, in its bound or in its sentence, when a cell
prints it, or when it is a setting that stands in the code. What is near is asked first: the number's own
section, then the rest of the chapter. All three are compared at every run, so a number that is held can't go
stale unseen.

0, 1 and 2 are left out, and 100 %: nearly always they belong to a formula or to a way of speaking. So are
years, versions, and the numbers of sections in papers.
"""

import io
import math
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import notebooks
from notebooks import NotebookNode

from bookkit.mime_types import CLAIM

# What is not prose, or states nothing.
NOT_STATED = [
    r"(?ms)^```.*?^```",  # a block of code
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
LATEX = [
    (r"\\(?:,|;|!|%)", lambda found: "%" if found[0] == r"\%" else " "),
    (r"(?<=\d)\{,\}(?=\d)", ""),
    (r"(\d(?:\.\d+)?) *(?:\\cdot|\\times|·|×) *10\^\{?[-−]?(\d+)\}?", lambda found: scientific(found)),
    (r"(?<![\w.])10\^\{?([-−]?\d+)\}?", lambda found: "1e" + found[1].replace("−", "-")),
    (r"\\t?frac\{(\d+)\}\{(\d+)\}", r" \1/\2 "),
    (r"[\^_](?:\{[^{}]*\}|\w)", ""),  # exponents and indices
]
NUMBER = re.compile(
    r"(?<![\w.\\])(?P<number>(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e(?P<power>[-−]?\d+))?"
    r"(?:/(?P<under>\d+)(?![\w.]))?(?P<percent> ?%)?(?![\w]*\w)"
)
ROUGHLY = re.compile(r"(?:about|≈|\\approx|~|some|nearly|almost|around|over|roughly)[ $]*$")
SENTENCE = re.compile(r"(?<=[.!?:])\s+(?=[^a-z])|\n\s*\n|\n(?=[-*|] )")


def scientific(found: re.Match[str]) -> str:
    sign = "-" if re.search(r"\^\{?[-−]", found[0]) else ""
    return f"{found[1]}e{sign}{found[2]}"


@dataclass(frozen=True)
class Number:
    """`Number("82 %", 82, 1, True)`: as written, its value, its last digit's worth, if in percent."""

    written: str
    value: float
    unit: float
    percent: bool

    def is_(self, other: float, margin: float = 0) -> bool:
        """Whether `other` may be what was written; 82 % is also 0.82, and a sign may be said in words."""
        for scale in (1, 100) if self.percent else (1,):
            off = math.fabs(math.fabs(other) - self.value / scale)
            if off <= margin * self.unit / scale + 1e-9 * max(math.fabs(other), 1e-6):
                return True
        return False


@dataclass(frozen=True)
class Statement:
    """A number, the sentence that states it, and in words what holds it ("" where nothing does)."""

    number: Number
    sentence: str
    holder: str

    def __str__(self) -> str:
        return f"{self.number.written}  “{shortened(self.sentence, 70)}”  ← {self.holder or 'NOTHING'}"


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
        yield Number(found[0].strip(), value, unit, bool(found["percent"]))


def is_stated(number: Number) -> bool:
    return number.value not in (0, 1, 2) and not (number.percent and number.value == 100)


def stated(markdown: str) -> Iterator[tuple[Number, str]]:
    text = prose(markdown)
    start = 0
    ends = [found.end() for found in SENTENCE.finditer(text)] + [len(text)]
    for end in ends:
        sentence = text[start:end].strip()
        start = end
        yield from ((number, sentence) for number in numbers(sentence) if is_stated(number))


# ---- what can hold a number ----


@dataclass(frozen=True)
class Holder:
    """What a claim measured, what it says, what a cell prints, or code (its `kind`), with its numbers."""

    kind: str
    words: str
    values: tuple[float, ...]
    section: str
    # What is written of a measured value is rounded: it may be off by half of its last digit.
    margin: float = 0

    def holds(self, number: Number) -> bool:
        return any(number.is_(value, self.margin) for value in self.values)


KINDS = ("measured", "claimed", "printed", "set")
EXERCISES = "Exercises"
# The sections that speak of the whole chapter: what comes before the first heading, and the summary.
OVERVIEWS = ("", "What we measured")


def holders(cell: NotebookNode, section: str) -> Iterator[Holder]:
    for data in notebooks.displays(cell):
        if CLAIM in data:
            claim = data[CLAIM]
            if claim["measured"] is not True:
                yield Holder("measured", claim["sentence"], (claim["measured"],), section, margin=0.5 + 1e-6)
            said = *values_in(claim["sentence"]), *claim["numbers"].values()
            yield Holder("claimed", claim["sentence"], said, section)
        elif "text/plain" in data:
            yield Holder("printed", cell.id, tuple(values_in(data["text/plain"])), section)
    for output in cell.outputs:
        if output.output_type == "stream":
            yield Holder("printed", cell.id, tuple(values_in(output.text)), section)
    yield Holder("set", cell.id, tuple(literals(notebooks.plain_python(cell))), section)


def values_in(text: str) -> Iterator[float]:
    for number in numbers(prose(text)):
        yield number.value
        if number.percent:
            yield number.value / 100


def literals(source: str) -> Iterator[float]:
    """`literals("x = 2**10 / 3")` holds 2, 10, 3, and 1024: a power or a quotient is what it comes to."""
    tokens = [
        token for token in tokenize.generate_tokens(io.StringIO(source).readline) if token.string.strip()
    ]
    for place, token in enumerate(tokens):
        if token.type != tokenize.NUMBER:
            continue
        yield (left := number_of(token.string))
        after = tokens[place + 1 : place + 3]
        if len(after) == 2 and after[1].type == tokenize.NUMBER:
            right = number_of(after[1].string)
            if after[0].string == "**" and abs(right) <= 64:
                yield left**right
            elif after[0].string == "/" and right:
                yield left / right


def number_of(literal: str) -> float:
    return float(complex(literal.replace("_", "")).real) if "x" not in literal else float(int(literal, 16))


def held_by(number: Number, section: str, candidates: list[Holder]) -> str:
    """In words. The number's own section comes first, and a claim before what was printed, before code."""
    near = [candidate for candidate in candidates if candidate.section == section]
    far = [candidate for candidate in candidates if candidate.section not in (section, EXERCISES)]
    if section not in OVERVIEWS:
        # Among all that a chapter measures, some value would be near any number by chance.
        far = [candidate for candidate in far if candidate.kind != "measured"]
    for group in (near, far):
        for kind in KINDS:
            for candidate in group:
                if candidate.kind == kind and candidate.holds(number):
                    return f"{kind}: {candidate.words}"
    return ""


def statements(notebook: NotebookNode) -> list[Statement]:
    section = ""
    candidates: list[Holder] = []
    found: list[tuple[str, Number, str]] = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            candidates += holders(cell, section)
            continue
        for part in re.split(r"(?m)^(?=## )", cell.source):
            if part.startswith("## "):
                section = part.splitlines()[0].removeprefix("## ").strip()
            found += [(section, *one) for one in stated(part)]
    return [
        Statement(number, sentence, held_by(number, section, candidates))
        for section, number, sentence in found
    ]


def table(path: Path) -> Iterator[str]:
    """The chapter's numbers, one a line, under their count."""
    found = statements(notebooks.read(path))
    kinds = [statement.holder.partition(":")[0] for statement in found]
    counts = ", ".join(f"{kinds.count(kind)} {kind}" for kind in KINDS)
    yield f"{path.name}: {len(found)} numbers stated ({counts})"
    yield from (f"  {statement}" for statement in found)


if __name__ == "__main__":
    for chapter in map(Path, sys.argv[1:]) if sys.argv[1:] else notebooks.chapters():
        print("\n".join(table(chapter)))
