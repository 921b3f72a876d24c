"""The exercises of “Epochs, batches, iterations”."""

from chapters.epochs_batches_iterations.exercises.accumulated_gradient import check_accumulated_gradient
from chapters.epochs_batches_iterations.exercises.early_stopping import check_early_stopping
from chapters.epochs_batches_iterations.exercises.epoch_iterations import check_epoch_iterations
from chapters.epochs_batches_iterations.exercises.epoch_loss import check_epoch_loss
from chapters.epochs_batches_iterations.exercises.larger_rate import check_larger_rate

__all__ = [
    "EXERCISES",
    "check_accumulated_gradient",
    "check_early_stopping",
    "check_epoch_iterations",
    "check_epoch_loss",
    "check_larger_rate",
]

# In the order of the chapter.
EXERCISES = (
    check_epoch_iterations,
    check_epoch_loss,
    check_accumulated_gradient,
    check_early_stopping,
    check_larger_rate,
)
