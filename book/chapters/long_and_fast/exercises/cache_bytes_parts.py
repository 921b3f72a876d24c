"""What `check_cache_bytes` asks with, in parts that can be mistaken."""

from bookkit.checking.mistakes import Part


def _held(words: int, window: int | None) -> int:
    """Of how many words the keys and values are kept."""
    return words if window is None else min(words, window)


def _cache_bytes(
    layers: int,
    heads: int,
    groups: int,
    d_k: int,
    words: int,
    rows: int,
    bits: int,
    window: int | None,
    *,
    kept: Part = _held,
    of_a_word: Part = lambda layers, heads, groups, d_k: 2 * layers * groups * d_k,
    in_bytes: Part = lambda numbers, bits: numbers * bits // 8,
    together: Part = lambda numbers, rows: numbers * rows,
) -> int:
    """The bytes of all layers' keys and values, for all rows of a batch."""
    numbers = of_a_word(layers, heads, groups, d_k) * kept(words, window)
    held: int = in_bytes(together(numbers, rows), bits)
    return held
