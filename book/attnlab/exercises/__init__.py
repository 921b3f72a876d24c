"""Exercises that know the mistakes people make: one module for each chapter, one check for each exercise."""

from dataclasses import dataclass

from attnlab.exercises import why_divide_by_root_dk
from attnlab.exercises.checker import Exercise, Text, latest
from attnlab.exercises.puzzle import ShapePuzzle

# By the name of the module, which is that of the chapter's notebook: its title and its exercises.
CHAPTERS: dict[str, tuple[str, tuple[Exercise | ShapePuzzle, ...]]] = {
    "why_divide_by_root_dk": (why_divide_by_root_dk.TITLE, why_divide_by_root_dk.EXERCISES),
}


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

    >>> catalogue()[0].mistakes["not scaled"]
    'These are the plain products q·k. What is left to do is the division by √d_k.'
    """
    return [
        Entry(
            chapter,
            one.name,
            one.difficulty,
            one.minutes,
            {known.name: known.sentence for known in one.mistakes},
        )
        for chapter, (_, exercises) in CHAPTERS.items()
        for one in exercises
    ]


def summary(chapter: str) -> Text:
    """`summary("why_divide_by_root_dk")` is what a reader hands in: how each exercise stands.

    What counts is the latest check in this kernel.
    """
    if chapter not in CHAPTERS:
        raise ValueError(f"chapter must be one of {', '.join(CHAPTERS)}, got {chapter!r}")
    title, exercises = CHAPTERS[chapter]
    states = {one.name: latest[one.name].state if one.name in latest else "not checked" for one in exercises}
    passed = list(states.values()).count("passed")
    lines = [f"{title}: {passed} of {len(states)} exercises passed"]
    lines += [f"  {'✓' if state == 'passed' else '·'} {name}: {state}" for name, state in states.items()]
    return Text("\n".join(lines))


def table() -> Text:
    """`table()` counts, for each check, how many of its known mistakes it rejects and how many it names."""
    rows = []
    for _, exercises in CHAPTERS.values():
        for one in exercises:
            trials = one.trials()
            rejected = sum(not report.passed for _, report in trials)
            named = sum(report.mistake == known.name for known, report in trials)
            rows.append((one.name, len(trials), rejected, named))
    rows.append(("all", *(sum(column) for column in list(zip(*rows, strict=True))[1:])))
    lines = [f"{'exercise':24}{'mistakes known':>16}{'rejected':>10}{'named':>7}"]
    lines += [f"{name:24}{known:16}{rejected:10}{named:7}" for name, known, rejected, named in rows]
    return Text("\n".join(lines))
