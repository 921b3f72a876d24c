"""The exercise `gru_step`, tried as readers would."""

import torch
from exercise_cases import changed, judged_as
from torch import nn

from chapters.three_ways_to_read_a_sequence.exercises import (
    check_gru_step,
)


def by_halves(from_word, from_state, state):
    gates = (from_word + from_state).sigmoid()
    reset, z, _ = gates.chunk(3, -1)
    width = state.shape[-1]
    n = torch.tanh(from_word[..., 2 * width :] + reset * from_state[..., 2 * width :])
    return torch.lerp(n, state, z)


RIGHT = {
    check_gru_step: {
        "halves": by_halves,
        "nudged": lambda word, old, state: (
            state
            + (1 - (word + old).chunk(3, -1)[1].sigmoid())
            * (
                check_gru_step.reference(word, old, torch.zeros_like(state))
                / (1 - (word + old).chunk(3, -1)[1].sigmoid())
                - state
            )
        ),
    }
}


NAMED = {
    check_gru_step: {
        "gate the wrong way round": lambda word, old, state: torch.lerp(
            state,
            torch.tanh(word.chunk(3, -1)[2] + (word + old).chunk(3, -1)[0].sigmoid() * old.chunk(3, -1)[2]),
            (word + old).chunk(3, -1)[1].sigmoid(),
        ),
        "nothing kept": lambda word, old, state: torch.tanh(
            word.chunk(3, -1)[2] + (word + old).chunk(3, -1)[0].sigmoid() * old.chunk(3, -1)[2]
        ),
        "gates by the word alone": lambda word, old, state: by_halves(
            word, torch.cat([0 * old[..., : -state.shape[-1]], old[..., -state.shape[-1] :]], -1), state
        ),
        "gates by the state alone": lambda word, old, state: by_halves(
            torch.cat([0 * word[..., : -state.shape[-1]], word[..., -state.shape[-1] :]], -1), old, state
        ),
        "multiplied": lambda word, old, state: by_halves(
            torch.cat([(word * old)[..., : -state.shape[-1]], word[..., -state.shape[-1] :]], -1),
            torch.cat([0 * old[..., : -state.shape[-1]], old[..., -state.shape[-1] :]], -1),
            state,
        ),
        "state reset": lambda word, old, state: by_halves(
            word, torch.cat([old[..., : -state.shape[-1]], state], -1), state
        ),
        "no reset": lambda word, old, state: torch.lerp(
            (word + old).chunk(3, -1)[2].tanh(), state, (word + old).chunk(3, -1)[1].sigmoid()
        ),
        "both reset": lambda word, old, state: torch.lerp(
            ((word + old).chunk(3, -1)[2] * (word + old).chunk(3, -1)[0].sigmoid()).tanh(),
            state,
            (word + old).chunk(3, -1)[1].sigmoid(),
        ),
    }
}


UNKNOWN = {
    check_gru_step: {
        "halved": changed(check_gru_step.reference, lambda state: state / 2),
        "an LSTM's": lambda word, old, state: nn.functional.relu(state),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
