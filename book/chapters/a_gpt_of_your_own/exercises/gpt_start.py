"""Draw a GPT's weights as GPT-2's are drawn."""

from attnlab.transformer import GPT
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.a_gpt_of_your_own.exercises.gpt_start_mistakes import MISTAKES
from chapters.a_gpt_of_your_own.exercises.gpt_start_parts import (
    BIASES,
    NORMS,
    READERS,
    TABLES,
    TOLD,
    WRITERS,
    _drawn,
    _start,
)

_ASKED = {
    TABLES: "tables with spread 0.02",
    READERS: "matrices that read with spread 0.02",
    WRITERS: "matrices that write with spread 0.02/√(2 · layers)",
    BIASES: "biases at 0",
    NORMS: "norms at 1 and 0",
}


check_gpt_start = Exercise(
    "gpt_start",
    difficulty=3,
    minutes=25,
    takes=("layers", "asked"),
    returns=("weights",),
    reference=_start,
    ask=_drawn,
    # With one layer, who divides by √layers does not divide at all; with three, no two ways to divide agree.
    cases=[Case(label, layers, asked) for layers in (1, 3) for asked, label in _ASKED.items()],
    mistakes=MISTAKES,
    trainable=False,
    # The book's own: the task is to write it.
    without=(GPT.start,),
    meanings={"weights": TOLD},
)
