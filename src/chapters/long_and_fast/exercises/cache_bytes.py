"""Count the bytes of a cache of keys and values."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, but, in_answer, in_parts
from bookkit.checking.mistakes.holding import BYTES


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


_NONE = "Right where there is a window. Without one `window` is None, which can't be compared with a number."

MISTAKES: Mistakes = (
    in_parts(
        _cache_bytes,
        of_a_word={
            "values forgotten": (
                "Only the keys are counted, or only the values. Both are kept: twice as many.",
                lambda layers, heads, groups, d_k: layers * groups * d_k,
            ),
            "query heads": (
                "You count a key and a value for each of the `heads`. Only queries have so many; keys and "
                "values have `groups`.",
                lambda layers, heads, groups, d_k: 2 * layers * heads * d_k,
            ),
            "heads of a group": (
                "You count `heads // groups`: so many queries share a key. What is kept are `groups` keys "
                "and values.",
                lambda layers, heads, groups, d_k: 2 * layers * (heads // groups) * d_k,
            ),
            "queries kept as well": (
                "You keep the queries as well. Nobody asks for an earlier word's query again: only keys and "
                "values are kept.",
                lambda layers, heads, groups, d_k: layers * (heads + 2 * groups) * d_k,
            ),
            "heads times groups": (
                "You multiply by `heads` and by `groups`. There are `groups` keys and values in all.",
                lambda layers, heads, groups, d_k: 2 * layers * heads * groups * d_k,
            ),
            "layers forgotten": (
                "This is the cache of one layer. Each layer has keys and values of its own.",
                lambda layers, heads, groups, d_k: 2 * groups * d_k,
            ),
            "groups forgotten": (
                "This counts one key and one value for each word and layer. There are `groups` of each.",
                lambda layers, heads, groups, d_k: 2 * layers * d_k,
            ),
            "d_k forgotten": (
                "You count vectors. Each key and each value has `d_k` numbers.",
                lambda layers, heads, groups, d_k: 2 * layers * groups,
            ),
        },
        kept={
            "window forgotten": (
                "Right without a window. With one, only the last `window` words are kept.",
                lambda words, window: words,
            ),
            "window not capped": (
                "Right where the text is longer than the window. A window of 12 holds no more than the 9 "
                "words that there are.",
                lambda words, window: words if window is None else window,
            ),
            "one more than the window": (
                "You keep one word more than the window has. The newest is one of its `window` words.",
                lambda words, window: words if window is None else min(words, window + 1),
            ),
            "the longer of both": (
                "Right without a window. With one, you take the larger of `words` and `window`. No more is "
                "kept than either.",
                lambda words, window: words if window is None else max(words, window),
            ),
            "what the window drops": (
                "With a window you count the words that fall out of it. Those inside are kept.",
                lambda words, window: words if window is None else max(0, words - window),
            ),
            "each word's window": (
                "You count a window for each word. They overlap: what is kept is one window, the latest.",
                lambda words, window: words * _held(words, window) if window is not None else words,
            ),
            "no window compared": (_NONE, lambda words, window: min(words, window)),
            "compared with no window": (
                "Right where there is a window. Without one, `window` is None, and no number can be compared "
                "with that.",
                lambda words, window: min(window, words),
            ),
            "a table": (
                "This grows with the square of the words. The cache has a key and a value for each word, and "
                "none for each pair.",
                lambda words, window: _held(words, window) ** 2,
            ),
            "one word": ("This is what one word takes. All that are kept take it.", lambda words, window: 1),
        },
        together={
            "rows forgotten": (
                "Right for one text. Each row of a batch has a cache of its own.",
                lambda numbers, rows: numbers,
            )
        },
        in_bytes={
            "numbers, not bytes": (
                "This counts the numbers. Each of them takes `bits / 8` bytes.",
                lambda numbers, bits: numbers,
            ),
            "bits for bytes": (
                "You take `bits` for bytes. A byte has eight bits.",
                lambda numbers, bits: numbers * bits,
            ),
            "each number in whole bytes": (
                "Right from 8 bits on. `bits // 8` of 4 bits is 0: multiply first, and divide the sum.",
                lambda numbers, bits: numbers * (bits // 8),
            ),
            "no less than a byte": (
                "Right from 8 bits on. Two numbers of 4 bits share a byte.",
                lambda numbers, bits: numbers * max(1, bits // 8),
            ),
            "always two bytes": (
                "Two bytes for each number, whatever `bits` says.",
                lambda numbers, bits: 2 * numbers,
            ),
            "always four bytes": (
                "Four bytes for each number, as in float32, whatever `bits` says.",
                lambda numbers, bits: 4 * numbers,
            ),
        },
    )
    | in_answer(
        _cache_bytes,
        but(BYTES, "bits")
        | {"kibibytes": ("These are kibibytes. Asked for are bytes.", lambda right: right / 1024)}
        | {"gibibytes": ("These are gibibytes. Asked for are bytes.", lambda right: right / 2**30)},
    )
    | {
        "a window for all rows": (
            "All rows share one window. Each row keeps `window` words of its own.",
            lambda layers, heads, groups, d_k, words, rows, bits, window: (
                2 * layers * groups * d_k * _held(words * rows, window) * bits // 8
            ),
        ),
        "window for one of both": (
            "The window counts for the keys, or for the values, and the other is kept of all words. Both "
            "are dropped together.",
            lambda layers, heads, groups, d_k, words, rows, bits, window: (
                layers * groups * d_k * rows * (words + _held(words, window)) * bits // 8
            ),
        ),
    }
)


check_cache_bytes = Exercise(
    "cache_bytes",
    difficulty=1,
    minutes=10,
    takes=("layers", "heads", "groups", "d_k", "words", "rows", "bits", "window"),
    returns=("bytes",),
    reference=_cache_bytes,
    cases=(
        Case("right for one text", 3, 4, 2, 5, 7, 1, 16, None),
        Case("right for a batch", 2, 6, 3, 5, 11, 4, 32, None),
        Case("right in four bits", 3, 10, 2, 8, 13, 3, 4, None),
        Case("right with a window", 2, 6, 1, 6, 20, 5, 16, 7),
        Case("right with a window wider than the text", 5, 8, 4, 3, 9, 2, 8, 12),
        Case("right for a large model", 32, 32, 8, 128, 32768, 3, 16, 4096),
    ),
    mistakes=MISTAKES,
)
