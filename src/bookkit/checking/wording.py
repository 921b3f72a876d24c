"""How the checks put things: numbers, tensors, errors and sentences, the same on every machine."""

import re
import textwrap
import traceback
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from torch import Tensor, float32, int64, nn

# Where classes are made for checks, under names that no chapter shows.
OURS = ("bookkit", "chapters")
# The most numbers that a message writes out; of a larger tensor it gives the shape.
WRITTEN_OUT = 16


def as_text(value: Tensor) -> str:
    """`as_text(tensor)` is a list that fits in a message.

    >>> import torch
    >>> as_text(torch.tensor([[0.5, 1 / 3]]))
    '[[0.5, 0.3333]]'
    >>> as_text(torch.tensor([4, 1]))
    '[4, 1]'
    """

    def nested(numbers: Any) -> str:
        if isinstance(numbers, list):
            return "[" + ", ".join(map(nested, numbers)) + "]"
        if isinstance(numbers, int):
            return str(numbers)
        # Rounded twice, and tiny numbers to 0: so noise can't show, not even beside a tie (0.125).
        return str(0.0 if abs(numbers) < 1e-6 else float(f"{float(f'{numbers:.6g}'):.4g}"))

    return nested(value.tolist())


def rendered(name: str, value: Any) -> str:
    """`rendered(name, value)` is an input as the reader would type it, or its shape where that is long.

    >>> rendered("d_k", 4)
    'd_k = 4'
    """
    if isinstance(value, nn.Module):
        return f"{name} = {_described(value)}"
    if not isinstance(value, Tensor):
        return f"{name} = {value}"
    if value.numel() > WRITTEN_OUT:
        return f"{name} of shape {tuple(value.shape)}, {dtype(value)}"
    kind = "" if value.dtype in (float32, int64) else f", dtype={value.dtype}"
    return f"{name} = torch.tensor({as_text(value)}{kind})"


def _described(module: nn.Module) -> str:
    """In its own words, where it has some. Else what kind it is, by a name that the reader may know."""
    known: Any = next(kind for kind in type(module).__mro__ if kind.__module__.partition(".")[0] not in OURS)
    if type(module).__repr__ is not known.__repr__:
        return repr(module)
    return "a module made for this check" if known is nn.Module else f"{known.__name__}(…)"


def dtype(tensor: Tensor) -> str:
    """`dtype(torch.ones(1))` is 'float32'."""
    return str(tensor.dtype).removeprefix("torch.")


def joined(names: Iterable[str]) -> str:
    """`joined(names)` lists them as a sentence does.

    >>> joined(["query", "key", "value"])
    'query, key and value'
    """
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def arrow(sentence: str) -> tuple[str, ...]:
    """`arrow("No.")` is ('→ No.',): the sentence after an arrow, in lines that fit a narrow page."""
    return tuple(
        textwrap.wrap(sentence, 88, initial_indent="→ ", subsequent_indent="  ", break_on_hyphens=False)
    )


def raised(error: BaseException) -> str:
    """`raised(error)` says what an error says, in one line.

    >>> raised(ValueError("too short"))
    'It raises ValueError: too short'
    """
    if isinstance(error, RecursionError):
        # Its own message depends on how deep the caller was.
        return "It calls itself without end (RecursionError)."
    try:
        message = str(error).strip().partition("\n")[0]
    except BaseException:  # an error may be the reader's own class
        message = ""
    # Addresses change from run to run.
    message = re.sub("0x[0-9a-fA-F]+", "0x…", message)
    return f"It raises {type(error).__name__}: {message}".rstrip(": ")


def line_of(error: BaseException, function: object) -> tuple[str, ...]:
    """`line_of(error, function)` is the last line of the function's own file that the error came through.

    Of a module's class, the file is that of its forward.
    """
    if issubclass(type(function), type):
        function = getattr(function, "forward", function)
    # Where endless recursion breaks off, or an interruption strikes, is chance.
    by_chance = isinstance(error, RecursionError) or not isinstance(error, Exception)
    if by_chance or type(function) is not FunctionType:
        return ()
    steps = traceback.extract_tb(error.__traceback__)
    lines = [step.line for step in steps if step.filename == function.__code__.co_filename]
    return (f"in the line: {lines[-1]}",) if lines and lines[-1] else ()
