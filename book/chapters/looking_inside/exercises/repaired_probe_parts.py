"""What `check_repaired_probe` asks with, in parts that can be mistaken."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part


def _probed(
    states: Tensor,
    verbs: Tensor,
    labels: Tensor,
    controls: Tensor,
    *,
    places: Part = lambda verbs: verbs - 1,
    fitted: Part = lambda half: slice(None, half),
    tested: Part = lambda half: slice(half, None),
    line: Part = lambda known, of: torch.linalg.lstsq(known, of[:, None]).solution[:, 0],
    control: Part = lambda probe, controls, labels: probe(controls),
    share: Part = lambda found, of: (found * of > 0).double().mean().item(),
) -> tuple[float, float]:
    read = states[torch.arange(len(states), device="cpu"), places(verbs)]  # (N, width)
    half = len(states) // 2

    def probe(of: Tensor, by: Tensor | None = None, tested: Part = tested) -> float:
        some, others = fitted(half), tested(half)
        direction = line(read[some], (of if by is None else by)[some])
        return share(read[others] @ direction, of[others])  # type: ignore[no-any-return]

    return probe(labels), control(probe, controls, labels)
