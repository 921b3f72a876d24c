"""Find the induction head that a model uses."""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from attnlab.inside import heads_changed, watched, zeroed
from attnlab.runtime import generator
from attnlab.shapes import Lengths
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_answer, in_parts
from chapters.looking_inside.circuits import (
    INDUCTION,
    PREVIOUS,
    SAME_WORD,
    UNHEARD,
    WORDS,
    Circuit,
    Head,
)
from chapters.looking_inside.exercises.looks import _attentions, _looks, _repeated, _repeated_loss


def _costs(model: nn.Module, words: Tensor, periods: Lengths) -> Tensor:
    """(layers, heads): by how much the loss on the repeated part grows without each head."""
    whole_loss, rows = _repeated_loss(model, words, periods), []
    for attention in _attentions(model):
        row = []
        for head in range(attention.heads):
            with heads_changed(attention, zeroed(head)):
                row.append(_repeated_loss(model, words, periods) - whole_loss)
        rows.append(row)
    return torch.tensor(rows, device="cpu")


def _place(of_heads: Tensor) -> tuple[int, int]:
    """The layer and the head of the largest number."""
    layer, head = divmod(int(of_heads.argmax()), of_heads.shape[1])
    return layer, head


def _induction_head(
    model: nn.Module, words: Tensor, periods: Lengths, *, rank: Part = lambda costs: costs
) -> tuple[int, int]:
    """Of the heads that look there, the one whose removal costs most."""
    looks = _looks(model, words, periods)
    costs = _costs(model, words, periods)
    return _place(rank(costs).masked_fill(looks < looks.amax() / 2, -math.inf))


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


def _sentences(seed: int) -> tuple[Tensor, Tensor]:
    """Eight of LENGTH words, each repeated after its own period; within a period no word comes twice."""
    source = generator(seed)
    periods = torch.randint(6, 11, (8,), generator=source, device="cpu")
    return _repeated(periods, torch.rand(8, WORDS, generator=source, device="cpu").argsort(-1)), periods


def _circuit(label: str, seed: int, layers: int, *heads: tuple[int, int, Head]) -> Case:
    model = Circuit({(layer, head): what for layer, head, what in heads}, layers)
    return Case(label, model, *_sentences(seed))


# Each says half of who stood before, so that neither is missed.
_HALF = replace(PREVIOUS, loud=0.5), replace(PREVIOUS, sharp=1.0, loud=0.5)


# Where the period is 9, it looks two places after the earlier word.
_SEVEN_BACK = replace(PREVIOUS, writes="unread", back=7, sharp=5.0)


check_induction_head = Exercise(
    "induction_head",
    difficulty=3,
    minutes=20,
    takes=("model", "words", "periods"),
    returns=("layer", "head"),
    reference=_induction_head,
    cases=(
        _circuit(
            "right where one head looks",
            1,
            2,
            (0, 0, _HALF[0]),
            (0, 2, _HALF[1]),
            (0, 1, SAME_WORD),
            (1, 0, _SEVEN_BACK),
            (1, 3, INDUCTION),
        ),
        _circuit(
            "right where another looks as well",
            2,
            2,
            (0, 1, PREVIOUS),
            (0, 3, SAME_WORD),
            (1, 0, UNHEARD),
            (1, 1, _SEVEN_BACK),
            (1, 2, INDUCTION),
        ),
        # The one that looks most, the first that looks and the one that costs least are three.
        _circuit(
            "right in three layers",
            9,
            3,
            (0, 1, SAME_WORD),
            (0, 3, PREVIOUS),
            (1, 0, replace(UNHEARD, sharp=2.0)),
            (1, 2, INDUCTION),
            (2, 0, _SEVEN_BACK),
            (2, 1, replace(UNHEARD, sharp=2.5, loud=2.0)),
            (2, 3, UNHEARD),
        ),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
