"""What is known of a tensor on its way to a softmax and from there: its origin, and how it was scaled."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

# What gives the same numbers in another shape, or some of them.
VIEWS = frozenset(
    [
        "transpose",
        "permute",
        "view",
        "reshape",
        "flatten",
        "unflatten",
        "contiguous",
        "to",
        "float",
        "double",
        "half",
        "bfloat16",
        "type",
        "type_as",
        "__getitem__",
        "chunk",
        "split",
        "unbind",
        "tensor_split",
        "expand",
        "expand_as",
        "repeat",
        "repeat_interleave",
        "unsqueeze",
        "squeeze",
        "__get__",
        "clone",
        "movedim",
        "swapaxes",
        "swapdims",
        "narrow",
        "select",
        "detach",
        "gather",
        "index_select",
    ]
)
# What is at 0 what it is given: a cap, or a bound. Products that went through one are as they were scaled.
CAPS = frozenset(["tanh", "max", "min", "maximum", "minimum", "clamp", "clamp_", "clip"])
# What gives each vector a size of its own, whatever its size was.
NORMALISED = frozenset(["normalize", "layer_norm", "rms_norm", "group_norm"])
TIMES = frozenset(["mul", "__mul__", "__rmul__", "multiply", "mul_", "__imul__"])
DIVIDED = frozenset(["div", "__truediv__", "__itruediv__", "true_divide", "divide", "div_"])
ADDED = frozenset(
    [
        "add",
        "__add__",
        "__radd__",
        "__iadd__",
        "add_",
        "sub",
        "__sub__",
        "masked_fill",
        "masked_fill_",
        "where",
        "nan_to_num",
    ]
)
PRODUCTS = frozenset(["matmul", "__matmul__", "__rmatmul__", "bmm", "einsum", "mm"])
SOFTENED = (
    frozenset(["dropout", "mul", "__mul__", "__rmul__", "masked_fill", "masked_fill_", "where", "nan_to_num"])
    | VIEWS
)
PROJECTIONS = frozenset(["linear", "addmm", "conv1d"])


@dataclass
class Look:
    """`look.weights` (…, n, m) of one attention, called by the layer `look.where`."""

    where: str
    scores: Tensor  # (…, n, m), before the softmax
    weights: Tensor  # (…, n, m), after it
    axis: int  # over which the softmax went, below 0
    factor: float | None  # by which the products of queries and keys were multiplied
    width: int | None  # numbers in a query
    ratio: float | None = None  # the size of queries over that of keys
    projected: bool = False  # queries and keys come from matrices of their own
    sums: Tensor | None = None  # of the weights, over those that are mixed with
    complete: bool = True  # as many weights are mixed with as were made
    sources: tuple[Tensor, ...] = ()  # what the matrices of queries and keys were given
    keys_shared: list[int] | None = None  # for each head the first that has the same keys
    values_shared: list[int] | None = None  # for each head the first that has the same values


@dataclass
class Mark:
    """`Mark(factor=0.5)` is what is known of a tensor: its origin, and by what it was multiplied since."""

    factor: float | None = 1.0
    projected: bool = False
    product: tuple[int, float, bool] | None = None  # width, ratio, projected
    look: Look | None = None
    sources: tuple[Tensor, ...] = ()  # what was projected
    keys_shared: list[int] | None = None


def parts(result: Any) -> Iterator[Any]:
    """`parts(result)` are the parts of a tuple or list, or the thing itself."""
    yield from result if isinstance(result, list | tuple) else [result]


def flat(args: Any) -> Iterator[Any]:
    """`flat(args)` are the arguments, and those in lists."""
    for part in args:
        yield from part if isinstance(part, list | tuple) else [part]


def number(args: Any) -> float | None:
    """`number(args)` multiplies a tensor: one of Python's, or a tensor of one that is not learned."""
    for part in args[:2]:
        if isinstance(part, int | float):
            return float(part)
    for part in args[1:2]:
        if isinstance(part, Tensor) and part.numel() == 1 and not part.requires_grad:
            return float(part)
    return None


def size_ratio(query: Tensor, key: Tensor) -> float:
    """`size_ratio(query, key)` is how large queries are beside keys; NaN where both are 0."""
    one, other = size(query), size(key)
    return math.nan if one == other == 0 else one / max(other, 1e-30)


def size(tensor: Tensor) -> float:
    """`size(tensor)` is the root of the mean square."""
    return float(tensor.detach().float().square().mean().sqrt())


def shared_heads(tensor: Tensor | None) -> list[int] | None:
    """`shared_heads(keys)` of (B, heads, …) has for each head the first that is equal to it: [0, 0, 2, 2]."""
    if tensor is None or tensor.dim() != 4:
        return None
    heads = [*tensor.detach().unbind(1)]
    return [
        next((number for number, other in enumerate(heads[:own]) if torch.equal(other, head)), own)
        for own, head in enumerate(heads)
    ]


def contracted(name: str, args: Any, one: Tensor, other: Tensor) -> tuple[int | None, int | None]:
    """`contracted("matmul", args, one, other)`: which axis of each is summed over; None where several are."""
    if name != "einsum":
        return -1, (-2 if other.dim() > 1 else -1)
    equation = args[0].replace(" ", "") if isinstance(args[0], str) else ""
    inputs, _, output = equation.partition("->")
    letters = inputs.split(",")
    shared = [
        letter for letter in letters[0] if letter in letters[-1] and letter not in output and letter != "."
    ]
    if len(letters) != 2 or len(shared) != 1:
        return None, None
    first, second = (word.index(shared[0]) - len(word) for word in letters)
    return first, second
