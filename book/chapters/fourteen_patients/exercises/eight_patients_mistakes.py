"""The wrong answers that `check_eight_patients` knows by name."""

from chapters.fourteen_patients.exercises.ward import CAUSES, NOTHING, truth
from chapters.fourteen_patients.exercises.ward_tests import ALL_MOVE, TESTS

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
