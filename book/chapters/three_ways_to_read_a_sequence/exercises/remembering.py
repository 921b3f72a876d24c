"""An experiment: plan a training after which a GRU remembers from afar."""

from typing import Any

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.three_ways_to_read_a_sequence.exercises.remembering_parts import (
    _ASKED,
    _BUDGET,
    _STEPS,
    _mixed,
    _remembers,
)


def _plans() -> dict[str, tuple[str, Any]]:
    return {
        "48 alone": (
            "All your texts are long. That leaves few steps, in which next to no gradient arrives from so "
            "far. Where does a gradient arrive?",
            lambda: [_ASKED] * (_BUDGET // _ASKED),
        ),
        "short alone": (
            "All your texts are very short. It learns to look a few letters back; nothing makes it keep a "
            "letter for longer.",
            lambda: [2] * _STEPS,
        ),
        "too few steps": (
            "Your plan has few steps, and most of them at long distances, from which little is learned. "
            "Shorter texts cost less: take more of them.",
            lambda: [1, 60] * (_BUDGET // 61),
        ),
        "over the budget": (
            "Your distances add up to more than 2,400, or there are more than 300 of them.",
            lambda: [24] * 150,
        ),
        "no distance": (
            "A distance is from 1 to 100: at 0 the marked letter would be the question mark itself.",
            lambda: list(range(60)),
        ),
        "nothing": ("There is no step in your plan.", list),
    }


check_remembering = Exercise(
    "remembering",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=lambda: _mixed(16),
    cases=(Case("keeps to the rules", "rules"), Case("remembers over 48 letters", "recalls")),
    mistakes=_plans(),
    trainable=False,
    ask=_remembers,
)
