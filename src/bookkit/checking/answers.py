"""Answers: reading whatever came back from somebody's code, and comparing it with what is right."""

import inspect
import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from bookkit.checking.wording import WRITTEN_OUT, as_text, dtype, joined

# Of the largest number in the answer. Correct answers that compute in another order differ by about 1e-6 of
# it in float32; the mildest mistake in the catalogue, by more than 1e-2.
TOLERANCE = 1e-4
# Of a tensor that has another shape than the right one and more numbers than this, only the shape is kept.
LARGE = 1_000_000
# More numbers than any question goes on with. `expand` makes as many without a copy, and a sum takes minutes.
ENORMOUS = 10 * LARGE

Answer: TypeAlias = tuple[Tensor, ...]  # one tensor for each name in an exercise's `returns`


class WrongTypeError(Exception):
    """The answer can't be compared with the right one; the message says why."""


class UnwrittenError(Exception):
    """The answer is still a stub's `...`."""


def right_answer(answer: object) -> Answer:
    """`right_answer(2.0)` is the answer of an exercise's own reference, which can be trusted, as tensors."""
    parts = answer if isinstance(answer, tuple) else (answer,)
    return tuple(part if isinstance(part, Tensor) else _number(part) for part in parts)


def returned(answer: Any) -> Any:
    """`found = returned(work(model))` is what came back, for a question that goes on with it.

    Where that is nothing, still a stub's `...`, or enormous, the attempt ends here, and the report says so.
    """
    if answer is ...:
        raise UnwrittenError
    if answer is None:
        raise WrongTypeError("It returns None. Is there a `return` at its end?")
    if isinstance(answer, Tensor) and answer.numel() > ENORMOUS:
        raise WrongTypeError(f"It returns a tensor of shape {tuple(answer.shape)}: far too many numbers.")
    return answer


def read(answer: object, right: Answer, names: Sequence[str]) -> Answer:
    """`read(my_answer, right, ("output", "weights"))` are tensors of our own, like the right ones."""
    parts = answer if isinstance(answer, (tuple, list)) and len(right) > 1 else (answer,)
    if any(part is ... for part in parts):
        raise UnwrittenError
    if answer is None:
        returned(answer)
    if inspect.iscoroutine(answer):
        answer.close()  # else Python warns, some time later, that nobody awaited it
    expected = f"{len(right)} results, {joined(names)}, are expected"
    if len(parts) != len(right):
        raise WrongTypeError(f"It returns {type(answer).__name__} where {expected}.")
    # A single one of the results, as a list that happens to be as long.
    if len(parts) > 1 and all(isinstance(part, Real) for part in parts) and any(map(Tensor.dim, right)):
        raise WrongTypeError(f"It returns a {type(answer).__name__} of numbers where {expected}.")
    return tuple(_read_part(part, wanted) for part, wanted in zip(parts, right, strict=True))


def _read_part(part: object, right: Tensor) -> Tensor:
    if right.dim() == 0:
        if isinstance(part, Tensor) and part.numel() == 1:
            part = part.item()
        if isinstance(part, bool) or not isinstance(part, Real):
            raise WrongTypeError(f"It returns {type(part).__name__} where a number is expected.")
        return _number(part) if right.is_floating_point() else _whole_if_possible(_number(part))
    # Subclasses of Tensor may redefine anything, even what a comparison means.
    if not (type(part) is Tensor or type(part) is nn.Parameter):
        raise WrongTypeError(f"It returns {type(part).__name__} where a tensor is expected.")
    if part.layout is not torch.strided or part.device != right.device:
        raise WrongTypeError("It returns a tensor of another kind, or on another device, than its inputs.")
    if _kind(part) != _kind(right):
        raise WrongTypeError(f"It returns {dtype(part)} numbers where {dtype(right)} ones are expected.")
    if part.shape != right.shape and part.numel() > LARGE:
        return torch.empty(part.shape, dtype=part.dtype, device="meta")
    return part.detach().clone()


def _number(value: Real) -> Tensor:
    """A number as a tensor without axes: whole ones stay whole."""
    if isinstance(value, Integral) and -(2**63) <= int(value) < 2**63:
        return torch.tensor(int(value), dtype=torch.int64, device="cpu")
    return torch.tensor(float(value), dtype=torch.float64, device="cpu")


def _whole_if_possible(number: Tensor) -> Tensor:
    """4.0 bytes are 4 bytes, and half a byte stays half a byte."""
    is_whole = number.is_floating_point() and number == number.trunc() and number.abs() < 2**63
    return number.long() if is_whole else number


def _kind(tensor: Tensor) -> str:
    if tensor.is_floating_point() or tensor.is_complex():
        return "complex" if tensor.is_complex() else "floating-point"
    return "true or false" if tensor.dtype is torch.bool else "whole"


def close(got: Tensor, expected: Tensor) -> bool:
    """`close(got, expected)` allows for rounding; whole numbers must be equal."""
    if got.shape != expected.shape or got.is_meta or expected.is_meta:
        return False
    if not expected.is_floating_point() or expected.numel() == 0:
        return bool((got == expected).all())
    got, expected = got.double(), expected.double()
    # The inputs are of about unit size: an answer far below that is zero, but for rounding.
    scale = max(0.01, expected.nan_to_num(nan=0, posinf=0, neginf=0).abs().max().item())
    return torch.allclose(got, expected, rtol=0, atol=TOLERANCE * scale, equal_nan=True)


def all_close(got: Answer, expected: Answer) -> bool:
    """`all_close(answer, right)` compares part by part."""
    return len(got) == len(expected) and all(map(close, got, expected))


def other_dtype(got: Tensor, expected: Tensor) -> bool:
    """`other_dtype(half, single)` is True. Precision counts; any whole numbers will do for whole numbers."""
    return expected.is_floating_point() and expected.dim() > 0 and got.dtype != expected.dtype


def difference(name: str, got: Tensor, expected: Tensor) -> tuple[str, ...]:
    """`difference("scores", got, expected)` says in lines how they differ; nothing where they are close."""
    if got.shape != expected.shape:
        return (f"{name} has shape {tuple(got.shape)}, expected {tuple(expected.shape)}",)
    if close(got, expected):
        return ()
    if got.dim() == 0:
        return (f"{name}: expected {as_text(expected)}, got {as_text(got)}",)
    truths = expected.dtype is torch.bool  # of which PyTorch takes no differences
    gaps = (got ^ expected).double() if truths else (got - expected).abs()
    gaps = gaps.nan_to_num(nan=math.inf, posinf=math.inf)
    largest = gaps.max().item()
    # Among gaps that are equal but for rounding the first, so that every machine points at the same place.
    here = tuple((gaps >= largest * (1 - TOLERANCE)).nonzero()[0].tolist())
    lines = []
    if got.numel() <= WRITTEN_OUT:
        lines += [f"expected {name} = {as_text(expected)}", f"     got {name} = {as_text(got)}"]
    gap = f"largest difference {as_text(gaps[here])}" if math.isfinite(largest) else "not a finite number"
    gap = "first difference" if truths else gap
    return *lines, f"{gap}, at {list(here)}: expected {as_text(expected[here])}, got {as_text(got[here])}"
