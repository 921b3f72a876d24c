"""Fifty sequences that no training has read, for the page to count how often its model is right."""

from attnlab.runtime import generator
from chapters.looking_inside.models import SYMBOLS, UNSEEN, repeated

TRIES = 50


def rounds() -> list[str]:
    """`rounds()` has one round of each; a sequence is that round again and again, 48 symbols in all."""
    read = repeated(TRIES, generator(UNSEEN))
    return [
        "".join(SYMBOLS[word] for word in words[:period])
        for words, period in zip(read.words.tolist(), read.periods[:, 0].tolist(), strict=True)
    ]
