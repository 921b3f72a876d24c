"""What the known mistakes answer, in numbers: `make refresh` notes it, tests/chapters compares it.

`python -m tools.chapters.known_mistakes many_heads` notes those of a chapter, and executes nothing else.

That each is named by its own sentence shows that a check tells it from the others. It doesn't show that
the code still makes the mistake of which the sentence speaks: for that, its answers must stay what they were.
"""

import json
import sys
from collections.abc import Collection
from typing import Any, TypeAlias

import torch
from torch import Tensor

from bookkit import catalogue
from bookkit.checking.attempts import Attempt
from bookkit.checking.exercise import Exercise
from tools import ROOT

NOTED = ROOT / "tests" / "chapters" / "known_mistakes.json"
# Their works train, or search long: what is known of them, `.ci/run` tries, and no numbers are noted.
TRAINING = {
    "own_fault", "language_model", "beat_the_book", "near_the_limit", "induction_forms", "repaired_model",
    "smallest_cache", "remembering", "longest_text", "deep_without_norm", "start_without_divisor", "cut",
    "multi_head_layer", "gpt_start", "eight_patients", "pruned_heads",
}  # fmt: skip
# By the last heads it has nothing left to lose: which name is lost most then hangs on the last bits.
LEFT_OUT = {("head_jobs", "never put back")}
FIRST = 6
DIGITS = 5
# Without vector instructions no answer differs by as much; the mildest mistake differs from what is right by
# more than five times as much.
TOLERANCE = 2e-3

Part: TypeAlias = list[float | str]  # its first numbers, and the sum of all
Numbers: TypeAlias = dict[str, list[str | list[Part]]]  # of each mistake, case by case


def exercises() -> dict[str, tuple[str, Exercise]]:
    """Those of which numbers are noted, by name, each with its chapter."""
    every = catalogue.every_exercise()
    return {
        one.name: (chapter, one)
        for chapter, one in every
        if isinstance(one, Exercise) and one.name not in TRAINING
    }


def noted_mistakes(exercise: Exercise) -> list[str]:
    return [name for name in exercise.mistakes if (exercise.name, name) not in LEFT_OUT]


def numbers(exercise: Exercise) -> Numbers:
    # A check keeps what its mistakes have answered: where it has judged them before, nothing runs again.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return {
            name: [in_short(exercise._made(name, case)) for case in range(len(exercise.cases))]
            for name in noted_mistakes(exercise)
        }


def in_short(attempt: Attempt) -> str | list[Part]:
    """An error is its type, and an answer that the case does not tell from the right one is "right"."""
    if attempt.error is not None:
        return type(attempt.error).__name__
    return "right" if attempt.passed else [part(each) for each in attempt.answer]


def part(answer: Tensor) -> Part:
    if answer.is_meta:  # of a result far too large only the shape was kept
        return [*map(float, answer.shape)]
    flat = answer.flatten().double()
    if len(flat) == 1:
        return [as_json(flat.item())]
    return [as_json(number) for number in (*flat[:FIRST].tolist(), flat.sum().item())]


def as_json(number: float) -> float | str:
    short = f"{number:.{DIGITS}g}"
    return float(short) if short.lstrip("-")[0].isdigit() else short  # JSON knows no infinity


def alike(noted: Any, made: Any) -> bool:
    """Whether two notes say the same, but for rounding."""
    if not (isinstance(noted, list) and isinstance(made, list)):
        return bool(noted == made)
    # A number that is small beside the others of its answer is what is left over of larger ones.
    room = TOLERANCE * max((abs(each) for each in noted if isinstance(each, float)), default=0) + 1e-6
    return len(noted) == len(made) and all(
        abs(one - other) <= room if isinstance(one, float) and isinstance(other, float) else alike(one, other)
        for one, other in zip(noted, made, strict=True)
    )


def read() -> dict[str, Numbers]:
    noted: dict[str, Numbers] = json.loads(NOTED.read_text(encoding="utf-8"))
    return noted


def note(changed: Collection[str]) -> bool:
    """Note the numbers anew of exercises in the changed chapters, and of new ones; whether any differs."""
    before = read() if NOTED.exists() else {}
    notes = {}
    for name, (chapter, exercise) in exercises().items():
        noted = before.get(name, {})
        if [*noted] == noted_mistakes(exercise) and chapter not in changed:
            notes[name] = noted
            continue
        made = numbers(exercise)
        notes[name] = {key: noted[key] if alike(noted.get(key), made[key]) else made[key] for key in made}
    if notes == before:
        return False
    lines = [f" {json.dumps(name)}: {json.dumps(each)}" for name, each in notes.items()]
    NOTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    return True


if __name__ == "__main__":
    print("known_mistakes.json:", "stored" if note(sys.argv[1:]) else "unchanged")
