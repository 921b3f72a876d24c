"""Weights of models that take longer to train than a chapter may: stored beside the book, loaded by chapters.

`make models` trains them by their recipes, src/chapters/*/models.py, and stores them here.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from bookkit.registry import PACKAGES

STORED = PACKAGES / "models"
# Where to look instead: a fresh training is tried in a folder of its own.
FOLDER_VARIABLE = "ATTNLAB_MODELS"
LOSSES = "training losses"
NOTE = "note: "  # before the name of what else was noted, which no weight's name begins with
Notes = Mapping[str, Tensor | Sequence[float]]


def file_of(name: str, folder: Path | None = None) -> Path:
    """`file_of("translating_with_attention/dot")` is where these weights are stored."""
    return (folder or Path(os.environ.get(FOLDER_VARIABLE) or STORED)) / f"{name}.npz"


def store(
    name: str, model: nn.Module, losses: list[float], folder: Path | None = None, notes: Notes | None = None
) -> Path:
    """`store("translating_with_attention/dot", model, history.training_losses)` writes them, and says where.

    The weights are stored in 16 bits, in which they take half the room, and round to 3 digits. So are notes,
    numbers that were taken down during the training, each under its name.
    """
    arrays = {label: tensor.detach().cpu().half().numpy() for label, tensor in model.state_dict().items()}
    arrays |= {
        NOTE + label: torch.as_tensor(numbers).half().numpy() for label, numbers in (notes or {}).items()
    }
    for label, array in arrays.items():
        if not np.isfinite(array).all():
            raise ValueError(f"model's {label} must be finite and fit into 16 bits, and does not")
    file = file_of(name, folder)
    file.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(file, allow_pickle=False, **arrays, **{LOSSES: np.array(losses)})
    return file


def load(name: str, model: nn.Module, folder: Path | None = None) -> list[float]:
    """`losses = load("translating_with_attention/dot", model)` gives the model these weights, in eval mode.

    What comes back are the losses of its training, one for each epoch.
    """
    arrays = _stored(name, folder)
    losses: list[float] = arrays.pop(LOSSES).tolist()
    state = {label: torch.from_numpy(array) for label, array in arrays.items() if not label.startswith(NOTE)}
    model.load_state_dict(state)
    model.eval()
    return losses


def notes(name: str, folder: Path | None = None) -> dict[str, Tensor]:
    """`notes("looking_inside/two-layers")["loss"]` are numbers that were taken down during the training."""
    return {
        label.removeprefix(NOTE): torch.from_numpy(array).float()
        for label, array in _stored(name, folder).items()
        if label.startswith(NOTE)
    }


def _stored(name: str, folder: Path | None) -> dict[str, npt.NDArray[np.floating]]:
    file = file_of(name, folder)
    if not file.exists():
        raise FileNotFoundError(f"there are no weights in {file}: `make models` trains and stores them")
    with np.load(file, allow_pickle=False) as stored:
        return dict(stored)
