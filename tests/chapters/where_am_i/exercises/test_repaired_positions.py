"""The exercise `repaired_positions`, tried as readers would."""

import math

import torch
from exercise_cases import changed, judged_as
from where_am_i_answers import by_lines, looped_table, mended, phase_table

from attnlab import positions
from chapters.where_am_i.exercises import (
    check_repaired_positions,
)
from chapters.where_am_i.exercises.repaired_positions import FAULTS

repaired = check_repaired_positions.reference


class KeepsItsRows(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.rows = {}

    def forward(self, inputs):
        length, d_model = inputs.shape[-2:]
        if len(self.rows.get(d_model, ())) < length:
            self.rows[d_model] = phase_table(2 * length, d_model, 10000.0)
        return torch.add(self.rows[d_model][:length].to(inputs), inputs)


def rows_of(inputs):
    return repaired(torch.zeros_like(inputs))


def mended_line(i, d_model):
    return 10000 ** (i / d_model)


RIGHT = {
    check_repaired_positions: {
        "mended in all": mended(),
        "attnlab's module": lambda inputs: positions.SinusoidalPositions(inputs.shape[-1]).to(inputs)(inputs),
        "a module that keeps its rows": KeepsItsRows(),
        "one sentence at a time": lambda inputs: torch.stack(
            [one + looped_table(*one.shape, 10000.0).to(one.dtype) for one in inputs]
        ),
    }
}


NAMED = {
    check_repaired_positions: {f"left: {fault}": mended(fault) for fault in FAULTS}
    | {
        "left: base, sine, apart": mended("apart", "base", "sine"),
        "a row for each sentence": lambda inputs: (
            inputs + looped_table(len(inputs), inputs.size(-1), 10000).to(inputs.dtype)[:, None]
        ),
        "doubled in the second line": by_lines(mended_line, lambda i, d_model: 10000 ** (2 * i / d_model)),
        "base of the second line": by_lines(mended_line, lambda i, d_model: 1000 ** (i / d_model)),
        "changes its inputs": lambda inputs: inputs.add_(rows_of(inputs)),
        "words scaled": lambda inputs: inputs * inputs.size(-1) ** 0.5 + rows_of(inputs),
        "ignored input": rows_of,
    }
}


UNKNOWN = {
    check_repaired_positions: {
        "nothing added": lambda inputs: inputs,
        "added twice": lambda inputs: 2 * repaired(inputs) - inputs,
        "sum scaled": lambda inputs: repaired(inputs) * math.sqrt(inputs.shape[-1]),
        "positions backwards": lambda inputs: repaired(inputs.flip(1)).flip(1),
        "first sentence only": lambda inputs: torch.cat((repaired(inputs[:1]), inputs[1:])),
        "detached words": lambda inputs: repaired(inputs.detach()),
        "base 100": lambda inputs: (
            inputs + positions.sinusoidal(inputs.shape[1], inputs.shape[2], 100.0, inputs.dtype)
        ),
        "batch summed away": changed(repaired, lambda outputs: outputs.sum(0)),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
