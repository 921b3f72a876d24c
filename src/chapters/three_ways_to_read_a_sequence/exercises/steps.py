"""One step of a recurrence, in parts that can be mistaken."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor


def _step(
    from_word: Tensor,
    from_state: Tensor,
    state: Tensor,
    *,
    split: Callable[[Tensor], Sequence[Tensor]] = lambda sums: sums.chunk(3, -1),
    join: Callable[[Tensor, Tensor], Tensor] = torch.add,
    candidate: Callable[..., Tensor] = lambda reset, word, old: (word + reset.sigmoid() * old).tanh(),
    gate: Callable[[Tensor], Tensor] = torch.sigmoid,
    mix: Callable[..., Tensor] = lambda z, state, new: z * state + (1 - z) * new,
) -> Tensor:
    """The step in parts, each of which can be mistaken."""
    (reset, z, word), (reset_too, z_too, old) = split(from_word), split(from_state)
    return mix(gate(join(z, z_too)), state, candidate(join(reset, reset_too), word, old))
