"""Trained models that a reader can open in the page: their numbers for a script, and a picture of each.

Which there are is said by the chapters that train them, in their playground.py, as MODELS.
book/_static/transformer.js computes with these numbers as attnlab.transformer does.
"""

import base64
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from torch import nn

from bookkit import registry
from bookkit.pictures.drawings import Part

Data = dict[str, Any]


class Picture(NamedTuple):
    """`picture("translator")` is drawn for both screens, below its title and words; `alt` describes it."""

    title: str
    words: str
    wide: Part
    narrow: Part
    alt: str


@dataclass(frozen=True)
class Openable:
    """`openable()["translator"]` has ways to load a model, to tell a page of it, and to draw it."""

    load: Callable[[], nn.Module]
    data: Callable[[], Data]  # its words, its layers, and what the page offers to ask it
    picture: Callable[[], Picture]  # what stands in the page until it is opened


@cache
def openable() -> dict[str, Openable]:
    """`openable()["translator"]` is one of the models of all chapters."""
    folders = [registry.BOOK / "chapters" / chapter.package for chapter in registry.chapters()]
    rooms = [folder.name for folder in folders if (folder / "playground.py").exists()]
    found: dict[str, Openable] = {}
    for room in rooms:
        found |= import_module(f"chapters.{room}.playground").MODELS
    return found


@cache
def exported(name: str) -> Data:
    """`exported("translator")` is all that the page needs to let this model speak."""
    model = openable()[name]
    return model.data() | numbers(model.load())


def picture(name: str) -> Picture:
    """`picture("translator")` shows the first sentence that is offered, and what the model makes of it."""
    return openable()[name].picture()


def numbers(model: nn.Module) -> Data:
    """`numbers(model)` are its weights in the order of `shapes`, 16 bits each, as base64."""
    state = model.state_dict()
    halves = np.concatenate([tensor.half().numpy().ravel() for tensor in state.values()])
    return {
        "shapes": {name: list(tensor.shape) for name, tensor in state.items()},
        "numbers": base64.b64encode(halves.astype("<f2").tobytes()).decode(),
    }
