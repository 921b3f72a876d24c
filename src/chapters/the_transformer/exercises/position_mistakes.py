"""What goes wrong with a table of positions, and where it is added."""

import math

import torch

from bookkit.checking.mistakes import Mistakes
from chapters.the_transformer.exercises.filled import _WIDTH
from chapters.the_transformer.exercises.whole_model import _placed, _table, _woven

_PLACED: Mistakes = {
    "no positions": (
        "No position is added: words are told apart by what they are, and not by where they stand.",
        lambda vectors, table: vectors,
    ),
    "positions scaled as well": (
        "The positions are multiplied by √d_model along with the words. Scale first, and then add.",
        lambda vectors, table: vectors + table * math.sqrt(_WIDTH),
    ),
    "positions multiplied": (
        "The positions are multiplied with the words. They are added.",
        lambda vectors, table: vectors * table,
    ),
    "positions of the texts": (
        "The positions count the texts of the batch, size(0), and not the words of a text, size(1). (In "
        "recipes whose batch is the second axis, it is the other way round.)",
        lambda vectors, table: vectors + _placed(len(vectors))[:, None],
    ),
}


_TABLES: Mistakes = {
    "sines, then cosines": (
        "All sines come first, and then all cosines. Here they take turns: sine and cosine of one angle are "
        "neighbours.",
        lambda length: torch.cat([_table(length).sin(), _table(length).cos()], dim=-1),
    ),
    "sines everywhere": (
        "There are sines in the odd columns, too. They hold the cosines of the same angles.",
        lambda length: _woven(_table(length).sin(), _table(length).sin()),
    ),
    "cosines first": (
        "Sine and cosine have changed places: the even columns hold sines.",
        lambda length: _woven(_table(length).cos(), _table(length).sin()),
    ),
    "counted from 1": (
        "Your first word stands at position 1. Positions are counted from 0.",
        lambda length: _woven(_table(length, start=1).sin(), _table(length, start=1).cos()),
    ),
    "an exponent for each column": (
        "Each column has an angle of its own, position / 10000^(column / d_model). The two of a pair share "
        "one, that of the even column.",
        lambda length: torch.where(
            torch.arange(_WIDTH, device="cpu") % 2 == 0,
            _table(length, torch.arange(_WIDTH, device="cpu") / _WIDTH).sin(),
            _table(length, torch.arange(_WIDTH, device="cpu") / _WIDTH).cos(),
        ),
    ),
    "half the exponent": (
        "The exponents go up by 1 / d_model from pair to pair. They go up by 2 / d_model: 2i / d_model for "
        "pair i.",
        lambda length: _woven(
            *(
                wave(_table(length, torch.arange(_WIDTH // 2, device="cpu") / _WIDTH))
                for wave in (torch.sin, torch.cos)
            )
        ),
    ),
    "twice 2": (
        "The exponents go up by 4 / d_model: arange(0, d_model, 2) counts by twos, and you take it twice.",
        lambda length: _woven(*(wave(_table(length, base=1e8)) for wave in (torch.sin, torch.cos))),
    ),
    "angles multiplied": (
        "The positions are multiplied by 10000^(2i / d_model), so that the angles run away. Divide.",
        lambda length: _woven(_table(length, base=1e-4).sin(), _table(length, base=1e-4).cos()),
    ),
}
