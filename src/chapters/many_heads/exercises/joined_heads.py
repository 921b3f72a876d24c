"""Join what the heads found."""

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from chapters.many_heads.exercises.heads import _join

check_joined_heads = Exercise(
    "joined_heads",
    difficulty=2,
    minutes=5,
    takes=("x",),
    returns=("joined",),
    reference=_join,
    cases=(
        Case("right for one word", *draw(11, (1, 2, 1, 3))),
        Case("right for three words from two heads", *draw(12, (1, 2, 3, 2))),
        Case("right for one head", *draw(13, (2, 1, 4, 3))),
        Case("right for a batch", *draw(14, (2, 3, 5, 4))),
        Case("right in float64", *draw(15, (3, 2, 4, 3), dtype=torch.float64)),
    ),
    mistakes={
        "not transposed": (
            "The shape is right and the words are mixed: reshape reads head after head. Swap heads and T "
            "first.",
            lambda x: x.reshape(len(x), x.shape[2], -1),
        ),
        "numbers woven": (
            "The heads' numbers alternate. All of head 1 comes first, then all of head 2.",
            lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        "heads from the last": (
            "The heads are joined from the last to the first.",
            lambda x: _join(x.flip(1)),
        ),
        "heads averaged": (
            "This is the mean of the heads. That was to be avoided: set them side by side.",
            lambda x: x.mean(1),
        ),
        "heads added": (
            "The heads are added up. Set them side by side: (B, T, heads · d_k).",
            lambda x: x.sum(1),
        ),
        "first head only": ("This is head 1 alone.", lambda x: x[:, 0]),
        "one below the other": (
            "The heads stand one below the other, so that there are more rows than words. Set them side by "
            "side.",
            lambda x: x.flatten(1, 2),
        ),
        "not joined": (
            "The axes are swapped, and then still four. Glue the last two together.",
            lambda x: x.transpose(1, 2),
        ),
    },
)
