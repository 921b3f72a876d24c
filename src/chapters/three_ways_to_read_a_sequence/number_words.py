"""The numbers below a hundred in English, letter by letter: small texts with a label each."""

import torch
from torch import Tensor

from attnlab.runtime import generator

PADDING, START, END = range(3)
LETTERS = "·^$abcdefghijklmnopqrstuvwxyz-"  # padding, start and end come first
_ONES = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
LONGEST = 14  # letters of seventy-three, and the end


def spelled(number: int) -> str:
    """`spelled(42)` is "forty-two"."""
    if number < 20:
        return _ONES[number]
    tens, ones = _TENS[number // 10 - 2], number % 10
    return f"{tens}-{_ONES[ones]}" if ones else tens


def written(letters: Tensor) -> str:
    """`written(tensor([7, 11, 4]))` is "eib": what a row of letters' numbers says, up to its end."""
    return "".join(LETTERS[letter] for letter in letters.tolist()).split(LETTERS[END])[0]


def tables() -> tuple[Tensor, Tensor]:
    """`inputs, targets = tables()` are (100, 14) each: "^two" and, shifted by one, "two$"."""
    inputs, targets = (torch.full((100, LONGEST), PADDING) for _ in range(2))
    for number in range(100):
        marked = torch.tensor([LETTERS.index(letter) for letter in f"^{spelled(number)}$"])
        inputs[number, : len(marked) - 1] = marked[:-1]
        targets[number, : len(marked) - 1] = marked[1:]
    return inputs, targets


def known_and_held_out() -> tuple[Tensor, Tensor]:
    """`known, held_out = known_and_held_out()` are 84 numbers and 16; the small ones are all known."""
    order = torch.randperm(80, generator=generator(5)) + 20
    held_out = order[:16].sort().values
    return torch.tensor(sorted(set(range(100)) - set(held_out.tolist()))), held_out
