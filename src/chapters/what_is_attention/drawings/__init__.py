"""The drawings of “What is attention?”, made from the chapter's own numbers."""

from chapters.what_is_attention.drawings.exercises import gated_half, not_oneself, shapes_of_a_look_up
from chapters.what_is_attention.drawings.opening import in_matrices, look_up, one_word_asks, three_roles
from chapters.what_is_attention.drawings.products_and_gates import (
    gate_and_sum,
    two_rows_one_centre,
    what_softmax_sees,
)

__all__ = [
    "gate_and_sum",
    "gated_half",
    "in_matrices",
    "look_up",
    "not_oneself",
    "one_word_asks",
    "shapes_of_a_look_up",
    "three_roles",
    "two_rows_one_centre",
    "what_softmax_sees",
]
