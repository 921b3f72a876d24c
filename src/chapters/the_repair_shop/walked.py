"""The tree to be walked in the page: nested folds, without a kernel and from a keyboard."""

import re
from collections.abc import Sequence
from functools import cache
from html import escape

from IPython.display import display

from bookkit import registry
from chapters.the_repair_shop.held import Missed
from chapters.the_repair_shop.tree import TREE, Cause, Fork, Symptom, causes
from checkup import Report

CODE = 'style="white-space:pre-wrap;overflow-wrap:anywhere"'


def walk() -> None:
    """`walk()` shows the tree: one opens what one sees, then the answer of each test."""
    display({"text/html": page(), "text/plain": outline()}, raw=True)


def page() -> str:
    """`page()` is the tree as HTML: of the answers to a question, the page's style leaves the open one."""
    parts, group = [], ""
    for symptom in TREE:
        if symptom.group != group:
            group = symptom.group
            parts.append(f'<p style="margin:1rem 0 0"><strong>{escape(group.capitalize())}</strong></p>')
        parts.append(
            f"<details><summary>{escape(_sentence(symptom.seen))}</summary>{_branch(symptom.fork)}</details>"
        )
    return f'<div class="stays-folded tree">{"".join(parts)}</div>'


def _sentence(words: str) -> str:
    return words[0].upper() + words[1:]


def _branch(branch: Fork | Cause) -> str:
    if isinstance(branch, Fork):
        answers = "".join(
            f"<details><summary>{escape(_sentence(answer))}</summary>{_branch(after)}</details>"
            for answer, after in branch.answers.items()
        )
        return (
            f'<p style="margin:0.4rem 0">Try: <strong>{escape(branch.test)}</strong><br>'
            f"<code {CODE}>{escape(branch.code)}</code></p>{answers}"
        )
    where = f", {branch.where}" if branch.where else ""
    asked = f"<br>In `checkup`{where}: {', '.join(branch.tool)}." if branch.tool else ""
    words, asked = (re.sub("`(.+?)`", r"<code>\1</code>", each) for each in (escape(branch.words), asked))
    return (
        f'<p style="margin:0.4rem 0"><strong>{words}</strong><br>'
        f"To be sure: <code {CODE}>{escape(branch.test)}</code><br>"
        f'Explained in <a href="{escape(branch.section, quote=True)}">{escape(named(branch.section))}</a>.'
        f"{asked}</p>"
    )


@cache
def headings() -> dict[str, str]:
    """`headings()["where-am-i.html#louder-than-the-words"]` is "Louder than the words"; {} without a book."""
    found = {}
    for notebook in registry.BOOK.glob("*.ipynb"):
        cells = registry.Chapter(notebook).cells
        texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
        for words in re.findall(r"^##+ (.*)", "\n".join(texts), re.MULTILINE):
            slug = re.sub(r"[^\w\- ]", "", words.lower().strip()).replace(" ", "-")
            found[f"{notebook.stem}.html#{slug}"] = words.replace("`", "")
    return found


def named(section: str) -> str:
    """`named("where-am-i.html#louder-than-the-words")` is "Louder than the words"."""
    return headings().get(section, section.partition("#")[2].replace("-", " "))


def shown(report: Report) -> None:
    """`shown(report)` is what a notebook shows of a report, with words that are the same on every machine."""
    words = [f"{len(report.tried)} tests tried", *(str(finding) for finding in report.findings)]
    page = f'<div class="stays-folded">{report._repr_html_()}</div>'
    display({"text/html": page, "text/plain": "\n".join(words)}, raw=True)


def missed(faults: Sequence[Missed]) -> None:
    """`missed(MISSED)` tells them one by one, folded."""
    each = "".join(
        f"<li>{escape(one.family)}, <em>{escape(one.fault)}</em>: {escape(one.why)}</li>" for one in faults
    )
    title = f"The {len(faults)} that it missed, and what we guess lets each pass"
    folds = f'<div class="stays-folded"><details><summary>{title}</summary><ul>{each}</ul></details></div>'
    display({"text/html": folds, "text/plain": f"{len(faults)} missed"}, raw=True)


def outline() -> str:
    """`outline()` stands for the tree where no HTML is shown."""
    each = "\n".join(f"{symptom.seen}: {symptom.fork.test}" for symptom in TREE)
    return f"{len(TREE)} symptoms, {ends(TREE)} ends\n{each}"


def ends(tree: tuple[Symptom, ...]) -> int:
    """`ends(TREE)` is to how many causes its ways lead, each counted once."""
    return len({cause for symptom in tree for cause in causes(symptom.fork)})
