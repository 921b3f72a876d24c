"""Plant a fault that no cheap test of the chapter finds, and that costs loss."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_repair_shop.exercises.own_fault_mistakes import MISTAKES
from chapters.the_repair_shop.exercises.own_fault_parts import FOUND, NoNetwork, asked

check_own_fault = Exercise(
    "own_fault",
    difficulty=4,
    minutes=45,
    takes=("question", "seed"),
    returns=("found",),
    reference=NoNetwork.in_all,
    ask=asked,
    meanings={"found": FOUND},
    cases=(
        Case("no cheap test finds it", "tests", 0),
        Case("nor with another seed", "tests", 1),
        Case("it costs 0.1 nats a letter", "training", 0),
    ),
    mistakes=MISTAKES,
    trainable=False,
    again=False,
)
