"""`{exercise-catalogue}`: every exercise of the book and, folded, the mistakes that its check can name."""

from collections.abc import Iterator
from itertools import groupby, islice

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from _ext.contents import link_to
from bookkit.catalogue import Entry, catalogue

# Of an exercise. Two have twice as many: whole, they would make the page heavier than a page may be.
SHOWN = 50


class ExerciseCatalogue(SphinxDirective):
    """A link to each chapter, above a fold for each of its exercises."""

    def run(self) -> list[nodes.Node]:
        made: list[nodes.Node] = []
        for chapter, entries in groupby(catalogue(), key=lambda entry: entry.chapter):
            exercises = list(entries)
            made += [self.heading(chapter, exercises)]
            made += [node for exercise in exercises for node in fold(exercise)]
        return made

    def heading(self, chapter: str, exercises: list[Entry]) -> nodes.paragraph:
        link = link_to(chapter.replace("_", "-"), self.env)
        minutes = sum(exercise.minutes for exercise in exercises)
        return nodes.paragraph("", "", link, nodes.Text(f" — {len(exercises)} exercises, {minutes} minutes"))


def fold(exercise: Entry) -> Iterator[nodes.Node]:
    words = f"difficulty {exercise.difficulty}, {exercise.minutes} minutes, {len(exercise.mistakes)} mistakes"
    opening = f"<details><summary>{exercise.exercise}: {words}</summary>"
    yield nodes.raw("", opening, format="html")
    items = [
        nodes.definition_list_item("", nodes.term("", name), nodes.definition("", *with_code(sentence)))
        for name, sentence in islice(exercise.mistakes.items(), SHOWN)
    ]
    yield nodes.definition_list("", *items)
    if more := len(exercise.mistakes) - len(items):
        yield nodes.paragraph("", f"… and {more} more.")
    yield nodes.raw("", "</details>", format="html")


def with_code(sentence: str) -> Iterator[nodes.Node]:
    """What stands between `backticks` is code."""
    for place, part in enumerate(sentence.split("`")):
        yield nodes.literal("", part) if place % 2 else nodes.Text(part)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("exercise-catalogue", ExerciseCatalogue)
    return {"parallel_read_safe": True}
