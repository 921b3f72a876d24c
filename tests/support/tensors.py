"""What tests of attnlab share: tensors that are drawn, and how near two results must be."""

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

quick = settings(deadline=None, derandomize=True, max_examples=25)
even_widths = st.integers(1, 32).map(lambda pairs: 2 * pairs)
bases = st.sampled_from([10.0, 1000.0, 10000.0, 500000.0])

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
META = torch.device("meta")
HALVES = [torch.float16, torch.bfloat16]
ALL_DTYPES = [torch.float64, torch.float32, *HALVES]
# The goal. All numbers compared are of order 1, so that it is relative and absolute at once.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
with_and_without_weights = pytest.mark.parametrize("need_weights", [True, False])


def random(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def several(*shapes: tuple[int, ...], dtype: torch.dtype = torch.float64, seed: int = 0) -> list[Tensor]:
    return [random(*shape, dtype=dtype, seed=seed + number) for number, shape in enumerate(shapes)]


def random_mask(*shape: int, seed: int = 0) -> Tensor:
    """About half is shown; the first query sees nothing."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[..., 0, :] = False
    return mask


def learnable(*tensors: Tensor) -> list[Tensor]:
    return [x.clone().requires_grad_() for x in tensors]


def assert_same(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=TOLERANCE[theirs.dtype])


def assert_same_gradients(
    ours: Tensor, theirs: Tensor, our_inputs: list[Tensor], their_inputs: list[Tensor] | None = None
) -> None:
    backward = random(*ours.shape, dtype=ours.dtype, seed=9)
    our_gradients = torch.autograd.grad(ours, our_inputs, backward)
    their_gradients = torch.autograd.grad(theirs, their_inputs or our_inputs, backward, retain_graph=True)
    for our_gradient, their_gradient in zip(our_gradients, their_gradients, strict=True):
        assert_same(our_gradient, their_gradient)
