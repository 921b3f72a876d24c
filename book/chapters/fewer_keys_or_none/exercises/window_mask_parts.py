"""What `check_window_mask` asks with, in parts that can be mistaken."""

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part


def _window_mask(
    n: int,
    width: int,
    sinks: int,
    *,
    past: Part = lambda query, key: key <= query,
    near: Part = lambda query, key, width, sinks: query - key < width,
    first: Part = lambda key, sinks, n: key < sinks,
    seen: Part = lambda past, near, first: past & (near | first),
) -> Tensor:
    places = torch.arange(n, device="cpu")
    query, key = places[:, None], places[None]  # (n, 1), (1, n)
    mask: Tensor = seen(past(query, key), near(query, key, width, sinks), first(key, sinks, n))
    return mask  # (n, n)
