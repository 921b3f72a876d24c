"""Repair seven lines of positions that hold five faults."""

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import but, in_parts
from chapters.where_am_i.exercises.waves import _PLACES, _WAVES, _pair_start, _table


def _positions(
    inputs: Tensor,
    *,
    axis: int = 1,
    base: float = 10000.0,
    add: Callable[[Tensor, Tensor], Tensor] = torch.add,
    **parts: Callable[..., Any],
) -> Tensor:
    """The repaired code in parts that can be mistaken; what is left over are the parts of `_table`."""
    return add(inputs, _table(inputs.shape[axis], inputs.shape[-1], base, **parts).to(inputs.dtype))


# Each fault: what is said of it while it is there, and the part that it is.
FAULTS: dict[str, tuple[str, dict[str, Any]]] = {
    "length": ("how many rows are taken (which axis holds the words?)", {"axis": 0}),
    "base": ("the base", {"base": 1000.0}),
    "sine": ("the odd columns (what does row 0 hold there?)", {"wave": torch.sin}),
    "doubled": (
        "the exponent of both columns (i goes 0, 2, 4, …)",
        {"power": lambda base, exponent: base ** (2 * exponent)},
    ),
    "apart": (
        "the angle of the odd columns (with whom do they share it?)",
        {"exponent": lambda column, d_model: column / d_model},
    ),
}


def _with_faults(*faults: str) -> Callable[[Tensor], Tensor]:
    return partial(_positions, **{part: code for fault in faults for part, code in FAULTS[fault][1].items()})


check_repaired_positions = Exercise(
    "repaired_positions",
    difficulty=3,
    minutes=15,
    takes=("inputs",),
    returns=("outputs",),
    reference=_positions,
    # One width but for the last: the loop over the columns came with the code, and deserves no remark.
    cases=(
        Case("right for one sentence of one word", *draw(41, (1, 1, 8))),
        Case("right for one sentence of five words", *draw(42, (1, 5, 8))),
        # As many sentences as words: a length read from the wrong axis goes unnoticed here.
        Case("right for six sentences of six words", *draw(43, (6, 6, 8))),
        Case("right for three sentences of seven words", *draw(44, (3, 7, 8))),
        Case("right in float64", *draw(45, (2, 9, 16), dtype=torch.float64)),
    ),
    mistakes={
        "still broken": (
            "All five faults that it came with are still there. Begin with the axis that holds the words, "
            "then look at row 0.",
            _with_faults(*FAULTS),
        ),
        "a row for each sentence": (
            "Every word of a sentence gets the row of the sentence's number, not that of its own place.",
            partial(_positions, axis=0, add=lambda inputs, rows: inputs + rows.unsqueeze(1)),
        ),
    }
    # Every way to have mended some of the faults and not the others.
    | {
        f"left: {', '.join(left)}": (
            f"Faults mended: {len(FAULTS) - count} of {len(FAULTS)}. Look again at "
            f"{'; '.join(FAULTS[fault][0] for fault in left)}.",
            _with_faults(*left),
        )
        for count in range(1, len(FAULTS))
        for left in itertools.combinations(FAULTS, count)
    }
    | in_parts(
        _positions,
        exponent={
            "doubled in the second line": (
                "The exponent is mended in the first of the two lines. In the second it is still doubled.",
                lambda column, d_model: (1 + column % 2) * _pair_start(column) / d_model,
            ),
            "base of the second line": (
                "The base is mended in the first of the two lines, and not in the second.",
                # 1000 is 10000 to the power of 3/4.
                lambda column, d_model: (1 - column % 2 / 4) * _pair_start(column) / d_model,
            ),
        },
        places=_PLACES,
        wave=but(_WAVES, "sine in every column"),
        add={
            "table alone": (
                "The words have vanished: this is the table alone. Return inputs plus the table.",
                lambda inputs, rows: rows,
            ),
            "multiplied": ("The words are multiplied by the table. Positions are added.", torch.mul),
            "words scaled": (
                "The words are multiplied by √d_model, as some models do. Here they stay as they are.",
                lambda inputs, rows: inputs * math.sqrt(inputs.shape[-1]) + rows,
            ),
        },
    ),
)
