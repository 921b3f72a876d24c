"""The mistakes that `check_cached_step` knows by name."""

from collections.abc import Callable

import torch
from torch import Tensor

from attnlab.shapes import Mask
from bookkit.checking.mistakes import Mistakes, but, in_parts
from bookkit.checking.mistakes.causal import CAUSAL, under
from bookkit.checking.mistakes.weighing import DIVISORS, softmax
from chapters.the_transformer.exercises.cached_step_parts import Kept, _behind, _step


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
