"""Repair a probe that cheats."""

import torch

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.looking_inside.exercises.repaired_probe_mistakes import MISTAKES
from chapters.looking_inside.exercises.repaired_probe_parts import _probed


def _probe_case(
    label: str, seed: int, count: int, *, leaks: bool, repeats: bool, dtype: torch.dtype = torch.float32
) -> Case:
    """States in which the number of the subject can be told a little, and at the verb for sure.

    `leaks=False`: the verb's state is that of the word before. `repeats`: the second half is the first again,
    so that it is no matter on which one tests.
    """
    source = generator(seed)
    drawn_half = count // 2 if repeats else count
    labels = torch.randint(2, (drawn_half,), generator=source, device="cpu") * 2 - 1
    controls = torch.randint(2, (drawn_half,), generator=source, device="cpu") * 2 - 1
    verbs = torch.randint(2, 4, (drawn_half,), generator=source, device="cpu")
    states = torch.randint(-16, 17, (drawn_half, 5, 4), generator=source, device="cpu") / 8
    rows = torch.arange(drawn_half, device="cpu")
    states[rows, verbs - 1, 0] += 0.75 * labels
    states[rows, verbs] = states[rows, verbs - 1]
    if leaks:
        states[rows, verbs, 0] = 3.0 * labels
    if repeats:
        states, verbs, labels, controls = (
            torch.cat([half, half]) for half in (states, verbs, labels, controls)
        )
    return Case(label, states.to(dtype), verbs, labels.to(dtype), controls.to(dtype))


check_repaired_probe = Exercise(
    "repaired_probe",
    difficulty=3,
    minutes=15,
    takes=("states", "verbs", "labels", "controls"),
    returns=("right", "right of the control"),
    reference=_probed,
    cases=(
        _probe_case("is tested on sentences that are new to it", 291, 20, leaks=False, repeats=False),
        _probe_case("reads before the verb has told", 777, 32, leaks=True, repeats=True),
        _probe_case("measures its control", 3, 24, leaks=False, repeats=True),
        _probe_case("does all three", 76, 30, leaks=True, repeats=False, dtype=torch.float64),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
