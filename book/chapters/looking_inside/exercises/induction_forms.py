"""An experiment: train two models, in one of which an induction head forms."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.looking_inside.exercises.induction_forms_mistakes import MISTAKES
from chapters.looking_inside.exercises.induction_forms_parts import _formed, _made

check_induction_forms = Exercise(
    "induction_forms",
    difficulty=4,
    minutes=45,
    takes=("question",),
    returns=("answer",),
    reference=_made(),
    ask=_formed,
    cases=(
        Case("two layers, and one to compare with", "layers"),
        Case("what is repeated is predicted, whatever the period", "predicts"),
        Case("by heads that look at what came next", "heads"),
        Case("one layer has learned what it can", "control"),
        Case("the gap is what you say", "gap"),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
