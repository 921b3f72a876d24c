"""Unpack a block of Q4_1: 20 bytes to 32 numbers."""

import torch
from torch import Tensor

from attnlab.runtime import generator
from attnlab.today import gguf
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _float16(pair: Tensor) -> Tensor:
    return pair.contiguous().view(torch.float16).float()  # (blocks, 1)


def _low_then_high(packed: Tensor) -> Tensor:
    return torch.cat([packed & 15, packed >> 4], dim=1)


def _unpacked_block(
    blocks: Tensor, *,
    begins: Part = lambda blocks: (blocks[:, :2], blocks[:, 2:4]),
    read: Part = _float16,
    numbers: Part = _low_then_high,
    joined: Part = lambda scale, least, numbers: scale * numbers + least,
) -> Tensor:  # fmt: skip
    scale, least = map(read, begins(blocks))  # (blocks, 1)
    return joined(scale, least, numbers(blocks[:, 4:]).float())  # type: ignore[no-any-return]


MISTAKES: Mistakes = in_parts(
    _unpacked_block,
    begins={
        "scale and least exchanged": (
            "Scale and least have changed places. The first two bytes are the scale.",
            lambda blocks: (blocks[:, 2:4], blocks[:, :2]),
        ),
        "one scale for all": (
            "The first block's scale and least serve for all. Each block has its own.",
            lambda blocks: (blocks[:1, :2], blocks[:1, 2:4]),
        ),
    },
    read={
        "whole numbers": (
            "Scale and least are read as whole numbers. Their two bytes are a float16: "
            "`.view(torch.float16)`.",
            lambda pair: pair.contiguous().view(torch.int16).float(),
        ),
        "bytes made floats": (
            "Each byte is made a number of its own. `.view(torch.float16)` reads two of them as one number, "
            "and `.to(torch.float16)` doesn't.",
            lambda pair: pair[:, :1].float(),
        ),
    },
    numbers={
        "high ones first": (
            "The high four bits come first. The *low* ones are the first 16 numbers.",
            lambda packed: torch.cat([packed >> 4, packed & 15], dim=1),
        ),
        "neighbours from one byte": (
            "The two numbers of a byte stand side by side. They stand 16 apart: all low ones, then all high "
            "ones.",
            lambda packed: torch.stack([packed & 15, packed >> 4], dim=2).flatten(1),
        ),
        "high ones not shifted": (
            "The high numbers are 16 times too large. `& 240` leaves them where they are: shift by 4.",
            lambda packed: torch.cat([packed & 15, packed & 240], dim=1),
        ),
        "low ones twice": (
            "The low four bits come twice. The last 16 numbers are the high ones: `>> 4`.",
            lambda packed: torch.cat([packed & 15, packed & 15], dim=1),
        ),
    },
    joined={
        "least forgotten": (
            "The least is forgotten. A number is scale · n + least.",
            lambda scale, least, numbers: scale * numbers,
        ),
        "least taken off": (
            "The least is taken off. It is added, and is itself below zero where the numbers are.",
            lambda scale, least, numbers: scale * numbers - least,
        ),
        "least multiplied, too": (
            "The least is multiplied by the scale. Multiply first, then add it.",
            lambda scale, least, numbers: scale * (numbers + least),
        ),
        "centred at 8": (
            "You take 8 off first. That is Q4_0, which has no least: here 0 stands for the least itself.",
            lambda scale, least, numbers: scale * (numbers - 8),
        ),
    },
)


def _blocks(label: str, seed: int, *headers: tuple[float, float]) -> Case:
    """A block for each scale and least, with drawn bytes behind them."""
    began = torch.tensor(headers, dtype=torch.float16, device="cpu").view(torch.uint8)  # (blocks, 4)
    drawn = torch.randint(256, (len(headers), 16), generator=generator(seed), device="cpu")
    return Case(label, torch.cat([began, drawn.byte()], dim=1))


check_unpacked_block = Exercise(
    "unpacked_block",
    difficulty=1,
    minutes=15,
    takes=("blocks",),
    returns=("numbers",),
    reference=_unpacked_block,
    cases=(
        _blocks("right where the scale is 1, and the least 0", 3, (1, 0)),
        _blocks("right for one block", 5, (0.125, -0.75)),
        _blocks("right for several", 7, (0.5, -3.25), (0.0625, 0.125), (2, -16), (0.01, -0.08)),
    ),
    mistakes=MISTAKES,
    without=(gguf,),
)
