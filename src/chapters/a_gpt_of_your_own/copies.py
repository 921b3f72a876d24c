"""What a model has by heart: the longest passage of its writing that stands in what it read."""

from collections.abc import Sequence


def longest_copy(text: str, read: str) -> str:
    """`longest_copy("the cats sat", "a cat sat on the catalogue")` is "the cat"."""
    best = ""
    for start in range(len(text)):
        # Only what is longer than the best is looked for.
        while len(longer := text[start : start + len(best) + 1]) > len(best) and longer in read:
            best = longer
    return best


def repeated(ids: Sequence[int], length: int = 4) -> float:
    """`repeated([1, 2, 1, 2, 1, 2], length=2)` is 0.6: of five runs of two ids, three have come before."""
    runs = [tuple(ids[start : start + length]) for start in range(len(ids) - length + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0
