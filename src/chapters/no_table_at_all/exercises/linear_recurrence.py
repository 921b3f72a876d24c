"""Carry a state from word to word, in the place of a table of all pairs."""

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_parts


class Read(NamedTuple):
    """`Read(state, total)` is what is kept of the words so far: (d, d_v) and (d,)."""

    state: Tensor
    total: Tensor


def _state(before: Tensor, key: Tensor, value: Tensor, decay: float, place: int) -> Tensor:
    return decay * before + torch.outer(key, value)


def _total(before: Tensor, key: Tensor, decay: float) -> Tensor:
    return decay * before + key


def _found(query: Tensor, now: Read, before: Read) -> Tensor:
    return query @ now.state / (query @ now.total)


def _linear_recurrence(
    query: Tensor, key: Tensor, value: Tensor, decay: float,
    *, state: Part = _state, total: Part = _total, found: Part = _found,
) -> Tensor:  # fmt: skip
    """What each word finds in a state that is added to word by word, (T, d_v)."""
    now = Read(key.new_zeros(key.shape[-1], value.shape[-1]), key.new_zeros(key.shape[-1]))
    outputs = []
    for place, (one, its_key, its_value) in enumerate(zip(query, key, value, strict=True)):
        before, now = (
            now,
            Read(state(now.state, its_key, its_value, decay, place), total(now.total, its_key, decay)),
        )
        outputs.append(found(one, now, before))
    return torch.stack(outputs)


class _Tables(TorchFunctionMode):
    """`with _Tables(words) as made:` sees whether any result has the words on two of its axes."""

    def __init__(self, words: int) -> None:
        super().__init__()
        self.words, self.found = words, False

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        result = function(*args, **kwargs or {})
        if isinstance(result, Tensor):
            self.found |= result.shape.numel() > 0 and list(result.shape).count(self.words) > 1
        return result


def without_a_table(work: Part, query: Tensor, *more: Any) -> Any:
    """`without_a_table(work, query, key, value, decay)` is its answer, unless it makes a table on the way."""
    with _Tables(len(query)) as made:
        answer = work(query, *more)
    if made.found:
        raise WrongTypeError(f"It makes a table of T × T numbers, here {len(query)} × {len(query)}.")
    return answer


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
            "The state does not fade. Each step multiplies it by the decay, and the sum of keys as well.",
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
        )
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
    "query and key exchanged": (
        "Query and key have changed places. Keys go into the state, and the query asks it.",
        lambda query, key, value, decay: _linear_recurrence(key, query, value, decay),
    ),
    "faded twice": (
        "The decay is applied twice in each step. Once is enough: a word one step back counts `decay`.",
        lambda query, key, value, decay: _linear_recurrence(query, key, value, decay**2),
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


def _words(label: str, seed: int, words: int, d: int, d_v: int, decay: float) -> Case:
    """Features are above 0, and words are more than numbers in a vector: a state is no table of words."""
    query, key, value = draw(seed, (words, d), (words, d), (words, d_v))
    return Case(label, query.abs() + 0.125, key.abs() + 0.125, value, decay)


check_linear_recurrence = Exercise(
    "linear_recurrence",
    difficulty=3,
    minutes=25,
    takes=("query", "key", "value", "decay"),
    returns=("outputs",),
    reference=_linear_recurrence,
    ask=without_a_table,
    cases=(
        _words("right where nothing is forgotten", 41, 4, 2, 2, 1.0),
        _words("right with a decay", 44, 5, 2, 2, 0.5),
        _words("right with a decay", 47, 6, 3, 3, 0.75),
        _words("right where values have another width", 50, 7, 3, 2, 0.5),
        _words("right for many words", 53, 40, 4, 3, 0.9),
        # 0.5 ** -140 is infinite in float32: who divides by what has faded loses it all.
        _words("right for many words", 56, 140, 2, 2, 0.5),
    ),
    mistakes=MISTAKES,
    trainable=False,  # gradients would bring a remark on loops, and a loop is what is asked for
)
