"""Cut words into heads."""

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes.heads import SPLITTING
from chapters.many_heads.exercises.heads import _split

check_split_heads = Exercise(
    "split_heads",
    difficulty=2,
    minutes=5,
    takes=("x", "heads"),
    returns=("pieces",),
    reference=_split,
    cases=(
        Case("right for one word", *draw(1, (1, 1, 4)), 2),
        Case("right for three words in two heads", *draw(2, (1, 3, 4)), 2),
        Case("right for one head", *draw(3, (2, 3, 4)), 1),
        Case("right for a batch", *draw(5, (2, 5, 12)), 3),
        Case("right in float64", *draw(6, (3, 4, 6), dtype=torch.float64), 3),
    ),
    mistakes=SPLITTING
    | {
        "heads in front": (
            "The heads stand before the batch. The batch is first: (B, heads, T, d_k).",
            lambda x, heads: _split(x, heads).transpose(0, 1),
        ),
        "heads and width swapped": (
            "The last two axes have changed places: a head's rows are words, and its columns numbers.",
            lambda x, heads: _split(x, heads).mT,
        ),
        "batch and heads in one": (
            "Batch and heads are one axis with you. Keep them apart: (B, heads, T, d_k).",
            lambda x, heads: _split(x, heads).flatten(0, 1),
        ),
    },
)
