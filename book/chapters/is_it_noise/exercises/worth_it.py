"""An experiment: is a higher rate worth it? An interval from as many seeds as it takes."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.is_it_noise.exercises.worth_it_parts import FIRST, HANDED, SAID, results

check_worth_it = Exercise(
    "worth_it",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=HANDED["reference"],
    ask=results,
    cases=(
        Case("it is an interval", FIRST),
        Case("it is as narrow as was asked for", "is it narrow enough?"),
        Case("it is no narrower than seeds can make it", "is it too narrow?"),
        Case("it holds what hundreds of seeds say", "does it hold the truth?"),
    ),
    mistakes={name: (sentence, HANDED[name]) for name, sentence in SAID.items()},
    trainable=False,
    again=False,
)
