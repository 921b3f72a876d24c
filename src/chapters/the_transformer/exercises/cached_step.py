"""Write one step of an attention that keeps its keys and values."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor

from attnlab.shapes import Mask
from bookkit.checking.answers import LARGE, Answer, WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts
from bookkit.checking.mistakes.causal import CAUSAL, causal_weights, under
from bookkit.checking.mistakes.weighing import DIVISORS, softmax

Kept: TypeAlias = tuple[Tensor, Tensor]  # the keys (B, t, d) and the values (B, t, d) of t words


def _behind(kept: Kept, new: Kept) -> Kept:
    return torch.cat([kept[0], new[0]], dim=1), torch.cat([kept[1], new[1]], dim=1)


def _step(
    words: Tensor,
    kept: Kept,
    table: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    *,
    place: Part = lambda table, before, n: table[before : before + n],
    ask: Part = lambda x, words: x,
    new: Part = lambda x, words, w_k, w_v: (x @ w_k, x @ w_v),
    store: Part = _behind,
    read: Part = lambda stored, kept, new, w_k, w_v: stored,
    divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
    weigh: Part = causal_weights,
    keep: Part = lambda stored, kept, new: stored,
) -> tuple[Tensor, Kept]:
    """The next n words through one attention, in parts that can be mistaken."""
    x = words + place(table, kept[0].shape[1], words.shape[1])  # (B, n, d)
    added = new(x, words, w_k, w_v)
    stored = store(kept, added)
    query, (keys, values) = ask(x, words) @ w_q, read(stored, kept, added, w_k, w_v)
    return weigh(query @ keys.mT / divisor(query, keys)) @ values, keep(stored, kept, added)


def _corner(n: int, m: int) -> Mask:
    return torch.ones(n, m, dtype=torch.bool, device="cpu").tril()


ELSEWHERE = (
    "It answers otherwise when another text comes between the pieces: something is kept in a list or an "
    "attribute outside. All that it may know of the words before is in `kept`."
)


def _from_a_list() -> Callable[..., tuple[Tensor, Kept]]:
    """A step that keeps the words itself, from where a text begins."""
    pieces: list[Tensor] = []

    def step(words: Tensor, kept: Kept, *more: Tensor) -> tuple[Tensor, Kept]:
        if kept[0].shape[1] == 0:
            pieces.clear()
        pieces.append(words)
        outputs, stored = _step(torch.cat(pieces, dim=1), (words[:, :0],) * 2, *more)
        return outputs[:, -words.shape[1] :], stored

    return step


MISTAKES: Mistakes = in_parts(
    _step,
    place={
        "every step at position 0": (
            "Each piece begins at position 0 again. The first of these words stands behind all that is "
            "stored: at position keys.shape[1].",
            lambda table, before, n: table[:n],
        ),
        "one position too far": (
            "Each word stands one position too far. The first word of all is at 0.",
            lambda table, before, n: table[before + 1 : before + 1 + n],
        ),
        "one place for the piece": (
            "All words of a piece stand at one position, that of its first. They stand one behind the other.",
            lambda table, before, n: table[before : before + 1],
        ),
        "no positions": (
            "No positions are added.",
            lambda table, before, n: 0 * table[:n],
        ),
    },
    ask={
        "positions not asked": (
            "The queries come from the words without their positions. Use the same as for the keys.",
            lambda x, words: words,
        ),
    },
    new={
        "keys for values": (
            "The values are the keys once more. They come from w_v.",
            lambda x, words, w_k, w_v: (x @ w_k, x @ w_k),
        ),
        "matrices swapped": (
            "w_k and w_v have changed places.",
            lambda x, words, w_k, w_v: (x @ w_v, x @ w_k),
        ),
        "positions not stored": (
            "Keys and values come from the words without their positions. Add these first.",
            lambda x, words, w_k, w_v: (words @ w_k, words @ w_v),
        ),
        "positions not in the values": (
            "The values come from the words without their positions. Add these first, as for the keys.",
            lambda x, words, w_k, w_v: (x @ w_k, words @ w_v),
        ),
        "positions not in the keys": (
            "The keys come from the words without their positions. Add these first, as for the values.",
            lambda x, words, w_k, w_v: (words @ w_k, x @ w_v),
        ),
    },
    store={
        "new words in front": (
            "The new keys and values stand before the old ones. They belong behind.",
            lambda kept, new: _behind(new, kept),
        ),
        "stored twice": (
            "What is new is stored twice, and the cache grows by two for each word.",
            lambda kept, new: tuple(
                torch.cat([old, added, added], dim=1) for old, added in zip(kept, new, strict=True)
            ),
        ),
        "the keys alone": (
            "The new keys are stored behind the old ones, and the new values in their place.",
            lambda kept, new: (torch.cat([kept[0], new[0]], dim=1), new[1]),
        ),
    },
    read={
        "old words not read": (
            "What is stored is not read: the new words see each other alone. Query all keys so far.",
            lambda stored, kept, new, w_k, w_v: new,
        ),
        "new words not read": (
            "The new words see what was stored before them, and not themselves.",
            lambda stored, kept, new, w_k, w_v: kept,
        ),
        "projected again": (
            "What is stored goes through w_k and w_v again at every step. It has been.",
            lambda stored, kept, new, w_k, w_v: (
                torch.cat([kept[0] @ w_k, new[0]], dim=1),
                torch.cat([kept[1] @ w_v, new[1]], dim=1),
            ),
        ),
    },
    weigh=but(CAUSAL, "no mask", "softmax over the heads")
    | {
        "no mask": (
            "Right word by word; but in a longer piece a word sees those behind it. Hide them.",
            softmax,
        ),
        "mask from the first key on": (
            "The mask begins at the first key: a new word sees few of the stored ones. The last query "
            "sees the last key: tril(m - n). (is_causal=True has the same fault.)",
            lambda scores: under(_corner(*scores.shape[-2:]), scores),
        ),
        "square mask": (
            "The mask is (n, n), and there are more keys than queries: it has a column for each key.",
            lambda scores: under(_corner(scores.shape[-2], scores.shape[-2]), scores),
        ),
        "mask of the whole text": (
            "The mask has a row for every word so far, and there are fewer queries: take its last n.",
            lambda scores: under(_corner(scores.shape[-1], scores.shape[-1]), scores),
        ),
    },
    divisor=but(
        DIVISORS,
        "root of the first axis",
        "root of the second axis",
        "root of every element",
        "root of d_model",
        "rounded root",
    ),
    keep={
        "not stored": (
            "The cache comes back as it was: the new keys and values are used, and not kept.",
            lambda stored, kept, new: kept,
        ),
        "new ones kept alone": (
            "Only the newest keys and values are kept, and the older ones forgotten.",
            lambda stored, kept, new: new,
        ),
        "pair swapped": (
            "Keys and values come back in the wrong order.",
            lambda stored, kept, new: stored[::-1],
        ),
    },
) | {
    "words stored": (
        "The outputs are right. But what is stored are the words themselves, so that each goes through "
        "w_k and w_v again at every step. Project first, and store what comes out.",
        lambda words, kept, table, w_q, w_k, w_v: _step(
            words,
            kept,
            table,
            w_q,
            w_k,
            w_v,
            new=lambda x, words, w_k, w_v: (x, x),
            read=lambda stored, kept, new, w_k, w_v: (stored[0] @ w_k, stored[1] @ w_v),
        ),
    ),
    "bare words stored": (
        "The outputs are right. But what is stored are the words without their positions, so that all is "
        "computed anew at every step. Store the keys and values that come out.",
        lambda words, kept, table, w_q, w_k, w_v: (
            _step(torch.cat([kept[0], words], dim=1), (words[:, :0],) * 2, table, w_q, w_k, w_v)[0][
                :, -words.shape[1] :
            ],
            _behind(kept, (words, words)),
        ),
    ),
    "all projected again": (
        "Stored keys and values go through w_k and w_v once more at every step, and are stored like "
        "that. Project the new words alone, and set what comes out behind the others.",
        lambda words, kept, table, w_q, w_k, w_v: _step(
            words,
            (kept[0] @ w_k, kept[1] @ w_v),
            table,
            w_q,
            w_k,
            w_v,
        ),
    ),
    "kept elsewhere": (ELSEWHERE, _from_a_list()),
    "matrices turned": (
        "The matrices are turned: F.linear multiplies by weight.T. Here it is x @ w_q.",
        lambda words, kept, table, *matrices: _step(words, kept, table, *(each.mT for each in matrices)),
    ),
}


class _Cached:
    """A text on its way through the reader's step, with what is kept of it."""

    def __init__(self, work: Any, text: Tensor, table: Tensor, matrices: Sequence[Tensor]) -> None:
        self.work, self.more = work, (table, *matrices)
        self.outputs: list[Tensor] = []
        self.kept: tuple[Tensor, Tensor] = text[:, :0], text[:, :0]

    def read(self, words: Tensor) -> None:
        came = returned(self.work(words, self.kept, *self.more))
        try:
            output, (keys, values) = came
            for part in (output, keys, values):
                if not isinstance(part, Tensor) or part.dim() != 3 or part.numel() > LARGE:
                    raise TypeError
        except (TypeError, ValueError):
            raise WrongTypeError("Return the output, (B, n, d), and a pair: all keys, all values.") from None
        self.outputs.append(output)
        self.kept = keys, values

    @property
    def found(self) -> Answer:
        return torch.cat(self.outputs, dim=1), *self.kept


