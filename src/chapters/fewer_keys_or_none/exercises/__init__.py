"""The exercises of “Fewer keys”, from heads that share to the smallest cache."""

from chapters.fewer_keys_or_none.exercises.grouped import check_grouped
from chapters.fewer_keys_or_none.exercises.repaired_rolling import check_repaired_rolling
from chapters.fewer_keys_or_none.exercises.smallest_cache import check_smallest_cache
from chapters.fewer_keys_or_none.exercises.window_mask import check_window_mask

__all__ = [
    "EXERCISES",
    "check_grouped",
    "check_repaired_rolling",
    "check_smallest_cache",
    "check_window_mask",
]

# In the order of the chapter.
EXERCISES = (check_grouped, check_window_mask, check_repaired_rolling, check_smallest_cache)
