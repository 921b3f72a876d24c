"""What was tried and what was found: as data, as a table in words, and with small pictures."""

import textwrap
from dataclasses import dataclass, field
from html import escape
from typing import Literal, TypeAlias

from checkup import pictures

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
COLUMNS = 100
PLAIN = "color:inherit;background:transparent"
CELL = "text-align:left;vertical-align:top;font-weight:normal;white-space:normal;padding:2px 8px"


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

    It says nothing of what was not tried, `untried` if time was up: a model without findings may have faults.

    >>> Report(tried=[Tried("the future changed", "sight", "nothing before it changed")]).findings
    []
    """

    tried: list[Tried] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    untried: list[str] = field(default_factory=list)
    sight: list[list[bool]] = field(default_factory=list)  # [place that sees][place seen]
    sizes: dict[str, float] = field(default_factory=dict)  # of the stream, by layer
    entropies: dict[str, list[float]] = field(default_factory=dict)  # bits, by attention and head

    def __str__(self) -> str:
        lines = [self._told(), ""]
        width = max((len(one.test) for one in self.tried), default=0)
        for one in self.tried:
            mark = "✗" if one.found else "·"
            first, *rest = textwrap.wrap(one.seen, COLUMNS - width - 4) or [""]
            lines.append(f"{mark} {one.test:<{width}}  {first}")
            lines += [" " * (width + 4) + line for line in rest]
        lines += textwrap.wrap(self._left(), COLUMNS)
        for number, finding in enumerate(self.findings, 1):
            head = f"{number}. {finding.where or WHOLE} [{finding.inquiry}, {finding.severity}]"
            texts = (f"Seen: {finding.seen}.", f"It means: {finding.meaning}", f"See {finding.section}")
            lines += ["", *textwrap.wrap(head, COLUMNS, subsequent_indent="   ")]
            for text in texts:
                lines += textwrap.wrap(text, COLUMNS, initial_indent="   ", subsequent_indent="   ")
        return "\n".join(lines)

    def asked(self) -> str:
        """`report.asked()` is "38 tests tried", or "3 of 38 tests tried, then time was up"."""
        if not self.untried:
            return f"{len(self.tried)} tests tried"
        return f"{len(self.tried)} of {len(self.tried) + len(self.untried)} tests tried, then time was up"

    def _told(self) -> str:
        return f"{self.asked()}{':' if self.untried else ','} {_count(len(self.findings))}."

    def _left(self) -> str:
        return f"Not tried: {', '.join(self.untried)}." if self.untried else ""

    def _repr_html_(self) -> str:
        # Rows and cells have their colours here: a page's own stripes are made for one of light and dark.
        rows = "".join(
            f'<tr style="{PLAIN}"><th scope="row" style="{CELL}">{escape(one.test)}</th>'
            f'<td style="{CELL}">{_found(one.found)}</td><td style="{CELL}">{escape(one.seen)}</td></tr>'
            for one in self.tried
        )
        heads = "".join(f'<th scope="col" style="{CELL}">{head}</th>' for head in ("Test", "Found", "Seen"))
        found = "".join(
            f"<li><code>{escape(one.where or WHOLE)}</code> [{escape(one.inquiry)}, {escape(one.severity)}] "
            f"{escape(one.seen)}. <em>{escape(one.meaning)}</em> "
            f'<a style="color:inherit;text-decoration:underline" href="{escape(one.section, quote=True)}">'
            f"{escape(_titled(one.section))}</a></li>"
            for one in self.findings
        )
        return (
            f'<div class="checkup" style="{PLAIN}"><p>{escape(self._told())}</p>'
            f"{f'<ol>{found}</ol>' if found else ''}<div>{self._pictures()}</div>"
            f"{f'<p>{escape(left)}</p>' if (left := self._left()) else ''}"
            f'<details><summary>What was tried</summary><div style="overflow-x:auto" tabindex="0" '
            f'role="region" aria-label="What was tried"><table style="{PLAIN}">'
            f'<thead><tr style="{PLAIN}">{heads}</tr></thead><tbody>{rows}</tbody></table>'
            "</div></details></div>"
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


def _found(findings: int) -> str:
    return f"✗ {findings}" if findings else "nothing"


def _titled(section: str) -> str:
    """`_titled("where-am-i.html#a-shift-is-a-rotation")` is its words: "A shift is a rotation"."""
    words = section.partition("#")[2].replace("-", " ")
    return words[:1].upper() + words[1:] if words else section
