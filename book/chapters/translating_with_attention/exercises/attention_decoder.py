"""Write a decoder with attention, in Bahdanau's order, from an empty page."""

from typing import Any

import torch
from torch import Tensor

import attnlab
from attnlab.masks import padding
from attnlab.shapes import Mask
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from chapters.translating_with_attention.exercises.attention_decoder_mistakes import MISTAKES
from chapters.translating_with_attention.exercises.attention_decoder_parts import (
    _MADE_OF,
    _WIDTH,
    _WORDS,
    _Decoder,
)


def _decoded(work: Any, previous: Tensor, state: Tensor, memory: Tensor, mask: Mask) -> Any:
    """What the reader's class, with our numbers in what it is made of, makes of the inputs."""
    with torch.random.fork_rng(devices=[]):  # its first numbers are drawn, and replaced by ours
        decoder = work(_WORDS, _WIDTH)
        wanted = {name: make() for name, make in _MADE_OF.items()}
    for place, (name, ours) in enumerate(wanted.items()):
        theirs = getattr(decoder, name, None)
        shapes = {label: value.shape for label, value in ours.state_dict().items()}
        if not isinstance(theirs, type(ours)) or shapes != {
            label: value.shape for label, value in theirs.state_dict().items()
        }:
            came = "is missing" if theirs is None else f"is {theirs!r}"
            raise WrongTypeError(
                f"With words = {_WORDS} and width = {_WIDTH} the decoder needs "
                f"{name} = nn.{ours!r}; {name} {came}."
            )
        for number, parameter in enumerate(theirs.parameters()):
            (values,) = draw(200 + 10 * place + number, tuple(parameter.shape))
            parameter.data = 0.7 * values.to(memory)
    return decoder(previous, state, memory, mask)


def _sentences(label: str, seed: int, *lengths: int, **more: Any) -> Case:
    """Three steps for each: a loop over them is no fault, and is not remarked on."""
    count, longest = len(lengths), max(lengths)
    source = torch.Generator("cpu").manual_seed(seed)
    previous = torch.randint(_WORDS, (count, 3), generator=source, device="cpu")
    state, memory = draw(seed, (count, _WIDTH), (count, longest, _WIDTH), **more)
    return Case(label, previous, state, memory, padding(whole(*lengths)))


check_attention_decoder = Exercise(
    "attention_decoder",
    difficulty=4,
    minutes=40,
    takes=("previous", "state", "memory", "mask"),
    returns=("logits", "weights"),
    reference=_Decoder,
    ask=_decoded,
    cases=(
        _sentences("right for one sentence", 31, 3),
        _sentences("right for two sentences", 33, 4, 4),
        _sentences("right with padding", 34, 2, 5),
        _sentences("right in float64", 35, 4, 3, 2, dtype=torch.float64),
    ),
    mistakes=MISTAKES,
    without=(attnlab,),
)
