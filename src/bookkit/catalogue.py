"""The exercises of all chapters: what a teacher plans with, and what a reader hands in."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import NamedTuple

from bookkit import registry
from bookkit.checking.report import Check, Text, latest


def of_chapter(package: str) -> list[Check]:
    """`of_chapter("why_divide_by_root_dk")` are the chapter's exercises, in its order."""
    module = import_module(f"chapters.{package}.exercises")
    return list(module.EXERCISES)


def every_exercise() -> Iterator[tuple[str, Check]]:
    """`for chapter, exercise in every_exercise()` goes through the book from front to back."""
    for chapter in registry.chapters():
        for one in of_chapter(chapter.package):
            yield chapter.package, one


@dataclass(frozen=True)
class Entry:
    """`catalogue()[0].minutes` is what a teacher plans with; `mistakes` holds what a reader is told.

    `chapter` is the name that `summary` takes.
    """

    chapter: str
    exercise: str
    difficulty: int
    minutes: int
    mistakes: dict[str, str]


def catalogue() -> list[Entry]:
    """`catalogue()` lists every exercise of the book, and the mistakes that its check can name.

    >>> catalogue()[0].mistakes["multiplied"]
    'The scores are multiplied by the temperature. A high temperature must bring them together: divide.'
    """
    return [
        Entry(
            name,
            one.name,
            one.difficulty,
            one.minutes,
            {mistake: sentence for mistake, (sentence, _) in one.mistakes.items()},
        )
        for name, one in every_exercise()
    ]


def summary(name: str) -> Text:
    """`summary("why_divide_by_root_dk")` is what a reader hands in: how each exercise stands.

    What counts is the latest check in this kernel.
    """
    title = registry.chapter(name).title
    states = {
        one.name: latest[one.name].state if one.name in latest else "not checked" for one in of_chapter(name)
    }
    passed = list(states.values()).count("passed")
    lines = [f"{title}: {passed} of {len(states)} exercises passed"]
    lines += [f"  {'✓' if state == 'passed' else '·'} {one}: {state}" for one, state in states.items()]
    return Text("\n".join(lines))


class Row(NamedTuple):
    """`counted(check_soft_lookup)`: of an exercise's known mistakes, how many its check rejects and names."""

    exercise: str
    known: int
    rejected: int
    named: int


def counted(one: Check) -> Row:
    """`counted(check_soft_lookup).named` is how many of its known mistakes the check names."""
    trials = one.trials()
    rejected = sum(not report.passed for report in trials.values())
    named = sum(report.mistake == name for name, report in trials.items())
    return Row(one.name, len(trials), rejected, named)


def table(rows: Iterable[Row]) -> Text:
    """`table(map(counted, of_chapter("where_am_i")))` has a line for each exercise, and one for all."""
    rows = list(rows)
    lines = [f"{'exercise':24}{'mistakes known':>16}{'rejected':>10}{'named':>7}"]
    total = Row("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:]))
    lines += [f"{name:24}{known:16}{rejected:10}{named:7}" for name, known, rejected, named in (*rows, total)]
    return Text("\n".join(lines))
