"""Count the bytes of a cache of keys and values."""

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.long_and_fast.exercises.cache_bytes_mistakes import MISTAKES
from chapters.long_and_fast.exercises.cache_bytes_parts import _cache_bytes

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
