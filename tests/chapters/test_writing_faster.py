"""“Writing faster”: what only its exercises say."""

import torch
from exercise_cases import telling, told

from attnlab import decoding
from chapters.writing_faster.accepted import by_padding
from chapters.writing_faster.exercises.left_padded import check_left_padded


def mask_to_be_added(rows, filler):
    ids, visible, places = by_padding(rows, filler)
    return ids, torch.zeros(visible.shape).masked_fill(~visible, -torch.inf), places


test_a_reader_is_told = telling(
    told(check_left_padded, mask_to_be_added, "It returns float32 numbers where bool ones are expected"),
    told(check_left_padded, decoding.left_padded, "✗ is written without what is there already"),
)
