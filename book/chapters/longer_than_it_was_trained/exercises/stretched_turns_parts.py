"""What `check_stretched_turns` asks with, in parts that can be mistaken."""

import math

from torch import Tensor

from bookkit.checking.mistakes import Part


def _turns(frequencies: Tensor, longest: int) -> Tensor:
    return longest * frequencies / (2 * math.pi)


def _mixed(
    frequencies: Tensor,
    longest: int,
    factor: float,
    fast: float,
    slow: float,
    *,
    turned: Part = _turns,
    ramp: Part = lambda turns, fast, slow: (turns - slow) / (fast - slow),
    ended: Part = lambda share: share.clamp(0, 1),
    slower: Part = lambda frequencies, factor: frequencies / factor,
    joined: Part = lambda stays, frequencies, slower: stays * frequencies + (1 - stays) * slower,
) -> Tensor:
    """Each pair's frequency, (pairs,): a share that stays, by how often it turns within longest."""
    stays = ended(ramp(turned(frequencies, longest), fast, slow))
    mixed: Tensor = joined(stays, frequencies, slower(frequencies, factor))
    return mixed
