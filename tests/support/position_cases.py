"""What tests of positions share: a slow table, and rows as they are printed."""

import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

quick = settings(deadline=None, derandomize=True, max_examples=25)


even_widths = st.integers(1, 32).map(lambda pairs: 2 * pairs)


bases = st.sampled_from([10.0, 1000.0, 10000.0, 500000.0])


def random(*shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)
