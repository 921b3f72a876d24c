"""The drawings of “From words to vectors”, made from the chapter's own words and numbers."""

from chapters.from_words_to_vectors.drawings.opening import (
    TABLE,
    WORDS,
    from_word_to_place,
    one_hot_times_table,
    rows_that_learn,
    sliding_window,
)
from chapters.from_words_to_vectors.drawings.prediction import analogy, both_ends, bottleneck
from chapters.from_words_to_vectors.drawings.two_meanings import (
    from_pairs_to_table,
    one_word_twice,
    window_at_the_end,
)

__all__ = [
    "TABLE",
    "WORDS",
    "analogy",
    "both_ends",
    "bottleneck",
    "from_pairs_to_table",
    "from_word_to_place",
    "one_hot_times_table",
    "one_word_twice",
    "rows_that_learn",
    "sliding_window",
    "window_at_the_end",
]
