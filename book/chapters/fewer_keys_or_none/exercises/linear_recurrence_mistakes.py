"""The mistakes that `check_linear_recurrence` knows by name."""

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.mistakes import Mistakes, in_parts
from chapters.fewer_keys_or_none.exercises.linear_recurrence_parts import (
    Read,
    _linear_recurrence,
    _state,
    _total,
)


def _mean_of_words(query: Tensor, key: Tensor, value: Tensor, decay: float) -> Tensor:
    """Divided by how many words there are so far."""
    sums = _linear_recurrence(query, key, value, decay, found=lambda q, now, before: q @ now.state)
    return sums / torch.arange(1, len(sums) + 1, device="cpu")[:, None]


def _sees_ahead(query: Tensor, key: Tensor, value: Tensor, decay: float) -> Tensor:
    """All is read before anything is asked."""
    now = Read(torch.zeros(1, device="cpu"), torch.zeros(1, device="cpu"))
    for its_key, its_value in zip(key, value, strict=True):
        now = Read(_state(now.state, its_key, its_value, decay, 0), _total(now.total, its_key, decay))
    return query @ now.state / (query @ now.total)[:, None]


def _table(query: Tensor, key: Tensor, value: Tensor, decay: float) -> Tensor:
    weights = (query @ key.T).tril()
    return weights @ value / weights.sum(-1, keepdim=True)


MISTAKES: Mistakes = in_parts(
    _linear_recurrence,
    state={
        "turned over": (
            "The outer product is turned over: you add `outer(v, k)`. The state has a row for each number of "
            "the key, and a column for each number of the value.",
            lambda before, key, value, decay, place: decay * before + torch.outer(value, key),
        ),
        "state not decayed": (
            "Only the sum of keys fades, and not the state. Each step multiplies both by the decay.",
            lambda before, key, value, decay, place: before + torch.outer(key, value),
        ),
        "new word fades, too": (
            "You multiply the state by the decay after adding the new word, so that the new word fades at "
            "once, and in the sum of keys it does not. The state fades first, then the word is added.",
            lambda before, key, value, decay, place: decay * (before + torch.outer(key, value)),
        ),
        "each decay only once": (
            "Each word is weighted by `decay ** t`, with its own place t, when it comes, and does not fade "
            "any more: so the newest counts least. Word s is to count `decay ** (t - s)` for word t.",
            lambda before, key, value, decay, place: before + decay**place * torch.outer(key, value),
        ),
        "nothing kept": (
            "The state is written anew at each word. Add the new word to what is there.",
            lambda before, key, value, decay, place: torch.outer(key, value),
        ),
    },
    total={
        "sum of keys not decayed": (
            "Only the state fades, and not the sum of keys that you divide by. Each step multiplies both by "
            "the decay.",
            lambda before, key, decay: before + key,
        ),
    },
    found={
        "one word late": (
            "The state is asked before the new word is added: each word misses itself, and the first finds "
            "nothing, 0 / 0. Add first, then ask.",
            lambda query, now, before: query @ before.state / (query @ before.total),
        ),
        "state one word late": (
            "The state is asked before the new word is added to it, and the sum of keys after. Add to both, "
            "then ask.",
            lambda query, now, before: query @ before.state / (query @ now.total),
        ),
        "not divided": (
            "The weights do not sum to 1: what the query finds in the state is still to be divided by "
            "query · sum of keys.",
            lambda query, now, before: query @ now.state,
        ),
        "divided by the keys alone": (
            "You divide by the sum of all numbers of the keys. The weights of this query sum to "
            "query · sum of keys.",
            lambda query, now, before: query @ now.state / now.total.sum(),
        ),
        "divided number by number": (
            "You divide the state, row by row, by the sum of keys before the query is asked. It is the whole "
            "that is divided: query · state, by query · sum of keys.",
            lambda query, now, before: query @ (now.state / now.total[:, None]),
        ),
    },
) | {
    "a table": (
        "You make a table of T × T numbers, and that is what is to be done without. Go from word to word, "
        "and keep a state of d × d_v numbers.",
        _table,
    ),
    "decay lost": (
        "Nothing fades: the decay is never used. Each step multiplies the state and the sum of keys by it.",
        lambda query, key, value, decay: _linear_recurrence(query, key, value, 1.0),
    ),
    "sees ahead": (
        "All words are added up before the first query is asked: so each sees those behind it. Ask after "
        "each word.",
        _sees_ahead,
    ),
    "divided by words": (
        "You divide by the number of words so far. The weights sum to query · sum of keys.",
        _mean_of_words,
    ),
    "features of features": (
        "You take elu + 1 of query and key, and they are features already.",
        lambda query, key, value, decay: _linear_recurrence(F.elu(query) + 1, F.elu(key) + 1, value, decay),
    ),
}
