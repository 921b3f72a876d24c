"""The exercise `repaired_probe`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import changed, judged_as
from torch.nn import functional as F

from chapters.looking_inside.exercises import (
    check_repaired_probe,
)


def test_the_broken_probe_fails_every_case():
    exercise_cases.assert_still_broken(check_repaired_probe, broken_probe, "✗✗✗✗")


def test_each_fault_of_the_probe_has_a_case_that_it_alone_fails():
    for fault, case in (("test", 0), ("verb", 1), ("control", 2)):
        report = check_repaired_probe.judge(mended_but(fault))
        marks = [line.split()[0] for line in report.lines[:4]]
        assert marks == ["✗" if place in (case, 3) else "✓" for place in range(4)], report


def probe_by_normal_equations(states, verbs, labels, controls):
    read = torch.stack([state[verb - 1] for state, verb in zip(states, verbs, strict=True)]).double()
    half, found = len(read) // 2, []
    for of in (labels.double(), controls.double()):
        known = read[:half]
        direction = torch.linalg.solve(known.mT @ known, known.mT @ of[:half])
        found.append(((read[half:] @ direction).sign() == of[half:]).double().mean())
    return found


def mended_but(*faults, told=lambda found, of: found[:, 0] * of > 0):
    """The probe by a reader, with some of its faults left."""

    def probe(states, verbs, labels, controls):
        places = verbs if "verb" in faults else verbs - 1
        read = states[torch.arange(len(states)), places]
        half = len(read) // 2
        known, new = (slice(None), slice(None)) if "test" in faults else (slice(half), slice(half, None))

        def share(of):
            fitted = torch.linalg.lstsq(read[known], of[known, None]).solution
            return told(read[new] @ fitted, of[new]).double().mean()

        return share(labels), 0.5 if "control" in faults else share(controls)

    return probe


def broken_probe(states, verbs, labels, controls):
    read = states[torch.arange(len(states)), verbs]  # (N, width)
    direction = torch.linalg.lstsq(read, labels[:, None]).solution  # (width, 1)
    right = (read @ direction)[:, 0] * labels > 0
    return right.double().mean(), 0.5


def by_the_lessons_probe(states, verbs, labels, controls):
    read = states[torch.arange(len(states)), verbs - 1]
    half, inputs = len(read) // 2, F.pad(read, (0, 1), value=1.0)
    gram = inputs[:half].T @ inputs[:half] + torch.eye(inputs.shape[1])

    def share(of):
        line = torch.linalg.solve(gram, inputs[:half].T @ of[:half])
        return ((inputs[half:] @ line > 0) == (of[half:] > 0)).float().mean().item()

    return share(labels), share(controls)


RIGHT = {check_repaired_probe: {"normal equations": probe_by_normal_equations, "mended": mended_but()}}


NAMED = {
    check_repaired_probe: {
        "still broken": broken_probe,
        "tested on what it learned from": mended_but("test"),
        "reads the verb": mended_but("verb"),
        "chance in the place of a control": mended_but("control"),
        "the verb, and its own sentences": mended_but("verb", "test"),
        "no control, and its own sentences": mended_but("control", "test"),
        "no control, and the verb": mended_but("control", "verb"),
        "each against every label": mended_but(told=lambda found, of: found * of > 0),
        "true or false against 1 or −1": mended_but(told=lambda found, of: (found[:, 0] > 0) == of),
        "a bias": lambda states, *inputs: mended_but()(
            torch.cat([states, torch.ones_like(states[..., :1])], -1), *inputs
        ),
        "the lesson's probe": by_the_lessons_probe,
        "results swapped": changed(mended_but(), lambda both: both[::-1]),
    }
}


UNKNOWN = {
    check_repaired_probe: {
        "all right": lambda states, verbs, labels, controls: (1.0, 1.0),
        "first word": lambda states, verbs, labels, controls: mended_but()(
            states, torch.ones_like(verbs), labels, controls
        ),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
