"""The mistakes that `check_gpt_start` knows by name."""

import math
from functools import partial

from torch import Tensor, nn

from attnlab.transformer import GPT
from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.a_gpt_of_your_own.exercises.gpt_start_parts import _normal, _start


def _left(weight: Tensor) -> None:
    """As it was."""


def _drawn_too(weight: Tensor) -> None:
    _normal(weight, 0.02)


def _scaled(layers: int) -> float:
    return 0.02 / math.sqrt(2 * layers)


def _xavier(weight: Tensor, spread: float) -> None:
    nn.init.xavier_normal_(weight)


def _alike(layers: int, place: int, owner: str) -> float:
    return 0.02


def _while_recorded(model: GPT) -> None:
    for weight in model.parameters():
        weight.normal_(std=0.02)


def _into_copies(model: GPT) -> None:
    for weight in model.parameters():
        _normal(weight.detach().clone(), 0.02)


MISTAKES: Mistakes = in_parts(
    _start,
    writer={
        "writers not scaled": (
            "The matrices that write to the stream, attention.write and narrow, are drawn like the others. "
            "What they write adds up, 2 · layers times: divide their 0.02 by √(2 · layers).",
            _alike,
        ),
        "root of layers": (
            "You divide by √layers. Every layer writes to the stream twice, its attention and its network: "
            "√(2 · layers).",
            lambda layers, place, owner: 0.02 / math.sqrt(layers),
        ),
        "without the root": (
            "You divide by 2 · layers. It is variances that add up, so the spread is divided by the root of "
            "that: √(2 · layers).",
            lambda layers, place, owner: 0.02 / (2 * layers),
        ),
        "multiplied": (
            "You multiply by √(2 · layers). What adds up must be drawn smaller: divide.",
            lambda layers, place, owner: 0.02 * math.sqrt(2 * layers),
        ),
        "by depth": (
            "You divide by how many writes came before. All that write are drawn alike, with the number of "
            "all the layers: len(model.blocks).",
            lambda layers, place, owner: _scaled(place + 1),
        ),
        "narrow forgotten": (
            "attention.write is right, and narrow is drawn like the matrices that read. What narrow gives is "
            "added to the stream, too.",
            lambda layers, place, owner: _scaled(layers) if owner == "write" else 0.02,
        ),
        "attention.write forgotten": (
            "narrow is right, and attention.write is drawn like the matrices that read. What it gives is "
            "added to the stream, too.",
            lambda layers, place, owner: _scaled(layers) if owner == "narrow" else 0.02,
        ),
    },
    reader={
        "all matrices scaled": (
            "The matrices that read the stream, attention.project and widen, are scaled down as well. Only "
            "what is added to the stream adds up: they keep 0.02.",
            _scaled,
        ),
    },
    table={
        "tables scaled": (
            "The tables are scaled down as well. They are not added up by the layers: they keep 0.02.",
            _scaled,
        ),
        "tables left": (
            "The tables, pieces and places, are still PyTorch's, with spread 1: an nn.Embedding is no "
            "nn.Linear. Draw them with 0.02 like the rest.",
            lambda layers: None,
        ),
    },
    draw={
        "variance for spread": (
            "You take 0.02 for the variance. It is the spread, the standard deviation: no root.",
            lambda weight, spread: _normal(weight, spread * math.sqrt(0.02) / 0.02),
        ),
        "spread 1": (
            "The spread of what you draw is 1, as that of randn and normal_ is unless told. (The second "
            "argument of nn.init.normal_ is the mean.) Say std=0.02.",
            lambda weight, spread: nn.init.normal_(weight, spread),
        ),
        "uniform": (
            "You draw evenly from -0.02 to 0.02. GPT-2 draws from a normal distribution, with std=0.02.",
            lambda weight, spread: nn.init.uniform_(weight, -spread, spread),
        ),
        "Xavier's": (
            "You draw all matrices and tables as Xavier Glorot does, with a spread that hangs on the sizes. "
            "GPT-2's is 0.02, whatever the size.",
            _xavier,
        ),
    },
    bias={
        "biases left": (
            "The biases are still those that PyTorch drew. Set them to 0.",
            _left,
        ),
        "biases drawn": (
            "You draw the biases, too. Set them to 0: a weight of one axis is no matrix.",
            _drawn_too,
        ),
    },
    norm={
        "norms drawn": (
            "You draw the weights of the norms, too, and next to nothing gets through them. They are 1: a "
            "name that ends in “weight” need not be a matrix's. Look at weight.dim(), too.",
            _drawn_too,
        ),
        "norms at 0": (
            "You set the weights of the norms to 0, and nothing gets through them. They are 1, and only "
            "their biases 0.",
            nn.init.zeros_,
        ),
    },
) | {
    "the others scaled": (
        "The wrong ones are scaled: the matrices that read, attention.project and widen. It is those that "
        "write to the stream: attention.write and narrow.",
        partial(_start, reader=_scaled, writer=_alike),
    ),
    "Xavier's for the matrices": (
        "You draw the matrices as Xavier Glorot does, with a spread that hangs on their sizes. Theirs is "
        "0.02 as well, whatever the size, and smaller for those that write.",
        partial(_start, draw=_xavier, draw_table=_normal),
    ),
    "everything drawn alike": (
        "Every weight is drawn alike, biases and norms as well. Go by the names, or by weight.dim(): biases "
        "are 0, the norms' weights 1, and what writes to the stream is drawn smaller.",
        partial(_start, writer=_alike, bias=_drawn_too, norm=_drawn_too, norm_bias=_drawn_too),
    ),
    "biases and norms drawn": (
        "You draw the biases and the norms as well. Biases are 0, and the norms' weights 1: only what has "
        "two axes is drawn.",
        partial(_start, bias=_drawn_too, norm=_drawn_too, norm_bias=_drawn_too),
    ),
    "nothing drawn": (
        "The weights are what they were. Draw into them, in place, as nn.init's functions do: a new tensor "
        "under an old name changes no model.",
        _into_copies,
    ),
    "drawn while recorded": (
        "PyTorch forbids writing into a weight while it records gradients. Write `with torch.no_grad():`, or "
        "let nn.init do it.",
        _while_recorded,
    ),
}
