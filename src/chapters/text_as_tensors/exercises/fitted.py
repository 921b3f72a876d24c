"""Pad or cut a text to a length, at the front or at the back."""

from functools import partial

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import whole
from bookkit.checking.mistakes import Mistakes, Part, in_answer
from chapters.text_as_tensors.exercises.floats import _FLOATS


def _fitted(ids: Tensor, length: int, front: bool, pad: int, cut: Part = bool, fill: Part = bool) -> Tensor:
    """`cut` and `fill` say of each whether it happens at the front."""
    kept = ids[max(0, len(ids) - length) :] if cut(front) else ids[:length]
    filler = whole(*[pad] * (length - len(kept)))
    return torch.cat([filler, kept] if fill(front) else [kept, filler])


def _negative_start(ids: Tensor, length: int, front: bool, pad: int) -> Tensor:
    return _fitted(ids[len(ids) - length :] if front else ids[:length], length, front, pad)


def _at_another_end(where: str, end: Part) -> Mistakes:
    return {
        f"cut at {where}": (
            f"You cut at {where}. The padding is where it belongs, and cutting goes with it.",
            partial(_fitted, cut=end),
        ),
        f"padded at {where}": (f"The cutting is right, but you pad at {where}.", partial(_fitted, fill=end)),
        f"both at {where}": (
            f"You pad and cut at {where}. front=True puts padding first, and cuts the first tokens.",
            partial(_fitted, cut=end, fill=end),
        ),
    }


check_fitted = Exercise(
    "fitted",
    difficulty=2,
    minutes=10,
    takes=("ids", "length", "front", "pad"),
    returns=("row",),
    reference=_fitted,
    cases=(
        Case("right for a short text, at the back", whole(7, 9, 8), 5, False, 0),
        Case("right for a short text, at the front", whole(7, 9, 8), 5, True, 0),
        Case("right for a long text, at the back", whole(4, 5, 9, 6, 8, 7), 4, False, 0),
        Case("right for a long text, at the front", whole(4, 5, 9, 6, 8, 7), 4, True, 0),
        Case("right for a text that fits", whole(2, 4, 3), 3, True, 0),
        Case("right for a text that fits", whole(2, 4, 3), 3, False, 0),
        Case("right for another padding number", whole(8, 7), 4, True, 1),
        Case("right for a much longer row", whole(8, 7), 9, True, 1),
    ),
    mistakes=_at_another_end("the back, whatever `front` says", lambda front: False)
    | _at_another_end("the front, whatever `front` says", lambda front: True)
    | _at_another_end("the wrong end", lambda front: not front)
    | in_answer(_fitted, _FLOATS)
    | {
        "a negative start": (
            "Right, but for a short text at the front: there len(ids) - length is negative, and Python "
            "counts a negative start from the end. max(0, …) stops it at the first token.",
            _negative_start,
        ),
        "not cut": (
            "A text that is too long comes back as it was. What is left to do is the cutting.",
            lambda ids, length, front, pad: _fitted(ids, max(length, len(ids)), front, pad),
        ),
        "not padded": (
            "A text that is too short comes back as it was. What is left to do is the padding.",
            lambda ids, length, front, pad: _fitted(ids, min(length, len(ids)), front, pad),
        ),
        "0 for every padding": (
            "You pad with 0. Take the number that was given: in a vocabulary of torchtext it is 1.",
            lambda ids, length, front, pad: _fitted(ids, length, front, 0),
        ),
        "one too many": (
            "Each row is one number too long.",
            lambda ids, length, front, pad: _fitted(ids, length + 1, front, pad),
        ),
        "turned round": (
            "The tokens come out in the reverse order.",
            lambda *inputs: _fitted(*inputs).flip(0),
        ),
        "not turned back": (
            "With front=True the row comes out backwards: turned round once, and not once more.",
            lambda ids, length, front, pad: _fitted(ids.flip(0) if front else ids, length, False, pad),
        ),
        "nothing but padding": (
            "This is padding throughout: no token has got in.",
            lambda ids, length, front, pad: whole(*[pad] * length),
        ),
    },
)
