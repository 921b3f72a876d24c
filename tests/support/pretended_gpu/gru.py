"""A GRU's cell: on CUDA one operator computes all of it, which the CPU does not have."""

import torch


def forward(read, kept, state, read_bias=None, kept_bias=None):
    """The new state, and what the way back needs."""
    if read_bias is not None:
        read, kept = read + read_bias, kept + kept_bias
    (read_r, read_z, read_n), (kept_r, kept_z, kept_n) = read.chunk(3, 1), kept.chunk(3, 1)
    r, z = (read_r + kept_r).sigmoid(), (read_z + kept_z).sigmoid()
    n = (read_n + r * kept_n).tanh()
    return n + z * (state - n), torch.cat([r, z, n, state, kept_n], 1)


def backward(gradient, stored, has_bias):
    """The gradients of all that `forward` is given."""
    r, z, n, state, kept_n = stored.chunk(5, 1)
    of_z = gradient * (state - n) * z * (1 - z)
    of_n = gradient * (1 - z) * (1 - n * n)
    of_r = of_n * kept_n * r * (1 - r)
    read, kept = torch.cat([of_r, of_z, of_n], 1), torch.cat([of_r, of_z, of_n * r], 1)
    biases = (read.sum(0), kept.sum(0)) if has_bias else (None, None)
    return read, kept, gradient * z, *biases


FUSED = {"_thnn_fused_gru_cell": forward, "_thnn_fused_gru_cell_backward": backward}
