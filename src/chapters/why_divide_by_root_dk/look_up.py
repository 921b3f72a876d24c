"""What the training of look-ups needs besides its loop."""

import torch
from torch import Tensor


def share_right(model: torch.nn.Module, value: Tensor) -> Tensor:
    """`share_right(model, value)`: of values (seeds, batch, 16, 8) each model fetches: (divisors, seeds)."""
    with torch.no_grad():
        right: Tensor = model(value).argmax(-1) == value.argmax(-1)
    return right.double().mean((-2, -1)).cpu()


def same_on_every_machine(model: torch.nn.Module) -> None:
    """`same_on_every_machine(model)` keeps five digits of all that it has learned.

    Frozen models magnify the 16th digit, in which machines differ. To learn, no model needs it.
    """
    for parameter in model.parameters():
        parameter.data.mul_(2**16).round_().div_(2**16)
