"""An experiment: train to_query and to_key with as few columns as the games can be won with."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.queries_keys_and_values_that_learn.exercises.narrowest_heads_mistakes import MISTAKES
from chapters.queries_keys_and_values_that_learn.exercises.narrowest_heads_parts import _circle, _laid_out
from chapters.queries_keys_and_values_that_learn.exercises.projected_attention import _is_pair

NAMES = {6: "six", 8: "eight"}


def _games(games: int, names: int, seed: int) -> tuple[Tensor, Tensor]:
    """Words (games, names, 3 · names), and the place of the one that each chases, (games, names)."""
    source = generator(seed)
    name, ring = (torch.rand(games, names, generator=source, device="cpu").argsort(-1) for _ in range(2))
    chased = ring.scatter(-1, ring, ring.roll(-1, -1))
    scarf = torch.randint(names, (games, names), generator=source, device="cpu")
    facts = [name, name.gather(-1, chased), scarf]
    return torch.cat([one_hot(fact, names) for fact in facts], dim=-1).float(), chased


def _width_and_finds(train: Callable[..., Any], words: Tensor, chased: Tensor, names: int) -> Any:
    """Whether what `train(words, chased)` returns has less than 2 columns or more, and whom it finds."""
    pair = returned(train(words, chased))
    if not _is_pair(pair):
        for part in pair if isinstance(pair, tuple | list) else ():
            returned(part)
        raise WrongTypeError("Return two matrices, to_query and to_key.")
    to_query, to_key = (matrix.detach() for matrix in pair)
    rows = 3 * names
    if to_query.dim() != 2 or to_query.shape != to_key.shape or len(to_query) != rows:
        shapes = f"{tuple(to_query.shape)} and {tuple(to_key.shape)}"
        raise WrongTypeError(
            f"to_query and to_key must both be ({rows}, d_k) for {NAMES[names]} names; got {shapes}."
        )
    words, chased = _games(500, names, seed=10**6)
    words = words.to(to_query.dtype)
    best = (words @ to_query @ (words @ to_key).mT).argmax(-1)
    themselves = torch.arange(names, device="cpu").expand_as(best)
    found, oneself, chaser = (
        (best == who).double().mean().item() for who in (chased, themselves, chased.argsort(-1))
    )
    if found >= 0.9:
        finds = 4
    elif oneself >= 0.5:
        finds = 1
    elif chaser >= 0.5:
        finds = 2
    else:
        # One number finds two names of all, guessing one.
        finds = 3 if found > 1.6 / names else 0
    # A pair that does not find whom it should has a fault that comes before its width.
    columns = (to_query.shape[-1] > 2) - (to_query.shape[-1] < 2) if finds >= 3 else 0
    return columns, finds


check_narrowest_heads = Exercise(
    "narrowest_heads",
    difficulty=3,
    minutes=40,
    takes=("words", "chased", "names"),
    returns=("columns", "finds"),
    reference=_laid_out(_circle),
    ask=_width_and_finds,
    again=False,
    meanings={
        "columns": {-1: "too few", 0: "as few as can be", 1: "more than it takes"},
        "finds": {
            0: "anyone, by chance",
            1: "itself",
            2: "the one that chases it",
            3: "some, not all, of those that are chased",
            4: "the one that it chases",
        },
    },
    trainable=False,
    cases=(
        Case("finds six animals, with as few columns as can be", *_games(2000, 6, seed=1), 6),
        Case("finds eight animals, with as few columns as can be", *_games(2000, 8, seed=2), 8),
    ),
    mistakes=MISTAKES,
)
