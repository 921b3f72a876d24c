"""The exercise `batch_shapes`, tried as readers would."""

import exercise_cases
import torch
from exercise_cases import judged_as
from torchtext import data

from chapters.text_as_tensors.exercises import (
    check_batch_shapes,
)

SHAPES = check_batch_shapes.shapes


def test_the_shapes_are_what_torchtext_and_pytorch_say():
    def batches_of(field):
        example = data.Example.fromlist([["word"] * 2003], [("text", field)])
        dataset = data.Dataset([example], [("text", field)])
        field.build_vocab(dataset)
        return list(data.BPTTIterator(dataset, batch_size=8, bptt_len=35))

    batches = batches_of(data.Field())
    rows = 1 + sum(len(batch.text) for batch in batches)
    embedding = torch.nn.Embedding(5000, 16)
    names = {
        "columns": torch.empty(rows, 8),
        "batches": batches,
        "first": batches[0],
        "batch_first": batches_of(data.Field(batch_first=True))[0],
        "embedding": embedding,
        "model": torch.nn.Sequential(embedding, torch.nn.Linear(16, 5000)),
    }
    exercise_cases.assert_right_shapes(check_batch_shapes, names)


RIGHT = {
    check_batch_shapes: {
        "lists": {expression: list(shape) for expression, shape in SHAPES.items()},
        "torch.Size, in another order": {name: torch.Size(SHAPES[name]) for name in reversed(SHAPES)},
    }
}


NAMED = {
    check_batch_shapes: {
        "rounded down": SHAPES | {"columns": (250, 8)},
        "the last row with no target": SHAPES | {"batches[-1].text": (6, 8)},
        "batch first": SHAPES | {"columns": (8, 251), "first.text": (8, 35), "batches[-1].text": (8, 5)},
        "target one shorter": SHAPES | {"first.target": (34, 8), "first.target.flatten()": (272,)},
        "other axes joined": SHAPES | {"model(first.text).flatten(0, 1)": (35, 40000)},
        "target of scores": SHAPES | {"first.target.flatten()": (280, 5000)},
    }
}


test_right_code_is_accepted, test_a_learners_mistake_is_named, _ = judged_as(RIGHT, NAMED, {})
