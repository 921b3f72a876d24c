"""Repair a training step whose gradient depends on how many parts its batch is cut into."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.fourteen_patients.exercises.repaired_parts_mistakes import MISTAKES
from chapters.fourteen_patients.exercises.repaired_parts_parts import (
    answered,
    gradient_in_parts,
    reader,
    rows,
)


def _case(label: str, seed: int, lengths: list[int], parts: int) -> Case:
    return Case(label, reader(seed), *rows(seed, lengths), parts)


check_repaired_parts = Exercise(
    "repaired_parts",
    difficulty=3,
    minutes=20,
    takes=("model", "ids", "targets", "kept", "parts"),
    returns=("loss", "gradient", "in parts"),
    reference=gradient_in_parts,
    ask=answered,
    cases=(
        # The broken code passes the first two of these, which is the clue.
        _case("right for a batch in one part", 1, [4, 2], 1),
        _case("right where all parts have as many words", 2, [3, 1, 2, 2], 2),
        _case("right for long rows and short ones", 3, [5, 5, 1, 1], 2),
        _case("right where the last part has fewer rows", 4, [3, 3, 3, 3, 3], 2),
        _case("right where a part has no words", 5, [4, 3, 0, 0, 2, 1], 3),
        _case("right for a row in each part", 6, [6, 1, 3], 3),
    ),
    mistakes=MISTAKES,
    meanings={"in parts": {0: "no, more rows at once than a part has", 1: "yes"}},
    trainable=False,
)
