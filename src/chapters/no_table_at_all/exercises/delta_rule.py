"""Write only what is missing, into a state that fades."""

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.today.state import gated_delta
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part, in_parts


def _faded(before: Tensor, keep: Tensor) -> Tensor:
    return keep * before


def _written(
    state: Tensor, key: Tensor, value: Tensor, share: Tensor, query: Tensor, before: Tensor
) -> Tensor:
    return state + share * torch.outer(key, value - key @ state)


def _asked(query: Tensor, key: Tensor, state: Tensor, before: Tensor) -> Tensor:
    return query @ state


def _delta_rule(
    query: Tensor, key: Tensor, value: Tensor, kept: Tensor, share: Tensor,
    *, faded: Part = _faded, written: Part = _written, asked: Part = _asked,
    last: Part = lambda state, keep: state,
) -> Tensor:  # fmt: skip
    """What each word finds, (T, d_v), by the gated delta rule."""
    state, outputs = key.new_zeros(key.shape[-1], value.shape[-1]), []
    for q, k, v, keep, part in zip(query, key, value, kept, share, strict=True):
        before = state
        state = last(written(faded(before, keep), k, v, part, q, before), keep)
        outputs.append(asked(q, k, state, before))
    return torch.stack(outputs)


MISTAKES: Mistakes = in_parts(
    _delta_rule,
    faded={
        "nothing fades": (
            "The state never fades: `kept` is not used. Each word first multiplies the state by its own.",
            lambda before, keep: before,
        ),
        "what fades is kept": (
            "You multiply the state by 1 − kept. What is kept is what stays: `kept` itself.",
            lambda before, keep: (1 - keep) * before,
        ),
    },
    written={
        "all of it written": (
            "You write the whole value, whatever the key already brings. What is missing is the value less "
            "what the key finds: v − k S.",
            lambda state, key, value, share, query, before: state + share * torch.outer(key, value),
        ),
        "missing before it faded": (
            "What is missing is worked out from the state before it faded. Let it fade first, then look up "
            "what the key brings.",
            lambda state, key, value, share, query, before: (
                state + share * torch.outer(key, value - key @ before)
            ),
        ),
        "looked up by the query": (
            "You look up by the query what is there already. A value belongs to its key: v − k S.",
            lambda state, key, value, share, query, before: (
                state + share * torch.outer(key, value - query @ state)
            ),
        ),
        "the share forgotten": (
            "You write all that is missing: `share` is not used.",
            lambda state, key, value, share, query, before: state + torch.outer(key, value - key @ state),
        ),
        "a share of the value alone": (
            "The share applies to the value, and not to what is taken off: write share · (v − k S).",
            lambda state, key, value, share, query, before: (
                state + torch.outer(key, share * value - key @ state)
            ),
        ),
        "a share of what is taken off alone": (
            "The share applies to what is taken off, and not to the value: write share · (v − k S).",
            lambda state, key, value, share, query, before: (
                state + torch.outer(key, value - share * (key @ state))
            ),
        ),
        "added in place of taken off": (
            "You add what the key brings to the value. It is taken off: v − k S.",
            lambda state, key, value, share, query, before: (
                state + share * torch.outer(key, value + key @ state)
            ),
        ),
        "turned over": (
            "The outer product is turned over. The state has a row for each number of the key, and a column "
            "for each number of the value: `outer(k, …)`.",
            lambda state, key, value, share, query, before: (
                state + share * torch.outer(value - key @ state, key)
            ),
        ),
        "written over": (
            "The state is written anew at each word. Add to what is left of it.",
            lambda state, key, value, share, query, before: share * torch.outer(key, value - key @ state),
        ),
    },
    asked={
        "one word late": (
            "The state is asked before the word has written: each word misses itself. Write first, then ask.",
            lambda query, key, state, before: query @ before,
        ),
        "asked by the key": (
            "It is the key that asks. The key writes; the query asks.",
            lambda query, key, state, before: key @ state,
        ),
    },
    last={
        "new word fades, too": (
            "You multiply the state by `kept` once more after writing, so that the new word fades at once.",
            lambda state, keep: keep * state,
        ),
    },
) | {
    "faded after writing": (
        "You write first and let the state fade afterwards, the new word with it. Fade first, then write.",
        lambda *inputs: _delta_rule(
            *inputs, faded=lambda before, keep: before, last=lambda state, keep: keep * state
        ),
    ),
    "gates exchanged": (
        "`kept` and `share` have changed places: kept is what stays of the state, share what is written.",
        lambda query, key, value, kept, share: _delta_rule(query, key, value, share, kept),
    ),
    "query and key exchanged": (
        "Query and key have changed places. The key writes, and the query asks.",
        lambda query, key, value, kept, share: _delta_rule(key, query, value, kept, share),
    ),
}


def _words(label: str, seed: int, words: int, d: int, d_v: int, *, gates: bool) -> Case:
    """Keys of length 1. Without gates all is kept, and all that is missing is written."""
    query, key, value = draw(seed, (words, d), (words, d), (words, d_v))
    kept, share = (each.abs() / 4 + 0.25 for each in draw(seed + 3, (words,), (words,)))
    if not gates:
        kept, share = torch.ones_like(kept), torch.ones_like(share)
    return Case(label, query, F.normalize(key + 0.0625, dim=-1), value, kept, share)


check_delta_rule = Exercise(
    "delta_rule",
    difficulty=2,
    minutes=20,
    takes=("query", "key", "value", "kept", "share"),
    returns=("outputs",),
    reference=_delta_rule,
    cases=(
        _words("right where all is kept, and all that is missing written", 61, 3, 2, 2, gates=False),
        _words("right with gates", 67, 4, 2, 2, gates=True),
        _words("right where values have another width", 73, 6, 3, 2, gates=True),
    ),
    mistakes=MISTAKES,
    without=(gated_delta,),
    trainable=False,  # gradients would bring a remark on loops, and a loop is what is asked for
)
