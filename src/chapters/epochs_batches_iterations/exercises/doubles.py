"""Numbers as tensors in double precision, written out: what two exercises are asked with."""

import torch
from torch import Tensor


def _double(*numbers: float) -> Tensor:
    return torch.tensor(numbers, dtype=torch.float64, device="cpu")
