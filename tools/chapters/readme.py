"""The README's table of chapters, written from what the chapters say of themselves."""

import re
from pathlib import Path

from bookkit import registry

README = registry.CONTENTS.with_name("README.md")
BETWEEN_THE_MARKS = re.compile(r"(?<=<!-- chapters -->\n).*?(?=<!-- end of chapters -->)", re.DOTALL)


def table(chapters: list[registry.Chapter]) -> str:
    """A row for each part and for each chapter."""
    lines = ["", "| | Chapter | You will be able to |", "|---|---|---|"]
    part = ""
    for number, chapter in enumerate(chapters, 1):
        if chapter.part != part:
            part = chapter.part
            lines.append(f"| | **{part}** | |")
        link = f"[{chapter.title}](book/{chapter.notebook.name})"
        lines.append(f"| {number} | {link} | {chapter.goal} |")
    return "\n".join([*lines, "", ""])


def with_table(text: str, chapters: list[registry.Chapter]) -> str:
    """The README with the table of these chapters between its two marks."""
    return BETWEEN_THE_MARKS.sub(lambda _: table(chapters), text)


def write(readme: Path = README) -> bool:
    """Whether anything had to be changed."""
    text = readme.read_text(encoding="utf-8")
    fresh = with_table(text, registry.chapters())
    if fresh != text:
        readme.write_text(fresh, encoding="utf-8")
    return fresh != text
