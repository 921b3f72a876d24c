"""The mistakes that `check_induction_head` knows by name."""

import torch
from torch import Tensor, nn

from attnlab.inside import watched
from attnlab.shapes import Lengths
from bookkit.checking.mistakes import Mistakes, in_answer, in_parts
from chapters.looking_inside.exercises.induction_head_parts import _costs, _induction_head, _place
from chapters.looking_inside.exercises.looks import _looks


def _previous(model: nn.Module, words: Tensor, periods: Lengths) -> Tensor:
    with watched(model) as weights, torch.no_grad():
        model(words)
    return torch.stack([each.diagonal(-1, -2, -1).mean((0, -1)) for each in weights.values()])


def _first_of_none(model: nn.Module, words: Tensor, periods: Lengths) -> int:
    heads: list[int] = []
    return max(heads)


MISTAKES: Mistakes = (
    {
        "by its looks": (
            "In two of these models the head that looks most at what came next is heard by nobody: without "
            "it nothing changes. Remove heads that look right, one at a time, and see what that costs.",
            lambda *inputs: _place(_looks(*inputs)),
        ),
        "by its cost": (
            "This is the head whose removal costs most. Another can be needed as much: the one that says who "
            "stood before. Of the heads that *look* at what came next take the one that costs most.",
            lambda *inputs: _place(_costs(*inputs)),
        ),
        "the same word": (
            "This head looks at the earlier place with the same word. An induction head looks one place "
            "further, at what came next.",
            lambda model, words, periods: _place(_looks(model, words, periods, back=0)),
        ),
        "previous-token head": (
            "This is the head that looks at the place before: the other half of the circuit.",
            lambda *inputs: _place(_previous(*inputs)),
        ),
        "one place too late": (
            "This head always looks 7 places back: where the period is 9, two places after the earlier word. "
            "An induction head looks one place after it; and each sentence has a period of its own, so that "
            "one number for all of them finds the wrong head.",
            lambda model, words, periods: _place(_looks(model, words, periods, back=2)),
        ),
        "no head looks": (
            "No head looks where you ask, so that max() has nothing to choose from. Is your score the weight "
            "on what came next, from the second round on?",
            _first_of_none,
        ),
    }
    | in_parts(
        _induction_head,
        rank={
            "the first that looks": (
                "In each of these models it is the first head that looks right. Does the loss change at all "
                "when you remove one? heads_changed does nothing without `with`.",
                torch.zeros_like,
            ),
            "costs least": (
                "Of the heads that look right you take the one that is missed least. Take the one without "
                "which the loss of the *next* words grows most.",
                torch.neg,
            ),
        },
    )
    | in_answer(
        _induction_head,
        {
            "counted from 1": (
                "Layers and heads are counted from 0, and yours from 1.",
                lambda place: (place[0] + 1, place[1] + 1),
            ),
            "layer counted from 1": (
                "The layers are counted from 1. Here they begin with 0, as the heads do.",
                lambda place: (place[0] + 1, place[1]),
            ),
            "head first": (
                "Both are right, in the wrong order: return layer, head.",
                lambda place: place[::-1],
            ),
        },
    )
)
