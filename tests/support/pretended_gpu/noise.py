"""The last digits, in which a GPU differs from a CPU: the same whenever the same is computed again."""

import torch
from torch import Tensor

# Which of an operator's inputs holds the terms that it adds up.
SUMS = {
    "_index_put_impl": 2, "addmm": 1, "addmv": 1, "baddbmm": 1, "bmm": 0, "convolution": 0, "dot": 0,
    "embedding_dense_backward": 0, "index_add": 3, "index_put": 2, "mean": 0, "mm": 0, "mv": 0,
    "scatter_add": 3, "sum": 0,
}  # fmt: skip
# What a GPU rounds elsewhere, or computes by another formula.
ROUNDED = {
    "_foreach_addcdiv", "_foreach_addcmul", "_foreach_lerp", "_foreach_pow", "_fused_adam",
    "_fused_adamw", "_linalg_solve_ex", "_log_softmax", "_log_softmax_backward_data", "_softmax",
    "_softmax_backward_data", "addcdiv", "addcmul", "cos", "erf", "exp", "gelu", "gelu_backward",
    "lerp", "linalg_vector_norm", "log", "log1p", "logsumexp", "native_layer_norm",
    "native_layer_norm_backward", "nll_loss_forward", "pow", "rsqrt", "sigmoid", "sigmoid_backward",
    "sin", "std", "tanh", "tanh_backward", "var",
}  # fmt: skip
RELATIVE = {torch.float32: 1e-6, torch.float64: 1e-15}  # several units of the last digit
LENGTH = 2**20

SOURCE = torch.Generator().manual_seed(1)
OFFS = torch.empty(2 * LENGTH, dtype=torch.float64).uniform_(-1, 1, generator=SOURCE)
FACTORS = {dtype: (1 + relative * OFFS).to(dtype) for dtype, relative in RELATIVE.items()}  # about 1


def in_terms(place, held):
    """Terms each a little off: their sum is then off like one that was added up in another order."""
    terms = held[place]
    if terms.dtype not in FACTORS:
        return held
    total = terms.sum().item()
    # The sum of whole numbers is the same in any order.
    if total.is_integer() and all(map(is_whole, held)):
        return held
    return [*held[:place], terms * factors(terms, total), *held[place + 1 :]]


def is_whole(value):
    return not isinstance(value, Tensor) or not value.is_floating_point() or not value.frac().any()


def in_result(result):
    for tensor in result if isinstance(result, (list, tuple)) else [result]:
        # A backward gives None in the place of a gradient that nobody asked for.
        if tensor is not None and tensor.dtype in FACTORS:
            tensor.mul_(factors(tensor, tensor.sum().item()))


def factors(tensor, total):
    """A stretch of the table for these numbers: which one, their sum says."""
    start = hash(total) % LENGTH if total == total else 0  # NaN has another hash each time
    table, end = FACTORS[tensor.dtype], start + tensor.numel()
    if end > len(table):
        table = table.repeat(end // len(table) + 1)
    return table[start:end].view(tensor.shape)
