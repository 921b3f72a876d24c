"""What `check_honest_crops` asks with, in parts that can be mistaken."""

from collections.abc import Iterable
from typing import TypeAlias

import torch
from torch import Tensor

from bookkit.checking.mistakes import Part

Texts: TypeAlias = list[list[int]]


def _training(texts: Texts, held_out: int) -> Texts:
    unseen = texts[-held_out:]
    return [text for text in texts if text not in unseen]


def _ended(texts: Iterable[list[int]], end: int) -> list[int]:
    return [number for text in texts for number in (*text, end)]


def _row(texts: Texts, end: int, held_out: int, *, training: Part, ended: Part) -> list[int]:
    row: list[int] = ended(training(texts, held_out), end)
    return row


def _with_room(starts: list[int], size: int, length: int) -> list[int]:
    return [start for start in starts if start + length < size]


def _apart(row: list[int], start: int, length: int) -> tuple[list[int], list[int]]:
    return row[start : start + length], row[start + 1 : start + length + 1]


def _crops(
    texts: Texts,
    end: int,
    held_out: int,
    length: int,
    starts: list[int],
    *,
    row: Part = _row,
    training: Part = _training,
    ended: Part = _ended,
    behind: Part = lambda texts, end, held_out: [],
    room: Part = _with_room,
    crop: Part = _apart,
) -> tuple[Tensor, Tensor]:
    """`behind` is what a crop runs into that goes on behind the training row."""
    of_training = row(texts, end, held_out, training=training, ended=ended)
    whole = of_training + behind(texts, end, held_out)
    cut = [crop(whole, start, length) for start in room(starts, len(of_training), length)]
    inputs, targets = zip(*cut, strict=True) if cut else ((), ())
    return torch.tensor(inputs, device="cpu"), torch.tensor(targets, device="cpu")
