"""Repair a probe that cheats."""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts, swapped


def _probed(
    states: Tensor,
    verbs: Tensor,
    labels: Tensor,
    controls: Tensor,
    *,
    places: Part = lambda verbs: verbs - 1,
    fitted: Part = lambda half: slice(None, half),
    tested: Part = lambda half: slice(half, None),
    line: Part = lambda known, of: torch.linalg.lstsq(known, of[:, None]).solution[:, 0],
    control: Part = lambda probe, controls, labels: probe(controls),
    share: Part = lambda found, of: (found * of > 0).double().mean().item(),
) -> tuple[float, float]:
    read = states[torch.arange(len(states), device="cpu"), places(verbs)]  # (N, width)
    half = len(states) // 2

    def probe(of: Tensor, by: Tensor | None = None, tested: Part = tested) -> float:
        some, others = fitted(half), tested(half)
        direction = line(read[some], (of if by is None else by)[some])
        return share(read[others] @ direction, of[others])  # type: ignore[no-any-return]

    return probe(labels), control(probe, controls, labels)


def _with_bias(states: Tensor, *inputs: Tensor, **options: Part) -> tuple[float, float]:
    return _probed(F.pad(states, (0, 1), value=1.0), *inputs, **options)  # type: ignore[arg-type]


def _held_small(known: Tensor, of: Tensor) -> Tensor:
    gram = known.mT @ known + torch.eye(known.shape[1], dtype=known.dtype, device="cpu")
    return torch.linalg.solve(gram, known.mT @ of)  # type: ignore[no-any-return]


_ALL = slice(None)


def _faults(*names: str) -> dict[str, Any]:
    """Which of the three are still there, as options of _probed."""
    options: dict[str, Any] = {}
    if "place" in names:
        options["places"] = lambda verbs: verbs
    if "test" in names:
        options["fitted"] = options["tested"] = lambda half: _ALL
    if "control" in names:
        options["control"] = lambda probe, controls, labels: 0.5
    return options


MISTAKES: Mistakes = (
    {
        "still broken": (
            "All three faults are still there. On which sentences is it tested? What would it find where "
            "there is nothing to find? And what does the word that it reads give away?",
            partial(_probed, **_faults("place", "test", "control")),
        ),
        "tested on what it learned from": (
            "It is still tested on sentences that it was fitted to. Fit it to the first half, and test it on "
            "the second.",
            partial(_probed, **_faults("test")),
        ),
        "reads the verb": (
            "It still reads the state of the verb, whose form says whether the subject is one or many. Read "
            "the word before it.",
            partial(_probed, **_faults("place")),
        ),
        "chance in the place of a control": (
            "The control is still an opinion: a half. Fit the same probe to `controls`, in which there is "
            "nothing to find, and test it in the same way.",
            partial(_probed, **_faults("control")),
        ),
        "the verb, and its own sentences": (
            "The control is measured now. Two faults are left: it is tested on sentences that it was fitted "
            "to, and the word that it reads gives the answer away.",
            partial(_probed, **_faults("place", "test")),
        ),
        "no control, and its own sentences": (
            "It reads the right word now. Two faults are left: it is tested on sentences that it was fitted "
            "to, and its control is not measured.",
            partial(_probed, **_faults("test", "control")),
        ),
        "no control, and the verb": (
            "It is tested on new sentences now. Two faults are left: the word that it reads gives the answer "
            "away, and its control is not measured.",
            partial(_probed, **_faults("place", "control")),
        ),
    }
    | in_parts(
        _probed,
        places={
            "reads after the verb": (
                "It reads the word after the verb, which has seen the verb as well. Read the one before.",
                lambda verbs: verbs + 1,
            ),
            "two words before": (
                "It reads two words before the verb. The word before it knows all that the model needs to "
                "choose the verb.",
                lambda verbs: verbs - 2,
            ),
        },
        fitted={
            "fitted to all": (
                "It is tested on the second half, and fitted to all sentences, these among them.",
                lambda half: _ALL,
            ),
        },
        tested={
            "tested on its own half": (
                "It is fitted to the first half and tested on the first half. The second is new to it.",
                lambda half: slice(None, half),
            ),
            "tested on all": (
                "It is fitted to the first half, and tested on all sentences: half of them it knows.",
                lambda half: _ALL,
            ),
        },
        control={
            "control tested on its own half": (
                "The probe is right. Its control is tested on the sentences that it was fitted to: test it "
                "on the second half, too.",
                lambda probe, controls, labels: probe(controls, tested=lambda half: slice(None, half)),
            ),
            "fitted to the labels": (
                "The probe is right. For the control you keep the direction that was fitted to the labels: "
                "fit one to `controls`.",
                lambda probe, controls, labels: probe(controls, by=labels),
            ),
            "held against the labels": (
                "The probe is right. The control is fitted to `controls` and then held against the true "
                "labels: hold it against `controls`.",
                lambda probe, controls, labels: probe(labels, by=controls),
            ),
            "labels for the control": (
                "The control has the true labels. Give it `controls`, in which there is nothing to find.",
                lambda probe, controls, labels: probe(labels),
            ),
            "selectivity": (
                "The second number is by how much the probe is better than its control. Return the control's "
                "own share.",
                lambda probe, controls, labels: probe(labels) - probe(controls),
            ),
        },
        share={
            "in per cent": (
                "These are per cent. Give shares between 0 and 1.",
                lambda found, of: 100 * (found * of > 0).double().mean().item(),
            ),
            "share wrong": (
                "These are the shares that are wrong.",
                lambda found, of: (found * of <= 0).double().mean().item(),
            ),
            "counted": (
                "These are numbers of sentences. Give shares of those that are tested.",
                lambda found, of: (found * of > 0).double().sum().item(),
            ),
            "of all sentences": (
                "You divide by the number of all sentences. Only half of them are tested.",
                lambda found, of: (found * of > 0).double().mean().item() / 2,
            ),
            "each against every label": (
                "What is found is (N, 1) and the labels are (N,): their product is (N, N), each sentence "
                "against every label. Keep the [:, 0].",
                lambda found, of: (found[:, None] * of > 0).double().mean().item(),
            ),
            "true or false against 1 or −1": (
                "A comparison gives True or False, and a label of −1 equals neither: compare the signs.",
                lambda found, of: ((found > 0) == of).double().mean().item(),
            ),
        },
    )
    | {
        "a bias": (
            "The three faults are mended, and the probe has a bias that it had not. Leave it as it was.",
            _with_bias,
        ),
        "the lesson's probe": (
            "The three faults are mended, and this is the lesson's probe. The colleague's has no bias, and "
            "nothing that keeps its numbers small: leave it as it was.",
            partial(_with_bias, line=_held_small),
        ),
    }
    | swapped(_probed, "right", "right of the control")
)


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
