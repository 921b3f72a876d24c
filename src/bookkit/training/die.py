"""The die of the pages: the same numbers for the same seed in every browser, and here."""

import numpy as np
from numpy.typing import NDArray

STEP = 0x6D2B79F5
WORD = 0xFFFFFFFF  # 32 bits


class Die:
    """`Die(seed=7)()` is a number from 0 to 1, and the next at the next call.

    >>> die = Die(seed=7)
    >>> first, second = die(), die()
    >>> Die(seed=7).numbers(2).tolist() == [first, second]
    True
    """

    def __init__(self, seed: int) -> None:
        self.state = seed & WORD

    def __call__(self) -> float:
        """`die()` is the next number."""
        self.state = state = (self.state + STEP) & WORD
        mixed = (state ^ state >> 15) * (state | 1) & WORD
        mixed ^= mixed + (mixed ^ mixed >> 7) * (mixed | 61) & WORD
        return (mixed ^ mixed >> 14) / 2**32

    def numbers(self, count: int) -> NDArray[np.float64]:
        """`die.numbers(100)` are the next hundred."""
        # Arithmetic of 32 bits, which drops whatever is carried beyond.
        states = np.uint32(self.state) + np.uint32(STEP) * np.arange(1, count + 1, dtype=np.uint32)
        self.state = (self.state + STEP * count) & WORD
        mixed = (states ^ states >> 15) * (states | 1)
        mixed ^= mixed + (mixed ^ mixed >> 7) * (mixed | 61)
        numbers: NDArray[np.float64] = (mixed ^ mixed >> 14) / 2**32
        return numbers

    def whole(self, count: int) -> int:
        """`die.whole(6)` is a number from 0 to 5.

        >>> die = Die(seed=7)
        >>> sorted({die.whole(6) for _ in range(100)})
        [0, 1, 2, 3, 4, 5]
        """
        return int(self() * count)

    def words(self, classes: int, count: int) -> list[int]:
        """`die.words(10, 24)` are 24 numbers from 0 to 9."""
        return [int(number) for number in self.numbers(count) * classes]

    def shuffled(self, count: int) -> list[int]:
        """`die.shuffled(6)` are 0 to 5 in any order.

        >>> sorted(Die(seed=7).shuffled(6))
        [0, 1, 2, 3, 4, 5]
        """
        order = list(range(count))
        for i in range(count - 1, 0, -1):
            j = self.whole(i + 1)
            order[i], order[j] = order[j], order[i]
        return order


def die_of(name: str, seed: int) -> Die:
    """`die_of("data", seed=3)` is a die of its own for everything that has a name.

    >>> die_of("data", seed=3)() == die_of("data", seed=3)() != die_of("shown", seed=3)()
    True
    """
    mixed = seed & WORD
    for letter in name:
        mixed = (mixed ^ ord(letter)) * 0x01000193 & WORD
    return Die(mixed)
