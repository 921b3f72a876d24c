"""The exercise `positions_module`, tried as readers would."""

from functools import partial

import torch
from buffers_parameters_and_plain_tensors_answers import assigned, variant
from exercise_cases import judged_as
from torch import nn
from torch.nn import functional as F

from chapters.buffers_parameters_and_plain_tensors.exercises import (
    check_positions_module,
)


class Positions(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.hold(table)

    def hold(self, table):
        self.register_buffer("table", table, persistent=False)

    def forward(self, words):
        return words + self.rows(words)

    def rows(self, words):
        return self.table[: words.shape[-2]]


def cut_for_good(self, words):
    self.table = self.table[: words.shape[-2]]
    return self.table


RIGHT = {
    check_positions_module: {
        "by assignment": variant(Positions, hold=assigned("table", partial(nn.Buffer, persistent=False))),
        "an embedding": variant(
            Positions,
            rows=lambda self, words: F.embedding(torch.arange(words.shape[1]).to(words.device), self.table),
        ),
        "with three axes": variant(
            Positions,
            hold=lambda self, table: self.register_buffer("own", table[None], persistent=False),
            rows=lambda self, words: self.own.narrow(1, 0, words.size(1)),
        ),
        "in a module inside": variant(
            Positions, hold=assigned("inside", Positions), rows=lambda self, words: self.inside.rows(words)
        ),
    }
}


NAMED = {
    check_positions_module: {
        "persistent": variant(Positions, hold=lambda self, table: self.register_buffer("table", table)),
        "frozen parameter": variant(
            Positions, hold=assigned("table", partial(nn.Parameter, requires_grad=False))
        ),
        "moved at each call": variant(
            Positions,
            hold=assigned("table", torch.clone),
            rows=lambda self, words: self.table.to(words)[: words.shape[1]],
        ),
        "length from the batch": variant(Positions, rows=lambda self, words: self.table[: words.shape[0]]),
        "last rows": variant(Positions, rows=lambda self, words: self.table[-words.shape[1] :]),
        "columns cut": variant(Positions, rows=lambda self, words: self.table[:, : words.shape[1]]),
        "cut for good": variant(Positions, rows=cut_for_good),
    }
}


UNKNOWN = {
    check_positions_module: {
        "one row off": variant(Positions, rows=lambda self, words: self.table.roll(1, 0)[: words.shape[1]]),
        "rounded": lambda table: Positions(table.round()),
        "in place": variant(Positions, forward=lambda self, words: words.add_(self.rows(words))),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
