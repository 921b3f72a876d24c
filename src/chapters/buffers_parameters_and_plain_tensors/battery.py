"""What the chapter asks of each way to hold a tensor, and what it weighs."""

import io
from collections.abc import Callable

import torch
from torch import Tensor, nn

from chapters.buffers_parameters_and_plain_tensors import drawings
from chapters.buffers_parameters_and_plain_tensors.charts import KINDS


class Answers(dict[str, dict[str, bool]]):
    """`Answers()` keeps, for each operation, whether it reaches each of the five ways to hold a tensor."""

    def add(self, operation: str, reached: Callable[[str], object]) -> None:
        """`answers.add("state_dict()", module.state_dict().__contains__)` keeps a row."""
        self[operation] = {kind: bool(reached(kind)) for kind in KINDS}

    def draw(self, *operations: str) -> None:
        """`answers.draw("state_dict()")` draws the rows of these operations."""
        drawings.answers({operation: self[operation] for operation in operations})


def model_with(table: Tensor, persistent: bool) -> nn.Module:
    """`model_with(table, persistent=True)` is a linear layer, 512 wide, beside a table in a buffer."""
    model = nn.Module()
    model.linear = nn.Linear(512, 512)
    model.register_buffer("table", table, persistent=persistent)
    return model


def megabytes(model: nn.Module) -> float:
    """`megabytes(model)` is the size of the file of its state_dict."""
    file = io.BytesIO()
    torch.save(model.state_dict(), file)
    return file.getbuffer().nbytes / 1e6
