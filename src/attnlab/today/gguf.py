"""GGUF, a file in which models travel: what the model is, its tokenizer, and its matrices in few bits."""

import hashlib
import math
import struct
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, ROW = 8, 9  # the two other types of what a file says about itself
BLOCK = 32  # numbers that share a scale
PART = 2**13  # blocks that are unpacked at a time: what is made on the way is small
VERSIONS = (2, 3)  # which differ in nothing that is read here


class Format(NamedTuple):
    """`Format("Q8_0", numbers=32, size=34, unpack=q8_0)`: a block of 32 numbers takes 34 bytes."""

    name: str
    numbers: int
    size: int
    unpack: Callable[[Tensor], Tensor]  # (blocks, size) bytes to (blocks, numbers)


def _float16(blocks: Tensor) -> Tensor:
    return blocks.contiguous().view(torch.float16).float()


def q8_0(blocks: Tensor) -> Tensor:
    """`q8_0(blocks)` are scale · number: a scale in 2 bytes, and 32 numbers from -128 to 127."""
    numbers = blocks[:, 2:].contiguous().view(torch.int8).float()  # (blocks, 32)
    return numbers.mul_(_float16(blocks[:, :2]))  # in place: the table has 28 million


def q4_1(blocks: Tensor) -> Tensor:
    """`q4_1(blocks)` are scale · number + least: both in 2 bytes, and 32 numbers from 0 to 15.

    A byte has two of them: the low four bits one of the first 16, the high four one of the last.

    >>> one, five = [0, 60], [0, 69]  # as float16
    >>> q4_1(torch.tensor([[*one, *five, *[0xF2] * 16]], dtype=torch.uint8))[0, [0, 16]]
    tensor([ 7., 20.])
    """
    scale, least, packed = _float16(blocks[:, :2]), _float16(blocks[:, 2:4]), blocks[:, 4:]
    numbers = torch.cat([packed & 15, packed >> 4], dim=1).float()  # (blocks, 32)
    return numbers.mul_(scale).add_(least)


FORMATS = {
    0: Format("F32", 1, 4, lambda numbers: numbers.view(torch.float32)),
    3: Format("Q4_1", BLOCK, 20, q4_1),
    8: Format("Q8_0", BLOCK, 34, q8_0),
}


class Stored(NamedTuple):
    """`Stored(shape=(192, 576), format=3, place=31744512)`: a matrix, and where in the file it begins."""

    shape: tuple[int, ...]
    format: int
    place: int


class About(dict[str, Any]):
    """`About({"general.architecture": "llama"})["general.name"]` says that the file does not tell."""

    def __missing__(self, key: str) -> Any:
        raise ValueError(f"the file must say what its {key} is, and does not")


class File:
    """`file = File(path)` has read what a model says about itself, `file.about`, and where its matrices are.

    `file.matrix("output_norm.weight")` reads one and unpacks it.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._size = path, path.stat().st_size
        with path.open("rb") as opened:
            if opened.read(4) != b"GGUF":
                raise ValueError(f"{path.name} must be a GGUF file, which begins with those four letters")
            if (version := self._number(opened, "I")) not in VERSIONS:
                raise ValueError(f"{path.name} must be GGUF of version 2 or 3, not {version}")
            matrices, pairs = self._number(opened, "Q"), self._number(opened, "Q")
            self.about = About(self._pair(opened) for _ in range(pairs))
            self.matrices = dict(self._matrix(opened) for _ in range(matrices))
            border: int = self.about.get("general.alignment", 32)
            self._start = -(-opened.tell() // border) * border  # the next multiple

    def _take(self, opened: BufferedReader, size: int) -> bytearray:
        left = self._size - opened.tell()
        if left < size:
            wanted = f"{self.path.name} must hold {size} bytes behind place {opened.tell()}"
            raise ValueError(f"{wanted}, and ends after {max(0, left)}: fetch it again")
        taken = bytearray(size)  # into which PyTorch may write: so nothing is copied once more
        opened.readinto(taken)
        return taken

    def _number(self, opened: BufferedReader, kind: str) -> Any:
        return struct.unpack(f"<{kind}", self._take(opened, struct.calcsize(f"<{kind}")))[0]

    def _text(self, opened: BufferedReader) -> str:
        return self._take(opened, self._number(opened, "Q")).decode()

    def _value(self, opened: BufferedReader, kind: int) -> Any:
        if kind == TEXT:
            return self._text(opened)
        if kind == ROW:
            kind, count = self._number(opened, "I"), self._number(opened, "Q")
            return [self._value(opened, kind) for _ in range(count)]
        if kind not in NUMBERS:
            raise ValueError(
                f"{self.path.name} has values of type {kind}, of which GGUF knows none: fetch it again"
            )
        return self._number(opened, NUMBERS[kind])

    def _pair(self, opened: BufferedReader) -> tuple[str, Any]:
        return self._text(opened), self._value(opened, self._number(opened, "I"))

    def _matrix(self, opened: BufferedReader) -> tuple[str, Stored]:
        name = self._text(opened)
        # Sizes from within: how long a row is comes first, and last in PyTorch.
        sizes = [self._number(opened, "Q") for _ in range(self._number(opened, "I"))]
        return name, Stored(tuple(sizes[::-1]), self._number(opened, "I"), self._number(opened, "Q"))

    def packed(self, name: str) -> Tensor:
        """`file.packed("blk.0.attn_q.weight")` are the bytes of a matrix, a row for each block."""
        if name not in self.matrices:
            raise ValueError(f"{self.path.name} has no matrix {name!r}")
        stored = self.matrices[name]
        if stored.format not in FORMATS:
            known = ", ".join(f"{number} ({each.name})" for number, each in FORMATS.items())
            raise ValueError(f"{name} is stored in format {stored.format}; those read here are {known}")
        form = FORMATS[stored.format]
        with self.path.open("rb") as opened:
            opened.seek(self._start + stored.place)
            taken = self._take(opened, math.prod(stored.shape) // form.numbers * form.size)
        return torch.frombuffer(taken, dtype=torch.uint8).view(-1, form.size)  # (blocks, size)

    def matrix(self, name: str) -> Tensor:
        """`file.matrix("blk.0.attn_q.weight")` are its numbers in float32."""
        packed = self.packed(name)
        stored = self.matrices[name]
        form = FORMATS[stored.format]
        numbers = torch.empty(len(packed), form.numbers)
        for first in range(0, len(packed), PART):
            some = slice(first, first + PART)
            numbers[some] = form.unpack(packed[some])
        return numbers.view(stored.shape)

    def sha256(self) -> str:
        """`file.sha256()` tells this file from every other."""
        with self.path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
