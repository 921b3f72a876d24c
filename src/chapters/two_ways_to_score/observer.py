"""Counts what a calculation does, while it does it."""

from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Observer(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """`with Observer() as seen:` counts products, calls of tanh, and the numbers in the largest tensor."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.products = self.tanhs = self.largest = 0

    def __torch_dispatch__(self, operation: Any, types: Any, inputs: Any = (), options: Any = None) -> Any:
        result = operation(*inputs, **(options or {}))
        name = operation.__name__.split(".")[0]
        if name in ("mm", "bmm", "mv"):  # each number on the left meets a row on the right
            columns = inputs[1].shape[-1] if inputs[1].dim() > 1 else 1
            self.products += inputs[0].numel() * columns
        if name in ("tanh", "tanh_"):
            self.tanhs += result.numel()
        for each in tree_leaves(result):  # the storage: an expanded view holds little
            size = each.untyped_storage().nbytes() // each.itemsize
            self.largest = max(self.largest, size)
        return result
