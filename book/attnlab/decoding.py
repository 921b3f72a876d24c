"""Finding a likely row of words, where how likely a word is depends on all the words before it."""

from collections.abc import Callable
from typing import TypeAlias

import torch
from torch import Tensor

from attnlab import require

# The last word of each row (k,) and its state (k, …), to log-probabilities of the next word (k, words), and
# the next states.
Step: TypeAlias = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


@torch.no_grad()
def beam(
    step: Step, state: Tensor, start: int, end: int, width: int, longest: int = 60
) -> tuple[Tensor, Tensor]:
    """`words, total = beam(step, state, start=1, end=2, width=4)` goes on with the 4 likeliest rows.

    The state is of one row, (1, …). What comes back is the likeliest row that was found, (length,) with its
    <end>, and its log-probability. Where none ends within `longest` words, the likeliest is cut there.
    A width of 1 is greedy search, which takes the likeliest word at each step.

    >>> odds = torch.tensor([[0, 0, 0.6, 0.4], [0, 0, 0, 0], [0, 0.4, 0.3, 0.3], [0, 0.9, 0.1, 0]])
    >>> step = lambda words, state: (odds[words].log(), state)
    >>> for width in (1, 2):
    ...     words, total = beam(step, torch.zeros(1, 1), start=0, end=1, width=width)
    ...     print(words.tolist(), round(total.exp().item(), 2))
    [2, 1] 0.24
    [3, 1] 0.36
    """
    require.at_least(1, width=width, longest=longest)
    rows = torch.full((1, 1), start, device=state.device)
    totals = torch.zeros(1, device=state.device)
    best, best_total = rows[0], torch.tensor(-torch.inf, device=state.device)
    for _ in range(longest):
        logs, state = step(rows[:, -1], state)  # (k, words)
        sums = totals[:, None] + logs
        totals, places = sums.flatten().topk(min(width, sums.numel()))
        before, words = places // logs.shape[-1], places % logs.shape[-1]
        rows, state = torch.cat([rows[before], words[:, None]], dim=-1), state[before]
        ended = words == end
        if ended.any() and totals[ended][0] > best_total:  # the likeliest comes first
            best, best_total = rows[ended][0], totals[ended][0]
        # A row only becomes less likely: what is behind the best already stays there.
        going_on = ~ended & (totals > best_total)
        if not going_on.any():
            break
        rows, totals, state = rows[going_on], totals[going_on], state[going_on]
    else:
        if best_total == -torch.inf:
            best, best_total = rows[0], totals[0]
    return best[1:], best_total
