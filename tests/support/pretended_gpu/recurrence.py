"""The cells of a GRU and an LSTM: on CUDA one operator computes all of one, which the CPU does not have."""

import torch


def gru_forward(read, kept, state, read_bias=None, kept_bias=None):
    """The new state, and what the way back needs."""
    if read_bias is not None:
        read, kept = read + read_bias, kept + kept_bias
    (read_r, read_z, read_n), (kept_r, kept_z, kept_n) = read.chunk(3, 1), kept.chunk(3, 1)
    r, z = (read_r + kept_r).sigmoid(), (read_z + kept_z).sigmoid()
    n = (read_n + r * kept_n).tanh()
    return n + z * (state - n), torch.cat([r, z, n, state, kept_n], 1)


def gru_backward(gradient, stored, has_bias):
    """The gradients of all that `gru_forward` is given."""
    r, z, n, state, kept_n = stored.chunk(5, 1)
    of_z = gradient * (state - n) * z * (1 - z)
    of_n = gradient * (1 - z) * (1 - n * n)
    of_r = of_n * kept_n * r * (1 - r)
    read, kept = torch.cat([of_r, of_z, of_n], 1), torch.cat([of_r, of_z, of_n * r], 1)
    biases = (read.sum(0), kept.sum(0)) if has_bias else (None, None)
    return read, kept, gradient * z, *biases


def lstm_forward(read, kept, memory, read_bias=None, kept_bias=None):
    """The new state, the new memory, and what the way back needs."""
    if read_bias is not None:
        read, kept = read + read_bias, kept + kept_bias
    i, f, n, o = (read + kept).chunk(4, 1)
    i, f, n, o = i.sigmoid(), f.sigmoid(), n.tanh(), o.sigmoid()
    remembered = f * memory + i * n
    return o * remembered.tanh(), remembered, torch.cat([i, f, n, o], 1)


def lstm_backward(of_state, of_memory, memory, remembered, stored, has_bias):
    """The gradients of the gates, which both readings share, of the memory, and of the bias."""
    i, f, n, o = stored.chunk(4, 1)
    told = remembered.tanh()
    of_state = torch.zeros_like(told) if of_state is None else of_state
    of_remembered = of_state * o * (1 - told * told)
    if of_memory is not None:
        of_remembered = of_remembered + of_memory
    of_i, of_f = of_remembered * n * i * (1 - i), of_remembered * memory * f * (1 - f)
    of_n, of_o = of_remembered * i * (1 - n * n), of_state * told * o * (1 - o)
    gates = torch.cat([of_i, of_f, of_n, of_o], 1)
    return gates, of_remembered * f, gates.sum(0) if has_bias else None


FUSED = {
    "_thnn_fused_gru_cell": gru_forward,
    "_thnn_fused_gru_cell_backward": gru_backward,
    "_thnn_fused_lstm_cell": lstm_forward,
    "_thnn_fused_lstm_cell_backward_impl": lstm_backward,
}
