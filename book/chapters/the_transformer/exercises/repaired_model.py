"""Repair a language model that trains, with three faults."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_transformer.exercises.repaired_model_mistakes import MISTAKES
from chapters.the_transformer.exercises.repaired_model_parts import _Patient
from chapters.the_transformer.exercises.repaired_model_tests import examined

check_repaired_model = Exercise(
    "repaired_model",
    difficulty=3,
    minutes=30,
    takes=("test",),
    returns=("outcome",),
    reference=_Patient,
    ask=examined,
    trainable=False,
    cases=(
        Case("its first loss is that of guessing", "first loss"),
        Case("no later word changes what comes before", "leak"),
        Case("learns one batch by heart", "one batch"),
    ),
    mistakes=MISTAKES,
)
