"""Puzzles: the reader says the shape of each expression before anything runs.

A check that showed the right shape would spoil the puzzle. Of a wrong one it says which mistake leads there,
where it knows one, and otherwise only where to look again.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch

from bookkit.checking import guard
from bookkit.checking.attempts import described
from bookkit.checking.report import Check, Report
from bookkit.checking.wording import arrow, joined

Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ShapePuzzle(Check):
    """`check_turned = ShapePuzzle("turned", …, shapes={"query.mT": (64, 50)})`, called like a function.

    A mistake is a sentence, and the shapes that it leads to; whoever says one of these reads the sentence.

    >>> not_turned = ("`mT` turns the last two axes.", {"query.mT": (50, 64)})
    >>> check_turned = ShapePuzzle(
    ...     "turned",
    ...     difficulty=1,
    ...     minutes=2,
    ...     shapes={"query.mT": (64, 50)},
    ...     mistakes={"not turned": not_turned},
    ... )
    >>> check_turned({"query.mT": (50, 64)})
    turned: not yet
      ✗ query.mT
    → query.mT: `mT` turns the last two axes.
    """

    shapes: Mapping[str, Shape]

    def mistaken(self, mistake: Any) -> Any:
        """`puzzle.mistaken(shapes)` are right answers but for these."""
        return {**self.shapes, **mistake}

    def right_work(self) -> Any:
        """`puzzle.right_work()` are the right answers."""
        return dict(self.shapes)

    def judge(self, work: Any) -> Report:
        """`check_turned.judge({"query.mT": (64, 50)})` takes a dictionary, or a function that returns one."""
        answers = work
        if callable(work):
            outcome = guard.guarded(work)
            if outcome.error is not None:
                return Report(self.name, "not yet", arrow(described(outcome.error)))
            answers = outcome.value
        if type(answers) is not dict:
            words = f"Give the check the dictionary that holds your answers: check_{self.name}(my_shapes)."
            return Report(self.name, "not yet", arrow(words))
        said = {expression: answers.get(expression, ...) for expression in self.shapes}
        if all(shape is ... for shape in said.values()):
            words = "Put a shape, such as (8, 4), in the place of each `...`, and run the cell again."
            return Report(self.name, "not written yet", arrow(words))
        return self._compared(said, answers.keys() == said.keys())

    def _compared(self, said: dict[str, Any], same_questions: bool) -> Report:
        marks: dict[str, str] = {}
        reasons: dict[str, list[str]] = {}  # each sentence, with the expressions that it is about
        names: list[str] = []
        for expression, right in self.shapes.items():
            if said[expression] is ...:
                marks[expression] = "·"
                continue
            marks[expression] = "✓" if _shape(said[expression]) == right else "✗"
            if marks[expression] == "✗":
                name, sentence = self._mistake(expression, said[expression])
                names += [name] if name else []
                reasons.setdefault(sentence, []).append(expression)
        lines = [f"  {mark} {expression}" for expression, mark in marks.items()]
        for sentence, expressions in reasons.items():
            lines += arrow(f"{joined(expressions)}: {sentence}")
        if not same_questions:
            lines += arrow("The keys of the dictionary are the questions: leave them as they were.")
        passed = set(marks.values()) == {"✓"}
        return Report(self.name, "passed" if passed else "not yet", tuple(lines), names[0] if names else None)

    def _mistake(self, expression: str, answer: object) -> tuple[str, str]:
        """Its name, where it has one, and what to say of it."""
        shape, right = _shape(answer), self.shapes[expression]
        if shape is None:
            return "", _no_shape(answer)
        for name, (sentence, shapes) in self.mistakes.items():
            if shapes.get(expression, ...) == shape:
                return name, sentence
        if Counter(shape) == Counter(right):
            return "in another order", "the right lengths, in another order."
        ones = (Counter(shape) - Counter(right)).keys() | (Counter(right) - Counter(shape)).keys()
        if ones == {1}:
            words = "too many" if len(shape) > len(right) else "missing"
            return f"axis of length 1 {words}", f"an axis of length 1 is {words}."
        return "", _where_to_look(shape, right)


def _shape(answer: object) -> Shape | None:
    """The shape as a tuple; None where it is not a shape."""
    # Exactly these types: a subclass may redefine anything, even what equality means.
    if not (type(answer) is tuple or type(answer) is list or type(answer) is torch.Size):
        return None
    return tuple(answer) if all(type(size) is int for size in answer) else None


def _no_shape(answer: object) -> str:
    if type(answer) is int:
        return f"a single number, which ({answer}) is, too. As a shape of one axis it is written ({answer},)."
    return "a shape is a tuple of whole numbers: (8, 4), (8,) for a single axis, () for a single number."


def _where_to_look(shape: Shape, right: Shape) -> str:
    """What to think about again, without the answer."""
    if len(shape) != len(right):
        return f"your shape has too {'few' if len(shape) < len(right) else 'many'} axes."
    axis = [size == wanted for size, wanted in zip(shape, right, strict=True)].index(False)
    return f"axis {axis}, counted from 0, has another size."
