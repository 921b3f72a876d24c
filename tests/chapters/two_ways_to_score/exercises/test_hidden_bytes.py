"""The exercise `hidden_bytes`, tried as readers would."""

import math

import numpy as np
import torch
from exercise_cases import judged_as

from chapters.two_ways_to_score.exercises import (
    check_hidden_bytes,
)

bytes_of = check_hidden_bytes.reference


BYTES = {
    "numpy": lambda batch, queries, keys, hidden, chunk: (
        np.dtype("float32").itemsize * np.minimum(chunk, queries) * batch * keys * hidden
    ),
    "measured": lambda batch, queries, keys, hidden, chunk: (
        torch.empty(batch, queries, keys, hidden, device="meta")[:, :chunk].contiguous().nbytes
    ),
    "largest chunk": lambda batch, queries, keys, hidden, chunk: max(
        4 * batch * keys * hidden * len(range(queries)[start : start + chunk])
        for start in range(0, queries, chunk)
    ),
}


RIGHT = {check_hidden_bytes: BYTES}


NAMED = {
    check_hidden_bytes: {
        "chunk larger than all": lambda batch, queries, keys, hidden, chunk: (
            4 * batch * chunk * keys * hidden
        ),
        "numbers, not bytes": lambda *sizes: bytes_of(*sizes) / 4,
        "chunks evened out": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, math.ceil(queries / math.ceil(queries / chunk)), keys, hidden, chunk
        ),
        "chunks of the batch": lambda batch, queries, keys, hidden, chunk: bytes_of(
            1, batch * queries, keys, hidden, chunk
        ),
        "chunks of keys": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, keys, queries, hidden, chunk
        ),
    }
}


UNKNOWN = {
    check_hidden_bytes: {
        "scores as well": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, queries, keys, hidden + 1, chunk
        ),
        "sum of the sizes": lambda *sizes: 4 * sum(sizes),
        "one chunk too few": lambda batch, queries, keys, hidden, chunk: bytes_of(
            batch, queries - 1, keys, hidden, chunk
        ),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
