"""The mistakes that `check_leak_proofs` knows by name."""

from functools import partial

import torch

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.who_may_look_where.exercises.leak_proofs_parts import _WORDS, _prove

MISTAKES: Mistakes = in_parts(
    _prove,
    differ={
        "the changed place compared": (
            "An honest model is convicted: you compare outputs where a word has changed, and those may "
            "change with it. Only the outputs before must not.",
            lambda one, other, place: (one - other)[:, : place + 1].abs().max() > 1e-6,
        ),
        "to the last bit": (
            "One honest model is convicted: its outputs differ in the 12th digit, as they do where "
            "sums are taken in another order. Allow for rounding, with torch.allclose.",
            lambda one, other, place: not torch.equal(one[:, :place], other[:, :place]),
        ),
        "small differences overlooked": (
            "The small leaks got away. A leak moves every score a little before it moves the best guess; "
            "what is larger than rounding, 1e-6 say, is a difference.",
            lambda one, other, place: (one.argmax(-1) != other.argmax(-1))[:, :place].any(),
        ),
    },
    change={
        "the past changed": (
            "Your two texts differ before the place that you name. What comes first must be the same in "
            "both, and what comes later must not.",
            lambda text, place: torch.cat([(text[:, :place] + 1) % _WORDS, text[:, place:]], dim=-1),
        ),
        "nothing changed": (
            "Nobody is convicted. Four of the six leak: are your two texts different at all?",
            lambda text, place: text,
        ),
    },
    start={
        "one text alone": (
            "A leak got away. You try one text alone, and one model leaks only where a certain word "
            "comes up. Draw many texts.",
            torch.zeros_like,
        ),
    },
) | {
    "one place alone": (
        "The model with a single hole got away. Change everything from a place on, compare everything "
        "before it, and do so for every place.",
        partial(_prove, places=(1,)),
    ),
}