def _stepped(work: Any, text: Tensor, pieces: tuple[int, ...], table: Tensor, *matrices: Tensor) -> Answer:
    """What the reader's step makes of a text that is given to it piece by piece."""
    copies = text.clone(), table.clone(), tuple(matrix.clone() for matrix in matrices)
    alone = _Cached(work, text, table, matrices)
    for words in torch.split(text, list(pieces), dim=1):
        alone.read(words)
    # Once more, with another text in turn: what is kept anywhere but in `kept` is then the other's, too.
    one, other = _Cached(work, *copies), _Cached(work, *copies)
    for words in torch.split(copies[0], list(pieces), dim=1):
        one.read(words)
        other.read(-words)
    if not all(map(_equal, alone.found, one.found)):
        raise WrongTypeError(ELSEWHERE)
    return alone.found


def _equal(first: Tensor, second: Tensor) -> bool:
    return first.shape == second.shape and torch.equal(first.nan_to_num(), second.nan_to_num())


def _piecewise(label: str, seed: int, batch: int, *pieces: int, **more: Any) -> Case:
    d, length = 4, sum(pieces)
    text, table, *matrices = draw(seed, (batch, length, d), (length + 2, d), *[(d, d)] * 3, **more)
    return Case(label, text, pieces, table, *(matrix / 2 for matrix in matrices))


check_cached_step = Exercise(
    "cached_step",
    difficulty=3,
    minutes=25,
    takes=("words", "pieces", "table", "w_q", "w_k", "w_v"),
    returns=("outputs", "keys", "values"),
    reference=_step,
    ask=_stepped,
    trainable=False,
    cases=(
        _piecewise("right for the first word", 71, 1, 1),
        _piecewise("right word by word", 72, 1, 1, 1, 1),
        _piecewise("right for a text at once", 73, 2, 4),
        _piecewise("right for a beginning, and then word by word", 74, 2, 3, 1, 1),
        _piecewise("right in pieces", 75, 2, 2, 3, 1, 2),
        _piecewise("right in float64", 76, 2, 1, 2, 2, dtype=torch.float64),
    ),
    mistakes=MISTAKES,
)
