"""Write one step of a GRU."""

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import in_parts
from chapters.three_ways_to_read_a_sequence.exercises.steps import _step


def _state_reset(from_word: Tensor, from_state: Tensor, state: Tensor) -> Tensor:
    return _step(
        from_word, from_state, state, candidate=lambda reset, word, _: (word + reset.sigmoid() * state).tanh()
    )


check_gru_step = Exercise(
    "gru_step",
    difficulty=2,
    minutes=10,
    takes=("from_word", "from_state", "state"),
    returns=("state",),
    reference=_step,
    cases=(
        Case("right for one number", exact([0, 0, 1]), exact([0, 2, 1]), exact([0.5])),
        Case("right for a vector", *draw(1, (12,), (12,), (4,))),
        Case("right for a batch", *draw(4, (5, 9), (5, 9), (5, 3))),
        Case(
            "right in float64, with more axes",
            *draw(7, (2, 3, 12), (2, 3, 12), (2, 3, 4), dtype=torch.float64),
        ),
    ),
    mistakes=in_parts(
        _step,
        mix={
            "gate the wrong way round": (
                "The gate z says how much of the *old* state is kept, and 1 - z goes to the new one. You "
                "have them the other way round.",
                lambda z, state, new: (1 - z) * state + z * new,
            ),
            "both in full": (
                "The new state is added in full. What the gate keeps of the old, it takes from the new.",
                lambda z, state, new: z * state + new,
            ),
            "old in full": (
                "The old state stays in full, so that it grows without end. The gate shares out.",
                lambda z, state, new: state + (1 - z) * new,
            ),
            "nothing kept": (
                "The candidate replaces the state: that is a plain recurrence. Where is the gate z?",
                lambda z, state, new: new,
            ),
            "new one dropped": ("The candidate is missing from the mix.", lambda z, state, new: z * state),
            "half and half": (
                "Old and new state get equal shares. The gate z decides, number by number.",
                lambda z, state, new: (state + new) / 2,
            ),
        },
        gate={
            "gate without a sigmoid": (
                "z goes into the mix as it comes. A share lies between 0 and 1: take its sigmoid.",
                lambda z: z,
            ),
            "gate by tanh": (
                "z goes through a tanh, and can be negative. A gate takes a sigmoid.",
                torch.tanh,
            ),
            "gate by softmax": (
                "The gate's numbers share one whole, as by a softmax. Each place has a gate of its own.",
                lambda z: z.softmax(-1),
            ),
        },
        candidate={
            "no tanh": (
                "The candidate is missing its tanh, so nothing keeps the state in range.",
                lambda reset, word, old: word + reset.sigmoid() * old,
            ),
            "no reset": (
                "The reset gate is not used: it multiplies what the candidate hears from the old state.",
                lambda reset, word, old: (word + old).tanh(),
            ),
            "reset without a sigmoid": (
                "The reset gate goes in as it comes. It is a share, too: take its sigmoid.",
                lambda reset, word, old: (word + reset * old).tanh(),
            ),
            "word reset": (
                "The reset gate multiplies what the word says. It belongs to what the state says.",
                lambda reset, word, old: (reset.sigmoid() * word + old).tanh(),
            ),
            "both reset": (
                "The reset gate multiplies word and state together. The word passes as it is.",
                lambda reset, word, old: (reset.sigmoid() * (word + old)).tanh(),
            ),
            "squashed by a sigmoid": (
                "The candidate goes through a sigmoid, and can never be negative. It takes a tanh.",
                lambda reset, word, old: (word + reset.sigmoid() * old).sigmoid(),
            ),
        },
        join={
            "gates by the word alone": (
                "Your gates hear only the word. Each adds up what the word and what the state says.",
                lambda word, state: word,
            ),
            "gates by the state alone": (
                "Your gates hear only the state. Each adds up what the word and what the state says.",
                lambda word, state: state,
            ),
            "multiplied": (
                "For the gates you multiply what word and state say. They add up.",
                torch.mul,
            ),
        },
        split={
            "gates exchanged": (
                "Reset and z have changed places: the first third is the reset, the second is z.",
                lambda sums: [sums.chunk(3, -1)[place] for place in (1, 0, 2)],
            ),
            "candidate first": (
                "You read the thirds as n, reset, z. They come as reset, z, n.",
                lambda sums: [sums.chunk(3, -1)[place] for place in (1, 2, 0)],
            ),
        },
    )
    | {
        "state reset": (
            "The reset gate multiplies the state as it is. It multiplies what the state *says*: the last "
            "third of `from_state`.",
            _state_reset,
        ),
    },
)
