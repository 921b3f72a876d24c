"""Faults planted by line in the book's own models, for `checkup` to find.

All but those of `further.py` were written before the tool, by somebody else, and those before it was tried on
them: the tool must not be tuned to them, nor they to it. None may be taken away because it is hard to find.
"""

from typing import Any

import torch
from torch import Tensor, nn

from faulty_models import further, gpt, language_model, today, transformer, translators
from faulty_models.families import FAMILIES
from faulty_models.kinds import Fault, planted

FAULTS: list[Fault] = [
    *language_model.FAULTS,
    *gpt.FAULTS,
    *today.FAULTS,
    *transformer.FAULTS,
    *translators.FAULTS,
    *further.FAULTS,
]


def healthy(family: str, seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """`model, batch = healthy("GPT")` is the family's model as it should be, in training mode."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = FAMILIES[family].build()
    return model.train(), FAMILIES[family].batch()


def faulty(fault: Fault, seed: int = 0) -> tuple[nn.Module, tuple[Tensor, ...]]:
    """`model, batch = faulty(FAULTS[0])` is the same with the fault; it is called as `model(*batch)`."""
    with planted(fault.changes):
        return healthy(fault.model, seed)


def options(fault: Fault) -> dict[str, Any]:
    """`options(FAULTS[0])` is what else is told of the model: its kind, and which id is padding, if any."""
    return FAMILIES[fault.model].options
