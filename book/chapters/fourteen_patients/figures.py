"""The figure of rates: what ten times the rate does, with the gradient clipped and without."""

import torch

from bookkit.pictures.figures import Axis, curves_of_seeds
from chapters.fourteen_patients.patients import EVERY_VALIDATION, curves


def rates() -> None:
    """`rates()` draws validation losses at two rates, the second clipped and not."""
    shown = {
        "0.01": curves("healthy").validation,
        "0.1": curves("ten times").validation,
        "0.1, not clipped": curves("ten times, unclipped").validation,
    }
    looks = torch.arange(3, shown["0.01"].shape[1] + 1, 3)
    curves_of_seeds(
        looks * EVERY_VALIDATION,
        {name: list(rows[:, looks - 1].T) for name, rows in shown.items()},
        Axis("updates"),
        Axis("validation loss, nats a letter"),
        what="Validation loss by the rate",
        where="every 60 updates of 300",
        legend_above=True,
    )
