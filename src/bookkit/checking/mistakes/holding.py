"""Mistakes of holding a tensor, and of counting its bytes."""

from functools import partial

from torch import nn

from bookkit.checking.mistakes import Mistakes

# --- how a module holds a tensor that no gradient decides on: tensor -> what is assigned --------------

HOLDING: Mistakes = {
    "plain tensor": (
        "The tensor is a plain attribute, so it stays behind when the model moves, and is in no file. Which "
        "method puts it into a drawer?",
        lambda tensor: tensor,
    ),
    "parameter": (
        "The tensor is a parameter, for training to change. No gradient decides what is in it: use a buffer.",
        nn.Parameter,
    ),
    "frozen parameter": (
        "A frozen parameter is counted, saved, and trained as soon as someone thaws the model. No gradient "
        "decides what is in it: a buffer is on no such list.",
        partial(nn.Parameter, requires_grad=False),
    ),
}

# --- bytes counted as something else: the right number of bytes -> another ------------------------

BYTES: Mistakes = {
    "bits": ("These are bits: a byte has eight of them.", lambda right: 8 * right),
    "kilobytes": ("These are kilobytes. Asked for are bytes.", lambda right: right / 1e3),
    "megabytes": ("These are megabytes. Asked for are bytes.", lambda right: right / 1e6),
}
