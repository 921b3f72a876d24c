"""The exercise `checkpoint_bytes`, tried as readers would."""

import io

import numpy as np
import pytest
import torch
from exercise_cases import changed, judged_as
from torch import nn

from chapters.buffers_parameters_and_plain_tensors.exercises import (
    check_checkpoint_bytes,
)

bytes_of = check_checkpoint_bytes.reference


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_real_file_is_as_large_as_the_reference_says(dtype, persistent):
    model, file = nn.Module(), io.BytesIO()
    model.embedding, model.linear = nn.Embedding(700, 96), nn.Linear(96, 96)
    model.output = nn.Linear(96, 700, bias=False)
    model.output.weight = model.embedding.weight
    model.register_buffer("table", torch.zeros(500, 96), persistent=persistent)
    torch.save(model.to(dtype).state_dict(), file)
    numbers = bytes_of(700, 96, 500, dtype.itemsize, persistent)
    # Names, shapes and alignment come on top: a few thousand bytes.
    assert numbers < file.getbuffer().nbytes < numbers + 4000


RIGHT = {
    check_checkpoint_bytes: {
        "numpy": lambda v, d, m, b, p: np.multiply([v, d, 1, m if p else 0], d).sum(dtype=np.int64) * b,
        "a tensor": lambda v, d, m, b, p: torch.tensor([v, d + 1, int(p) * m]).sum() * d * b,
    }
}


NAMED = {
    check_checkpoint_bytes: {
        "tied counted twice": lambda v, d, m, b, p: (2 * v * d + d * d + d + (m * d if p else 0)) * b,
        "no bias": lambda v, d, m, b, p: (v * d + d * d + p * m * d) * b,
        "persistent reversed": lambda v, d, m, b, p: (v * d + d * d + d + (0 if p else m * d)) * b,
        "nothing without the table": lambda v, d, m, b, p: b * (v * d + d * d + d + m * d if p else 0),
        "four bytes for the table": lambda v, d, m, b, p: (v + d + 1) * d * b + (4 * m * d if p else 0),
        "a bias too many": lambda v, d, m, b, p: (v * d + v + d * d + d + p * m * d) * b,
    }
}


UNKNOWN = {
    check_checkpoint_bytes: {
        "half": changed(bytes_of, lambda count: count // 2),
        "kibibytes": changed(bytes_of, lambda count: count / 1024),
        "table squared": lambda v, d, m, b, p: bytes_of(v, d, m * m, b, p),
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, test_an_unknown_fault_is_rejected = judged_as(
    RIGHT, NAMED, UNKNOWN
)
