"""What a training keeps: its losses, update by update and epoch by epoch."""

import math
from dataclasses import dataclass, field

from torch import Tensor


@dataclass
class History:
    """`history.training_losses[-1]` is the last epoch's loss; `train` returns a History.

    iteration_losses: one per weight update, each taken just before it.
    training_losses: one per epoch, the mean of its iterations' losses, each counted by its examples.
    validation_losses, validation_metrics: one per epoch, taken after it.
    notes: further measurements, each under a name; `train` itself adds none.
    """

    iteration_losses: list[float] = field(default_factory=list)
    training_losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    validation_metrics: list[float] = field(default_factory=list)
    notes: dict[str, Tensor] = field(default_factory=dict)

    def add_iteration(self, loss: float) -> None:
        """`history.add_iteration(0.7)` keeps the loss of a batch, or raises where it is no finite number."""
        self.iteration_losses.append(loss)
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"the loss is {loss} at iteration {self.iterations}, in epoch {self.epochs + 1}"
            )

    def add_validation(self, loss: float, *metrics: float) -> None:
        """`history.add_validation(0.7, 0.9)` keeps what was measured after an epoch, or raises likewise."""
        self.validation_losses.append(loss)
        self.validation_metrics += metrics
        if not math.isfinite(loss):
            raise FloatingPointError(f"the validation loss is {loss} after epoch {self.epochs}")

    @property
    def iterations(self) -> int:
        """`History(iteration_losses=[0.9, 0.8]).iterations` is 2, the weight updates that were made."""
        return len(self.iteration_losses)

    @property
    def epochs(self) -> int:
        """`History(training_losses=[0.9, 0.8]).epochs` is 2, the passes over the data that were made."""
        return len(self.training_losses)

    @property
    def best_epoch(self) -> int:
        """`History(validation_losses=[0.9, 0.4, 0.6]).best_epoch` is 2: the first epoch is number 1."""
        if not self.validation_losses:
            raise ValueError("best_epoch needs validation_losses, and there are none")
        return self.validation_losses.index(min(self.validation_losses)) + 1
