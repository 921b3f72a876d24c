"""Eight patients of whom only the symptoms are known: say what ails each."""

import difflib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from bookkit.checking import guard
from bookkit.checking.attempts import described
from bookkit.checking.report import Check, Report
from bookkit.checking.wording import arrow, joined
from chapters.fourteen_patients.exercises.ward import CAUSES, NOTHING, OF_TRAINING, Patient, admitted, truth
from chapters.fourteen_patients.exercises.ward_tests import ALL_MOVE, TESTS, against

SAID = {
    # Of what kind it is, and no more.
    "nothing in the model": (
        "Not nothing. One of the tests finds something, and needs no more than `patient.model`."
    ),
    "nothing in the training": (
        "Not nothing. The model is sound; one of the tests of `batch`, `loss` and `gradient` finds something."
    ),
    "not all": "But that is not all: mend it, and look at what is left.",
}

# What each cause is easily taken for: of the patient who has the one, somebody says the other.
_TAKEN_FOR = {
    "targets not shifted": "padding in the loss",
    "padding in the loss": "means of unequal parts",
    "mask off by one": "positions start again with a cache",
    "mask after the softmax": "positions start again with a cache",
    "softmax over the wrong axis": "mask after the softmax",
    "no scale": "weights too large at the start",
    "no positions": "positions start again with a cache",
    "positions start again with a cache": "mask after the softmax",
    "norm on the stream": "a layer missing from parameters()",
    "a layer missing from parameters()": "norm on the stream",
    "weights too large at the start": "a layer missing from parameters()",
    "dropout in evaluation": NOTHING,
    "rate too high": "weights too large at the start",
    "half precision": NOTHING,
    "means of unequal parts": NOTHING,
    "gradients not set to zero": "means of unequal parts",
}


def _with(cause: str) -> int:
    """The number of the patient who has it."""
    return next(number for number, causes in truth().items() if cause in (causes or {NOTHING}))


MISTAKES: dict[str, tuple[str, dict[int, str]]] = {
    **{cause: (TESTS[cause][1], {_with(_TAKEN_FOR[cause]): cause}) for cause in CAUSES},
    "all places, not the last": (ALL_MOVE, {_with("mask after the softmax"): "mask off by one"}),
    "nothing in the model": (SAID["nothing in the model"], {_with("norm on the stream"): NOTHING}),
    "nothing in the training": (SAID["nothing in the training"], {_with("padding in the loss"): NOTHING}),
    "not all": (SAID["not all"], {_with("dropout in evaluation"): "dropout in evaluation"}),
}


UNWRITTEN = 'Put a cause, such as "no scale", in the place of each `...`, and run the cell again.'


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Diagnoses(Check):
    """`check_eight_patients({1: "no scale", …})` tells of each wrong answer which test speaks against it.

    A mistake is a sentence, and the answers that lead to it, by the patients' numbers.
    """

    def mistaken(self, mistake: Any) -> Any:
        """`check.mistaken({3: "no scale"})` are right answers but for these."""
        return {**self.right_work(), **mistake}

    def right_work(self) -> Any:
        """`check.right_work()` are the right answers."""
        return {number: causes or NOTHING for number, causes in truth().items()}

    def judge(self, work: Any) -> Report:
        """`check.judge({1: "no scale", …})` takes a dictionary, or a function that returns one."""
        answers = work
        if callable(work):
            outcome = guard.guarded(work)
            if outcome.error is not None:
                return self._not_yet(described(outcome.error))
            answers = outcome.value
        if answers is None or answers is ...:
            return self._unwritten(UNWRITTEN)
        if type(answers) is not dict:
            words = f"Give the check the dictionary that holds your answers: check_{self.name}(my_diagnoses)."
            return self._not_yet(words)
        if all(answers.get(number, ...) is ... for number in truth()):
            return self._unwritten(UNWRITTEN)
        if strange := [key for key in answers if key not in truth()]:
            return self._not_yet(
                f"The keys are the patients' numbers, 1 to 8: {strange[0]!r} is none of them."
            )
        return self._compared(answers)

    def _compared(self, answers: dict[Any, Any]) -> Report:
        lines: list[str] = []
        reasons: dict[str, list[str]] = {}  # each sentence, with the patients that it is about
        names: list[str] = []
        for number, right in truth().items():
            answer = answers.get(number, ...)
            if answer is ...:
                lines.append(f"  · patient {number}")
                continue
            said, complaint = _read(answer)
            told = [("", complaint)] if complaint else _against(number, said, right)
            lines.append(f"  {'✗' if told else '✓'} patient {number}")
            names += [name for name, _ in told if name]
            for _, sentence in told:
                reasons.setdefault(sentence, []).append(str(number))
        passed = all("✓" in line for line in lines)
        if not passed and not reasons:
            reasons["no answer yet."] = [str(number) for number in truth() if answers.get(number, ...) is ...]
        for sentence, numbers in reasons.items():
            lines += arrow(f"patient{'s' * (len(numbers) > 1)} {joined(numbers)}: {sentence}")
        return Report(self.name, "passed" if passed else "not yet", tuple(lines), names[0] if names else None)


def _read(answer: object) -> tuple[frozenset[str], str]:
    """What is said of a patient, as causes; or why it can't be read."""
    single = isinstance(answer, str)
    if not single and not isinstance(answer, (set, frozenset, list, tuple)):
        return frozenset(), (
            f'an answer is a cause, "{NOTHING}", or a set of causes, and {type(answer).__name__} came.'
        )
    parts: Collection[object] = [answer] if single else answer  # type: ignore[assignment]
    if not all(isinstance(part, str) for part in parts):
        return frozenset(), "a set of causes holds their names, as `causes()` prints them."
    said = {" ".join(str(part).casefold().split()) for part in parts}
    if not said:
        return frozenset(), f'a healthy one is answered with "{NOTHING}".'
    if NOTHING in said:
        both = "" if said == {NOTHING} else f'"{NOTHING}" and something else can\'t both be.'
        return frozenset(), both
    if unknown := sorted(said - CAUSES.keys()):
        near = difflib.get_close_matches(unknown[0], CAUSES, 1)
        meant = f' Is "{near[0]}" meant?' if near else ""
        return frozenset(), f'"{unknown[0]}" is none of the causes that `causes()` prints.{meant}'
    return frozenset(said), ""


def _against(number: int, said: frozenset[str], right: frozenset[str]) -> list[tuple[str, str]]:
    """What speaks against an answer: a name and a sentence for each thing that does."""
    wrong = [cause for cause in CAUSES if cause in said - right]  # in the order of the list
    if wrong:
        patient = admitted()[number]
        return [(_named(patient, cause), f"{cause}? {against(patient, cause)}") for cause in wrong]
    if said == right:
        return []
    if not said:
        name = "nothing in the training" if right <= OF_TRAINING else "nothing in the model"
        return [(name, SAID[name])]
    return [("not all", f"{joined(sorted(said))} is right. {SAID['not all']}")]


def _named(patient: Patient, cause: str) -> str:
    return "all places, not the last" if against(patient, cause) == ALL_MOVE else cause


check_eight_patients = Diagnoses("eight_patients", difficulty=5, minutes=90, mistakes=MISTAKES)
