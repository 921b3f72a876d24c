"""Comparing our layers with PyTorch's: the same weights in both, and how near their numbers must be."""

import torch
from tensors import TOLERANCE, random
from torch import Tensor, nn

# Where PyTorch keeps what our layers keep.
ENCODER_NAMES = {
    "self_attn": "self_attention",
    "norm1": "around_self_attention.norm",
    "linear1": "feed_forward.widen",
    "linear2": "feed_forward.narrow",
    "norm2": "around_feed_forward.norm",
}
DECODER_NAMES = ENCODER_NAMES | {
    "multihead_attn": "cross_attention",
    "norm2": "around_cross_attention.norm",
    "norm3": "around_feed_forward.norm",
}


def assert_same(ours: Tensor, theirs: Tensor) -> None:
    """Relative to the largest number compared: in whole layers rounding errors grow with that one."""
    size = max(1.0, theirs.abs().max().item()) if theirs.numel() else 1.0
    torch.testing.assert_close(ours, theirs, rtol=0, atol=TOLERANCE[theirs.dtype] * size)


def load_from_pytorch(ours: nn.Module, theirs: nn.Module, names: dict[str, str]) -> None:
    """Give both the same weights, none of them at the 0 or 1 that it starts from."""
    with torch.no_grad():
        for number, parameter in enumerate(theirs.parameters()):
            parameter.add_(0.2 * random(*parameter.shape, dtype=parameter.dtype, seed=number))
    for their_name, our_name in names.items():
        ours.get_submodule(our_name).load_state_dict(theirs.get_submodule(their_name).state_dict())
