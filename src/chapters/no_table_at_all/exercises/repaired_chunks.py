"""Repair a linear attention in chunks: it sees ahead, and its two sums do not fade as they should."""

import torch
from torch import Tensor

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _back(words: int) -> Tensor:
    """How far back each word lies from each other, below 0 for those to come, (words, words)."""
    place = torch.arange(words, device="cpu")
    return place[:, None] - place


def _inside(weights: Tensor, decay: float) -> Tensor:
    return (weights * decay ** _back(len(weights)).clamp(min=0)).tril()


def _carried(before: Tensor, keys: Tensor, faded: Tensor, decay: float) -> Tensor:
    """For state and total alike, of keys (words, d, …), and of keys that have faded to the chunk's end."""
    return decay ** len(keys) * before + faded.sum(0)


def _since(words: int, decay: float) -> Tensor:
    """What is left of the state before the chunk, at each of its words, (words, 1)."""
    return decay ** torch.arange(1, words + 1, device="cpu")[:, None]


def _chunks(
    query: Tensor, key: Tensor, value: Tensor, decay: float, chunk: int,
    *, inside: Part = _inside, state: Part = _carried, total: Part = _carried, since: Part = _since,
) -> Tensor:  # fmt: skip
    kept, summed = key.new_zeros(key.shape[1], value.shape[1]), key.new_zeros(key.shape[1])
    outputs = []
    for q, k, v in zip(*(torch.split(each, chunk) for each in (query, key, value)), strict=True):
        weights, left = inside(q @ k.T, decay), since(len(q), decay)
        outputs.append(
            (weights @ v + left * (q @ kept)) / (weights.sum(1) + left[:, 0] * (q @ summed))[:, None]
        )
        until = decay ** torch.arange(len(q) - 1, -1, -1, device="cpu")[:, None]  # (words, 1)
        pairs, faded = k[:, :, None] * v[:, None], until[:, :, None] * k[:, :, None] * v[:, None]
        kept, summed = state(kept, pairs, faded, decay), total(summed, k, until * k, decay)
    return torch.cat(outputs)  # (T, d_v)


def _both_ways(weights: Tensor, decay: float) -> Tensor:
    """The colleague's: a word to come counts like one that is as far back."""
    return weights * decay ** _back(len(weights)).abs()


def _once_a_chunk(before: Tensor, keys: Tensor, faded: Tensor, decay: float) -> Tensor:
    """The colleague's, of the state."""
    return decay * before + faded.sum(0)


def _never(before: Tensor, keys: Tensor, faded: Tensor, decay: float) -> Tensor:
    """The colleague's, of the total."""
    return before + keys.sum(0)


def _not_between(before: Tensor, keys: Tensor, faded: Tensor, decay: float) -> Tensor:
    return before + faded.sum(0)


def _not_within(before: Tensor, keys: Tensor, faded: Tensor, decay: float) -> Tensor:
    return decay ** len(keys) * before + keys.sum(0)


MISTAKES: Mistakes = {
    "still broken": (
        "All three faults are still there. Which words does a word see inside its chunk? How many steps does "
        "a chunk take, and does the total take them, too?",
        lambda *inputs: _chunks(*inputs, inside=_both_ways, state=_once_a_chunk, total=_never),
    ),
} | in_parts(
    _chunks,
    inside={
        "sees ahead": (
            "Inside a chunk, words see those behind them: `abs` lets these count. Hide them, by `tril`.",
            _both_ways,
        ),
        "itself hidden": (
            "No word sees itself inside its chunk: `tril()`, and not `tril(-1)`.",
            lambda weights, decay: _inside(weights, decay).tril(-1),
        ),
        "nothing fades inside": (
            "Inside a chunk nothing fades any more. A word that lies `back` places before counts "
            "`decay ** back`.",
            lambda weights, decay: weights.tril(),
        ),
        "the near fade": (
            "Inside a chunk the farthest word counts most. `decay ** back`, with `back` as large as the word "
            "lies far.",
            lambda weights, decay: (
                weights * decay ** (len(weights) - 1 - _back(len(weights)).clamp(min=0))
            ).tril(),
        ),
    },
    state={
        "state fades once a chunk": (
            "The state fades once for a whole chunk. A chunk has `len(q)` words, and each takes its share: "
            "`decay ** len(q)`.",
            _once_a_chunk,
        ),
        "state fades by the chunk's length alone": (
            "From chunk to chunk the state fades rightly now, and the words of the chunk itself come into it "
            "as if all were its last. Leave `until` where it was.",
            _not_within,
        ),
        "state never fades": (
            "The state no longer fades from chunk to chunk. It was right to fade, but by `decay ** len(q)`.",
            _not_between,
        ),
    },
    total={
        "total never fades": (
            "The total does not fade, and the state that it divides does. Treat both alike: `decay ** "
            "len(q)`, and `until * k`.",
            _never,
        ),
        "total fades once a chunk": (
            "The total fades once for a whole chunk: `decay ** len(q)`, as for the state.",
            _once_a_chunk,
        ),
        "total's chunk as it came": (
            "The total fades from chunk to chunk now. But a chunk's own keys come into it unfaded: `until * "
            "k`.",
            _not_within,
        ),
        "total fades within alone": (
            "A chunk's own keys fade in the total now. But from chunk to chunk it does not: `decay ** "
            "len(q)`.",
            _not_between,
        ),
    },
    since={
        "the state as it stands": (
            "Each word of a chunk finds the state before it undiminished. At its first word it has faded "
            "once, at the next twice: leave `since` where it was.",
            lambda words, decay: torch.ones(words, 1, device="cpu"),
        ),
        "one step too few": (
            "For the first word of a chunk, the state before it has faded once already: "
            "`decay ** (place + 1)`.",
            lambda words, decay: _since(words, decay) / decay,
        ),
    },
)


def _case(label: str, seed: int, words: int, decay: float, chunk: int) -> Case:
    """Features above 0."""
    query, key, value = draw(seed, (words, 2), (words, 2), (words, 3))
    return Case(label, query.abs() + 0.125, key.abs() + 0.125, value, decay, chunk)


check_repaired_chunks = Exercise(
    "repaired_chunks",
    difficulty=3,
    minutes=30,
    takes=("query", "key", "value", "decay", "chunk"),
    returns=("outputs",),
    reference=_chunks,
    cases=(
        # The broken code passes the first of these: chunks of one word, and no decay.
        _case("right for chunks of one word that nothing fades from", 21, 3, 1.0, 1),
        _case("right within one chunk", 24, 4, 0.5, 4),
        _case("right for several chunks", 27, 6, 0.5, 2),
        _case("right where the last chunk is shorter", 30, 8, 0.75, 3),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
