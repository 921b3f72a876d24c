"""Pages cite and count equations in plain Markdown, which reads as prose anywhere; the site makes more of it.

`[Britz et al. (2017)](https://arxiv.org/abs/1703.03906)` and `([Britz et al., 2017](…))` are links in
JupyterLab. Here they become citations, by the addresses in the bibliography. A formula with `\\tag{2}` is
numbered in both, and “equation (2)”, or “equation (2) of [a chapter](a-chapter.ipynb)”, becomes a link to it.

A directive stands in a comment, which no viewer shows: `<!-- {glossary} -->`, its content, `<!-- end -->`.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from pybtex.database import Entry, parse_file
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinxcontrib.bibtex.plugin import register_plugin
from sphinxcontrib.bibtex.style.referencing import BracketStyle
from sphinxcontrib.bibtex.style.referencing.author_year import AuthorYearReferenceStyle

logger = logging.getLogger(__name__)

LINK = r"\[([^\[\]]+)\]\((https?://[^()\s]+)\)"
IN_BRACKETS = re.compile(rf"\((?:see )?{LINK}(?:; {LINK})*\)")
IN_THE_SENTENCE = re.compile(LINK)
# What looks like a citation must be one: a name with a year.
LIKE_A_CITATION = re.compile(r"\S.*(?: \(\d{4}\)|, \d{4})")
FORMULA = re.compile(r"\$\$(?P<tex>(?:(?!\$\$).)*?)\s*\\tag\{(?P<number>\d+)\}(?P<space>\s*)\$\$", re.DOTALL)
BEGINNING = re.compile(r"<!-- (?P<directive>\{[\w-]+\}.*?) -->")
END = "<!-- end -->"
MOST_FENCES = 9  # backticks of an outermost fence; each inside it has one less
EQUATION = re.compile(r"equation \((?P<number>\d+)\)(?= of \[[^\]]*\]\((?P<chapter>[\w-]+)\.ipynb\))?")


def names(entry: Entry) -> str:
    """`names(entry)` is "Vaswani et al.", "Jain and Wallace" or "Prechelt"."""
    last = [" ".join(person.prelast_names + person.last_names) for person in entry.persons["author"]]
    last = [name.strip("{}") for name in last]
    return f"{last[0]} et al." if len(last) > 2 else " and ".join(last)


class Citations:
    """The entries of the bibliography by their addresses, and how each is written in a sentence."""

    def __init__(self, bibliography: Path) -> None:
        self.keys: dict[str, str] = {}
        self.written: dict[str, tuple[str, str]] = {}
        for key, entry in parse_file(bibliography).entries.items():
            address = entry.fields["url"]
            self.keys[address] = key
            self.written[address] = (
                f"{names(entry)} ({entry.fields['year']})",
                f"{names(entry)}, {entry.fields['year']}",
            )

    def key(self, words: str, address: str, form: int) -> str | None:
        """The entry that a link cites; None for a link that is no citation; ValueError for a wrong one."""
        if not LIKE_A_CITATION.fullmatch(words):
            return None
        if address not in self.keys:
            raise ValueError(f"[{words}]({address}): the bibliography has no such address")
        if words != self.written[address][form]:
            raise ValueError(f"[{words}]({address}): the bibliography has {self.written[address][form]!r}")
        return self.keys[address]

    def in_brackets(self, found: re.Match[str]) -> str:
        keys = [self.key(words, address, form=1) for words, address in re.findall(LINK, found[0])]
        return f"{{cite}}`{','.join(filter(None, keys))}`" if all(keys) else found[0]

    def in_the_sentence(self, found: re.Match[str]) -> str:
        words, address = found.groups()
        key = self.key(words, address, form=0)
        return f"{{cite:t}}`{key}`" if key else found[0]

    def made(self, text: str) -> str:
        """The text with roles in place of the links that cite."""
        return IN_THE_SENTENCE.sub(self.in_the_sentence, IN_BRACKETS.sub(self.in_brackets, text))


@cache
def citations(bibliography: Path) -> Citations:
    return Citations(bibliography)


def numbered(chapter: str) -> Callable[[str], str]:
    """A function that labels the chapter's formulas, in order, and links its mentions of them."""
    expected = 0

    def label(found: re.Match[str]) -> str:
        nonlocal expected
        expected += 1
        if int(found["number"]) != expected:
            raise ValueError(f"\\tag{{{found['number']}}} is equation {expected} of its chapter")
        return f"$${found['tex']}{found['space']}$$ ({chapter}-{expected})"

    def link(found: re.Match[str]) -> str:
        return f"equation {{eq}}`{found['chapter'] or chapter}-{found['number']}`"

    return lambda text: EQUATION.sub(link, FORMULA.sub(label, text))


def directives(text: str) -> str:
    """The text with a fence in place of each comment that begins or ends a directive."""
    depth = 0
    lines = []
    for line in text.split("\n"):
        if found := BEGINNING.fullmatch(line):
            lines.append("`" * (MOST_FENCES - depth) + found["directive"])
            depth += 1
        elif line == END:
            depth -= 1
            lines.append("`" * (MOST_FENCES - depth))
        else:
            lines.append(line)
    if depth:
        raise ValueError(f"each <!-- {{directive}} --> needs its {END}: they do not pair")
    return "\n".join(lines)


def read(app: Sphinx, page: str, source: list[str]) -> None:
    """Rewrite a page's text before MyST reads it; what is wrong is an error that names the cell."""
    cite = citations(Path(app.srcdir, app.config.bibtex_bibfiles[0])).made
    if not app.env.doc2path(page).endswith(".ipynb"):
        source[0] = rewritten(source[0], [cite, directives], f"{page}.md")
        return
    notebook = json.loads(source[0])
    changes = [cite, numbered(page), directives]
    for number, cell in enumerate(notebook["cells"], 1):
        if cell["cell_type"] == "markdown":
            cell["source"] = rewritten("".join(cell["source"]), changes, f"{page}.ipynb: cell {number}")
    source[0] = json.dumps(notebook)


def rewritten(text: str, changes: list[Callable[[str], str]], place: str) -> str:
    for change in changes:
        try:
            text = change(text)
        except ValueError as reason:
            logger.error("%s: %s", place, reason)
    return text


def round_brackets() -> BracketStyle:
    return BracketStyle("(", ")", sep="; ")


@dataclass
class AsWritten(AuthorYearReferenceStyle):
    """A citation reads on the site as it does in the notebook."""

    bracket_textual: BracketStyle = field(default_factory=round_brackets)
    bracket_parenthetical: BracketStyle = field(default_factory=round_brackets)


def setup(app: Sphinx) -> dict[str, Any]:
    register_plugin("sphinxcontrib.bibtex.style.referencing", "as_written", AsWritten)
    app.connect("source-read", read)
    return {"parallel_read_safe": True}
