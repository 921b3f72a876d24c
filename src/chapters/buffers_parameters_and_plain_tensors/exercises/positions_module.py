"""Write a module that holds a table of positions in its place, and adds it to words."""

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.shapes import Vectors
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, Part, in_parts
from bookkit.checking.mistakes.holding import HOLDING
from bookkit.checking.modules import asking
from chapters.buffers_parameters_and_plain_tensors.exercises.ways_to_hold import _same, _unsaved


def _first_rows(words: Vectors, table: Tensor) -> Tensor:
    return words + table[: words.shape[-2]]  # (B, T, d_model)


class _Positions(nn.Module):
    def __init__(self, table: Tensor, hold: Part = _unsaved, add: Part = _first_rows) -> None:
        super().__init__()
        self.table, self.add = hold(table), add

    def forward(self, words: Vectors) -> Any:
        return self.add(words, self.table)


_HELD: Mistakes = HOLDING | {
    "persistent": (
        "A buffer, and a persistent one, so a file refuses to be loaded at another length. The code decides "
        "what is in this table: no file needs it.",
        nn.Buffer,
    ),
    "a gradient of its own": (
        "The buffer is right, but it requires a gradient, which nobody will use.",
        lambda table: _unsaved(table.clone().requires_grad_()),
    ),
}


_ADDED: Mistakes = {
    "words lost": (
        "forward returns the rows of the table. It should add them to the words.",
        lambda words, table: table[: words.shape[-2]].expand_as(words),
    ),
    "whole table": (
        "The whole table is added, which fits only a sentence as long as the table. Take the first T rows.",
        torch.add,
    ),
    "columns cut": (
        "table[:, :T] cuts columns. The rows, one for each position, are the first axis: table[:T].",
        lambda words, table: words + table[:, : words.shape[-2]],
    ),
    "length from the batch": (
        "As many rows are taken as there are sentences. Its words are the second axis from the end.",
        lambda words, table: words + table[: len(words)],
    ),
    "row by sentence": (
        "Every word of a sentence gets the same row. Row t belongs to word t.",
        lambda words, table: words + table[: len(words), None],
    ),
    "last rows": (
        "The last rows of the table are added. Word 0 gets row 0.",
        lambda words, table: words + table[-words.shape[-2] :],
    ),
    "cut for good": (
        "forward writes its first rows over the table: after a short sentence none are left for a longer "
        "one.",
        lambda words, table: words + table.set_(table[: words.shape[-2]]),
    ),
    "gradients cut": (
        "The right numbers, but no gradient reaches the words: detach(), .data or no_grad() cuts it.",
        lambda words, table: _first_rows(words.detach(), table),
    ),
}


_SMALL = exact([1, 2], [0.5, -1], [3, 0]), exact([10, 20], [30, 40])[None]


check_positions_module = Exercise(
    "positions_module",
    difficulty=2,
    minutes=10,
    takes=("table", "words", "asked"),
    returns=("answer",),
    reference=_Positions,
    ask=asking("table", "words"),
    cases=(
        Case("adds the first rows to one sentence", *_SMALL, "MyModule(table)(words)"),
        # Fewer words than columns, so that it shows where columns are cut.
        Case("adds them in a batch", *draw(1, (9, 6), (3, 4, 6)), "MyModule(table)(words)"),
        Case("adds the whole table", *draw(3, (5, 4), (2, 5, 4)), "MyModule(table)(words)"),
        Case("adds more rows after fewer", *_SMALL, "[*map(MyModule(table), (words[:, :1], words))][-1]"),
        Case("works after .double()", *_SMALL, "MyModule(table).double()(words.double())"),
        Case("works on another device", *_SMALL, "MyModule(table).to('meta')(words.to('meta')).numel()"),
        Case("gradients reach the words", *_SMALL, "gradient(MyModule(table), words)"),
        Case("wants no gradient itself", *_SMALL, "int(MyModule(table)(words).requires_grad)"),
        Case("gives an optimizer nothing", *_SMALL, "len(list(MyModule(table).parameters()))"),
        Case("holds the table in one buffer", *_SMALL, "len(list(MyModule(table).buffers()))"),
        Case("puts nothing in the checkpoint", *_SMALL, "len(MyModule(table).state_dict())"),
    ),
    trainable=False,  # the cases ask for gradients themselves
    mistakes=in_parts(_Positions, hold=_HELD, add=_ADDED)
    | {
        "moved at each call": (
            "Fetching a plain tensor at each call works, and copies it every time. A buffer moves once.",
            partial(_Positions, hold=_same, add=lambda words, table: _first_rows(words, table.to(words))),
        ),
        "super().__init__() forgotten": (
            "super().__init__() makes the drawers. Until it is called, nothing can be put into one.",
            lambda table: _Positions.__new__(_Positions).register_buffer("table", table),
        ),
    },
)
