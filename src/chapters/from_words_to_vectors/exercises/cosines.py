"""The cosine of each row of a table with each: what two exercises compare words by."""

from torch import Tensor
from torch.nn.functional import normalize


def _cosines(vectors: Tensor) -> Tensor:
    unit = normalize(vectors, dim=-1)
    return unit @ unit.mT
