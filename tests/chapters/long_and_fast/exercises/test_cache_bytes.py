"""The exercise `cache_bytes`, tried as readers would."""

import math

import pytest
import torch
from exercise_cases import changed, judged_as, named

from attnlab.attention import Cache
from chapters.long_and_fast.exercises import check_cache_bytes

bytes_of = check_cache_bytes.reference


def by_a_product(layers, heads, groups, d_k, words, rows, bits, window):
    held = min(words, window or words)
    return math.prod([2, layers, groups, d_k, held, rows, bits]) // 8


def by_tensors(layers, heads, groups, d_k, words, rows, bits, window):
    held = words if window is None else min(window, words)
    keys = torch.empty(rows, groups, held, d_k, device="meta")
    return layers * (keys.numel() + keys.numel()) * bits / 8


def with_infinity(layers, heads, groups, d_k, words, rows, bits, window):
    window = math.inf if window is None else window
    return int(min(words, window)) * rows * layers * groups * 2 * d_k * bits // 8


def layer_by_layer(layers, heads, groups, d_k, words, rows, bits, window):
    total = 0
    for _ in range(layers):
        for _ in ("keys", "values"):
            total += rows * groups * d_k * len(range(words)[-window if window else None :])
    return total * bits / 8


def counted(word=lambda layers, heads, groups, d_k: 2 * layers * groups * d_k, held=None, each=None):
    """A reader's function, in which one step may be another."""

    def code(layers, heads, groups, d_k, words, rows, bits, window):
        length = held(words, window) if held else words if window is None else min(words, window)
        return word(layers, heads, groups, d_k) * length * rows * (each(bits) if each else bits / 8)

    return code


def half_windowed(layers, heads, groups, d_k, words, rows, bits, window):
    keys = values = layers * groups * d_k * rows * bits / 8
    return keys * (min(window, words) if window else words) + values * words


RIGHT = {check_cache_bytes: named(by_a_product, by_tensors, with_infinity, layer_by_layer)}
NAMED = {
    check_cache_bytes: {
        "values forgotten": changed(by_a_product, lambda right: right / 2),
        "query heads": counted(lambda layers, heads, groups, d_k: 2 * d_k * heads * layers),
        "heads of a group": counted(lambda layers, heads, groups, d_k: 2 * layers * d_k * heads / groups),
        "queries kept as well": counted(
            lambda layers, heads, groups, d_k: layers * d_k * (2 * groups + heads)
        ),
        "layers forgotten": lambda layers, *sizes: by_a_product(1, *sizes),
        "groups forgotten": counted(lambda layers, heads, groups, d_k: layers * d_k * 2),
        "d_k forgotten": lambda layers, heads, groups, d_k, *sizes: by_a_product(
            layers, heads, groups, 1, *sizes
        ),
        "window forgotten": lambda *sizes: by_a_product(*sizes[:-1], None),
        "window not capped": counted(held=lambda words, window: window or words),
        "the longer of both": counted(held=lambda words, window: max(words, window or 0)),
        "what the window drops": counted(held=lambda words, window: max(0, words - (window or 0))),
        "each word's window": counted(
            held=lambda words, window: words * min(words, window) if window else words
        ),
        "no window compared": counted(held=lambda words, window: window if window < words else words),
        "compared with no window": counted(held=lambda words, window: min(window, words)),
        "a table": counted(held=lambda words, window: min(words, window or words) ** 2),
        "one word": counted(held=lambda words, window: 1),
        "rows forgotten": lambda layers, heads, groups, d_k, words, rows, bits, window: by_a_product(
            layers, heads, groups, d_k, words, 1, bits, window
        ),
        "numbers, not bytes": counted(each=lambda bits: 1),
        "bits for bytes": counted(each=lambda bits: bits),
        "each number in whole bytes": counted(each=lambda bits: bits // 8),
        "no less than a byte": counted(each=lambda bits: math.ceil(bits / 8)),
        "always two bytes": counted(each=lambda bits: 2),
        "always four bytes": counted(each=lambda bits: 4),
        "kilobytes": changed(by_a_product, lambda right: right / 1000),
        "megabytes": changed(by_a_product, lambda right: right / 1_000_000),
        "gibibytes": changed(by_a_product, lambda right: right / 1024**3),
        "window for one of both": half_windowed,
        "layers forgotten & always two bytes": lambda layers, *sizes: counted(each=lambda bits: 2)(1, *sizes),
    }
}
UNKNOWN = {
    check_cache_bytes: {
        "the sum of all": lambda *sizes: sum(size or 0 for size in sizes),
        "one word too many": counted(held=lambda words, window: min(words, window or words) + 1),
        "a byte too many": changed(by_a_product, lambda right: right + 1),
        "nothing": lambda *sizes: 0,
    }
}
test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)


@pytest.mark.parametrize("groups", [1, 3])
def test_it_counts_what_a_cache_holds(groups):
    caches = [Cache() for _ in range(2)]
    for cache in caches:
        for _ in range(5):  # words
            word = torch.zeros(4, groups, 1, 8)  # (rows, groups, 1, d_k)
            keys, values = cache.extended(word, word)
        assert (keys.nbytes + values.nbytes) * len(caches) == bytes_of(2, 6, groups, 8, 5, 4, 32, None)
