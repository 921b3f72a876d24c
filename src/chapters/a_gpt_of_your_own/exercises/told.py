"""Answers in words: a check compares the numbers that stand for them, and its report shows the words."""

import zlib


class Told(dict[int, str]):
    """`told = Told()`: `told.number("a text")` is a whole number, and `told[number]` is "a text" again.

    >>> told = Told()
    >>> told[told.number("[97, 256]")]
    '[97, 256]'
    """

    def number(self, words: str) -> int:
        """`told.number(words)` is the same for the same words, on every machine."""
        number = zlib.crc32(words.encode(errors="surrogatepass"))
        self[number] = words
        return number
