"""The drawings, made from the chapter's own numbers."""

from chapters.who_may_look_where.drawings.dropout_and_costs import areas, batch, dropped, proof
from chapters.who_may_look_where.drawings.opening import combined, empty_row, idea, spreading, too_late
from chapters.who_may_look_where.drawings.truth_and_leaks import (
    language,
    leak_test,
    peeking,
    two_readers,
    verdicts,
    whose_length,
)

__all__ = [
    "areas",
    "batch",
    "combined",
    "dropped",
    "empty_row",
    "idea",
    "language",
    "leak_test",
    "peeking",
    "proof",
    "spreading",
    "too_late",
    "two_readers",
    "verdicts",
    "whose_length",
]
