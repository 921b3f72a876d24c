"""Puzzles: the reader says the shape of each expression before anything runs.

A check that showed the right shape would spoil the puzzle. Of a wrong one it says which mistake leads there,
where it knows one, and otherwise only where to look again.
"""

from dataclasses import dataclass
from typing import TypeAlias

import torch

from bookkit import guard
from bookkit.checker import Report, State, described, kept
from bookkit.wording import arrow, joined

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class WrongShapes:
    """`WrongShapes("no heads", "The heads are missing.", {"query": (8, 50, 64)})`: a known mistake.

    Whoever says one of these shapes of its expression reads the sentence.
    """

    name: str
    sentence: str
    shapes: dict[str, Shape]


@dataclass(frozen=True)
class ShapePuzzle:
    """`ShapePuzzle("turned", difficulty=1, minutes=2, shapes={"query.mT": (64, 50)}, mistakes=())`."""

    name: str
    difficulty: int
    minutes: int
    shapes: dict[str, Shape]
    mistakes: tuple[WrongShapes, ...]

    def trials(self) -> list[tuple[WrongShapes, Report]]:
        """`puzzle.trials()` makes every known mistake, and has each judged."""
        return [(known, judge_shapes(self, self.shapes | known.shapes)) for known in self.mistakes]


def check_shapes(puzzle: ShapePuzzle, answers: object) -> Report:
    """`check_shapes(TURNED, my_shapes)` judges the answers and keeps the report for the summary."""
    return kept(judge_shapes(puzzle, answers), answers)


def judge_shapes(puzzle: ShapePuzzle, answers: object) -> Report:
    """`judge_shapes(TURNED, {"query.mT": (64, 50)})` takes a dictionary, or a function that returns one.

    >>> judge_shapes(ShapePuzzle("turned", 1, 2, {"query.mT": (64, 50)}, ()), {"query.mT": (64, 64)})
    turned: not yet
      ✗ query.mT
    → query.mT: axis 1, counted from 0, has another size.
    """
    if callable(answers):
        outcome = guard.guarded(answers)
        if outcome.error is not None:
            return Report(puzzle.name, "not yet", arrow(described(outcome.error)))
        answers = outcome.value
    if type(answers) is not dict:
        words = f"Give the check the dictionary that holds your answers: check_{puzzle.name}(my_shapes)."
        return Report(puzzle.name, "not yet", arrow(words))
    said = {expression: answers.get(expression, ...) for expression in puzzle.shapes}
    if all(shape is ... for shape in said.values()):
        words = "Put a shape, such as (8, 4), in the place of each `...`, and run the cell again."
        return Report(puzzle.name, "not written yet", arrow(words))

    marks: dict[str, str] = {}
    reasons: dict[str, list[str]] = {}  # each sentence, with the expressions that it is about
    mistakes: list[str] = []
    for expression, right in puzzle.shapes.items():
        if said[expression] is ...:
            marks[expression] = "·"
            continue
        shape = _read(said[expression])
        marks[expression] = "✓" if shape == right else "✗"
        if shape != right:
            known = _known_mistake(puzzle, expression, shape)
            mistakes += [known.name] if known else []
            sentence = known.sentence if known else _where_to_look(shape, right)
            reasons.setdefault(sentence, []).append(expression)
    lines = [f"  {mark} {expression}" for expression, mark in marks.items()]
    for sentence, expressions in reasons.items():
        lines += arrow(f"{joined(expressions)}: {sentence}")
    if answers.keys() != said.keys():
        lines += arrow("The keys of the dictionary are the questions: leave them as they were.")
    state: State = "passed" if set(marks.values()) == {"✓"} else "not yet"
    return Report(puzzle.name, state, tuple(lines), mistakes[0] if mistakes else None)


def _read(answer: object) -> Shape | None:
    """The shape as a tuple; None where it is not a shape."""
    # Exactly these types: a subclass may redefine anything, even what equality means.
    if not (type(answer) is tuple or type(answer) is list or type(answer) is torch.Size):
        return None
    return tuple(answer) if all(type(size) is int for size in answer) else None


def _known_mistake(puzzle: ShapePuzzle, expression: str, shape: Shape | None) -> WrongShapes | None:
    made = (known for known in puzzle.mistakes if known.shapes.get(expression, ...) == shape)
    return next(made, None)


def _where_to_look(shape: Shape | None, right: Shape) -> str:
    """What to think about again, without the answer."""
    if shape is None:
        return "a shape is a tuple of whole numbers: (8, 4), (8,) for a single axis, () for a single number."
    if len(shape) != len(right):
        return f"it has {'more' if len(shape) < len(right) else 'fewer'} axes."
    axis = [size == wanted for size, wanted in zip(shape, right, strict=True)].index(False)
    return f"axis {axis}, counted from 0, has another size."
