"""What was tried and what was found: as data, as a table in words, and with small pictures."""

import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import Literal, TypeAlias

from attnlab.checkup import pictures

Inquiry: TypeAlias = Literal[
    "sight",
    "scores",
    "positions",
    "stream",
    "network",
    "parameters",
    "start",
    "evaluation",
    "numbers",
    "cache",
    "output",
    "padding",
    "batch",
]
# "wrong" breaks a rule that holds for every model; "doubtful" is hardly ever meant.
Severity: TypeAlias = Literal["wrong", "doubtful"]
WHOLE = "the whole model"


@dataclass(frozen=True)
class Finding:
    """`finding.where` is the dotted name of a layer, or "" where it is of the model as a whole.

    `seen` says what was measured, `meaning` what that tells, `section` which page of the book explains it.
    """

    inquiry: Inquiry
    where: str
    seen: str
    meaning: str
    section: str
    severity: Severity = "wrong"
    test: str = ""

    def __str__(self) -> str:
        place = self.where or WHOLE
        return f"[{self.inquiry}] {place}: {self.seen}. {self.meaning} (See {self.section})"


@dataclass(frozen=True)
class Tried:
    """`tried.test` was done: `tried.seen` are its words, `tried.found` the number of its findings."""

    test: str
    inquiry: Inquiry
    seen: str
    found: int = 0


@dataclass
class Report:
    """`print(report)` is a table of what was tried, and below it what was found.

    It says nothing of what was not tried: a model without findings may still have faults.

    >>> Report(tried=[Tried("the future changed", "sight", "nothing before it changed")]).findings
    []
    """

    tried: list[Tried] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    sight: list[list[bool]] = field(default_factory=list)  # [place that sees][place seen]
    sizes: dict[str, float] = field(default_factory=dict)  # of the stream, by layer
    entropies: dict[str, list[float]] = field(default_factory=dict)  # bits, by attention and head

    def __str__(self) -> str:
        lines = [f"{len(self.tried)} tests tried, {_count(len(self.findings))}.", ""]
        width = max((len(one.test) for one in self.tried), default=0)
        for one in self.tried:
            mark = "✗" if one.found else "·"
            first, *rest = textwrap.wrap(one.seen, 100 - min(width, 40)) or [""]
            lines.append(f"{mark} {one.test:<{width}}  {first}")
            lines += [" " * (width + 4) + line for line in rest]
        for number, finding in enumerate(self.findings, 1):
            lines += ["", f"{number}. {finding.where or WHOLE} [{finding.inquiry}, {finding.severity}]"]
            for text in (f"Seen: {finding.seen}.", f"It means: {finding.meaning}", f"See {finding.section}"):
                lines += textwrap.wrap(text, 100, initial_indent="   ", subsequent_indent="   ")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'✗' if one.found else '·'}</td><td>{escape(one.test)}</td>"
            f'<td style="text-align:left">{escape(one.seen)}</td></tr>'
            for one in self.tried
        )
        found = "".join(
            f"<li><code>{escape(one.where or WHOLE)}</code> [{escape(one.inquiry)}, {escape(one.severity)}] "
            f"{escape(one.seen)}. <em>{escape(one.meaning)}</em> "
            f'<a style="color:inherit" href="{escape(one.section, quote=True)}">'
            f"{escape(one.section)}</a></li>"
            for one in self.findings
        )
        return (
            f'<div class="checkup"><p>{escape(str(self).splitlines()[0])}</p>'
            f"{f'<ol>{found}</ol>' if found else ''}<div>{self._pictures()}</div>"
            f"<details><summary>What was tried</summary><table>{rows}</table></details></div>"
        )

    def _pictures(self) -> str:
        heads = {
            f"{where or WHOLE} {number}" if len(bits) > 1 else where or WHOLE: each
            for where, bits in self.entropies.items()
            for number, each in enumerate(bits)
        }
        return (
            pictures.sight(self.sight)
            + pictures.bars("size of the stream", "", self.sizes)
            + pictures.bars("entropy of heads", " bits", heads)
        )


def _count(findings: int) -> str:
    return {0: "none of them found anything", 1: "1 finding"}.get(findings, f"{findings} findings")
