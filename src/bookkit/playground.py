"""Trained models that a reader can open in the page: their numbers for a script, and a picture of each.

Which there are is said by the chapters that train them, in their playground.py, as MODELS.
book/_static/transformer.js and gpt.js compute with these numbers as attnlab.transformer does. Of a model too
large for that, RECORDED has what was measured: there is nothing to compute.
"""

import base64
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from bookkit import registry
from bookkit.pictures.drawings import Part

Data = dict[str, Any]
# What a page loads to open a model, before its weights. Each is made of scripts or styles of book/_static
# (_ext/playground.py says which); what shows a view of the model comes when the view is asked for.
EVERY_BENCH = ("bench.css", "bench.js")
VIEWS = ("steps.js", "reach.js")
STEPS = 45  # up from zero, and down: with it, 91 numbers
# A letter for each of them, in order: what a script may hold in quotes without a sign before it.
LETTERS = bytes(code for code in range(ord("#"), ord("~") + 1) if code != ord("\\"))


class Picture(NamedTuple):
    """`picture("translator")` is drawn for both screens, below its title and words; `alt` describes it."""

    title: str
    words: str
    wide: Part
    narrow: Part
    alt: str
    invitation: str  # the one thing to do first, in a line
    caption: str  # what one sees in the picture, where no model can be opened
    slim: str = ""  # what to do first where there is but a field, if that is something else


def numbers(model: nn.Module) -> Data:
    """`numbers(model)` are its weights in the order of `shapes`, 16 bits each, as base64."""
    state = model.state_dict()
    return {"shapes": _shapes(model), "numbers": _in_base64(state.values())}


def letters(model: nn.Module) -> Data:
    """`letters(rounded(model))` has a letter for each number of a matrix, 6 bits of one when compressed.

    `numbers` are the rest in the order of `shapes`, 16 bits each: vectors, and the step of each matrix's row.
    """
    coded, others = [], []
    for tensor in model.state_dict().values():
        if tensor.dim() == 1:
            others.append(tensor)
            continue
        step = _step(tensor)
        others.append(step)
        counted = (tensor / step).nan_to_num().round().int() + STEPS
        coded.append(np.frombuffer(LETTERS, "u1")[counted.numpy().ravel()])
    return {
        "shapes": _shapes(model),
        "letters": np.concatenate(coded).tobytes().decode("ascii"),
        "numbers": _in_base64(others),
    }


@torch.no_grad()
def rounded(model: nn.Module) -> nn.Module:
    """`rounded(model)` is the model with numbers that `letters` can tell: in a row of a matrix 91 at most.

    They are a step apart, and the largest is 45 steps from zero. It is this model that the page has.
    """
    for weight in model.parameters():
        if weight.dim() == 2:
            step = _step(weight)
            weight.copy_((weight / step).nan_to_num().round() * step)
        else:
            weight.copy_(weight.half())
    return model


def _step(matrix: Tensor) -> Tensor:
    return (matrix.abs().amax(1, keepdim=True) / STEPS).half().float()  # (rows, 1)


def _shapes(model: nn.Module) -> Data:
    return {name: list(tensor.shape) for name, tensor in model.state_dict().items()}


def _in_base64(tensors: Iterable[Tensor]) -> str:
    halves = np.concatenate([tensor.half().numpy().ravel() for tensor in tensors])
    return base64.b64encode(halves.astype("<f2").tobytes()).decode()


@dataclass(frozen=True)
class Openable:
    """`openable()["translator"]` has ways to load a model, to tell a page of it, and to draw it."""

    load: Callable[[], nn.Module]
    data: Callable[[], Data]  # its words, its layers, and what the page offers to ask it
    picture: Callable[[], Picture]  # what stands in the page until it is opened
    packed: Callable[[nn.Module], Data] = numbers  # how its weights travel
    files: tuple[str, ...] = (*EVERY_BENCH, "sentences.js")  # in this order, before the weights


@dataclass(frozen=True)
class Recorded:
    """`recorded()["smollm2"]` has what was measured of a model too large for a page, and a picture of it."""

    data: Callable[[], Data]
    picture: Callable[[], Picture]
    files: tuple[str, ...] = (*EVERY_BENCH, "heads.js")


@cache
def openable() -> dict[str, Openable]:
    """`openable()["translator"]` is one of the models of all chapters."""
    return _of_all_chapters("MODELS")


@cache
def recorded() -> dict[str, Recorded]:
    """`recorded()["smollm2"]` is one of the models of which a page has no more than what they did."""
    return _of_all_chapters("RECORDED")


def _of_all_chapters(what: str) -> dict[str, Any]:
    folders = [registry.PACKAGES / "chapters" / chapter.package for chapter in registry.chapters()]
    rooms = [folder.name for folder in folders if (folder / "playground.py").exists()]
    found: dict[str, Any] = {}
    for room in rooms:
        found |= getattr(import_module(f"chapters.{room}.playground"), what, {})
    return found


@cache
def exported(name: str) -> Data:
    """`exported("translator")` is all that the page needs to let this model speak."""
    if name in recorded():
        return recorded()[name].data()
    model = openable()[name]
    return model.data() | model.packed(model.load())


def picture(name: str) -> Picture:
    """`picture("translator")` shows the first sentence that is offered, and what the model makes of it."""
    return (openable() | recorded())[name].picture()
