"""The exercises of “Many heads”, from counting to a whole layer."""

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.masks import causal, combine, padding
from attnlab.shapes import Mask, Scores, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts
from bookkit.checking.mistakes.heads import JOINING, SPLITTING
from bookkit.checking.mistakes.weighing import DIVISORS, softmax

# --- count the parameters -------------------------------------------------------------------------


def _parameters(d_model: int, heads: int, bias: bool) -> int:
    return 4 * (d_model**2 + bias * d_model)


check_multi_head_parameters = Exercise(
    "multi_head_parameters",
    difficulty=1,
    minutes=5,
    takes=("d_model", "heads", "bias"),
    returns=("parameters",),
    reference=_parameters,
    cases=(
        Case("right for one head", 4, 1, False),
        Case("right for two heads", 4, 2, False),
        Case("right with biases", 6, 3, True),
        Case("right for the paper's layer", 512, 8, True),
    ),
    mistakes={
        "no output matrix": (
            "One matrix is missing: the output matrix W_O, which is as large as the other three.",
            lambda d, heads, bias: 3 * (d**2 + bias * d),
        ),
        "no output bias": (
            "The output matrix has a bias, too.",
            lambda d, heads, bias: 4 * d**2 + bias * 3 * d,
        ),
        "biases forgotten": (
            "The biases are missing: d_model numbers for each of the four matrices.",
            lambda d, heads, bias: 4 * d**2,
        ),
        "always biases": (
            "The biases are counted whether they are there or not.",
            lambda d, heads, bias: 4 * (d**2 + d),
        ),
        "one bias": (
            "Each of the four matrices has a bias of its own, not one for all.",
            lambda d, heads, bias: 4 * d**2 + bias * d,
        ),
        "a whole layer for each head": (
            "You give each head matrices of full width. The heads share them: each has d_model / heads of "
            "the columns.",
            lambda d, heads, bias: heads * 4 * (d**2 + bias * d),
        ),
        "three of full width for each head": (
            "You give each head three matrices of full width. The heads share them: each has d_model / "
            "heads of the columns.",
            lambda d, heads, bias: heads * 3 * (d**2 + bias * d) + d**2 + bias * d,
        ),
        "one head only": (
            "This is what one head has of the matrices. Take all the heads together.",
            lambda d, heads, bias: 4 * (d**2 + bias * d) // heads,
        ),
        "square of the head's width": (
            "Too little of W_Q, W_K and W_V: the part of a single head, or d_k by d_k for each. A head reads "
            "all d_model numbers of a word, so that each head's part is d_model by d_k.",
            lambda d, heads, bias: heads * 3 * ((d // heads) ** 2 + bias * d // heads) + d**2 + bias * d,
        ),
    },
)

# --- split, and join ------------------------------------------------------------------------------


def _split(x: Tensor, heads: int) -> Tensor:
    return x.view(*x.shape[:2], heads, x.shape[-1] // heads).transpose(1, 2)  # (B, heads, T, d_k)


def _join(x: Tensor) -> Tensor:
    return x.transpose(1, 2).flatten(2)  # (B, T, heads, d_k), then (B, T, d_model)


check_split_heads = Exercise(
    "split_heads",
    difficulty=2,
    minutes=5,
    takes=("x", "heads"),
    returns=("pieces",),
    reference=_split,
    cases=(
        Case("right for one word", *draw(1, (1, 1, 4)), 2),
        Case("right for three words in two heads", *draw(2, (1, 3, 4)), 2),
        Case("right for one head", *draw(3, (2, 3, 4)), 1),
        Case("right for a batch", *draw(5, (2, 5, 12)), 3),
        Case("right in float64", *draw(6, (3, 4, 6), dtype=torch.float64), 3),
    ),
    mistakes=SPLITTING
    | {
        "heads in front": (
            "The heads stand before the batch. The batch is first: (B, heads, T, d_k).",
            lambda x, heads: _split(x, heads).transpose(0, 1),
        ),
        "heads and width swapped": (
            "The last two axes have changed places: a head's rows are words, and its columns numbers.",
            lambda x, heads: _split(x, heads).mT,
        ),
        "batch and heads in one": (
            "Batch and heads are one axis with you. Keep them apart: (B, heads, T, d_k).",
            lambda x, heads: _split(x, heads).flatten(0, 1),
        ),
    },
)


check_joined_heads = Exercise(
    "joined_heads",
    difficulty=2,
    minutes=5,
    takes=("x",),
    returns=("joined",),
    reference=_join,
    cases=(
        Case("right for one word", *draw(11, (1, 2, 1, 3))),
        Case("right for three words from two heads", *draw(12, (1, 2, 3, 2))),
        Case("right for one head", *draw(13, (2, 1, 4, 3))),
        Case("right for a batch", *draw(14, (2, 3, 5, 4))),
        Case("right in float64", *draw(15, (3, 2, 4, 3), dtype=torch.float64)),
    ),
    mistakes={
        "not transposed": (
            "The shape is right and the words are mixed: reshape reads head after head. Swap heads and T "
            "first.",
            lambda x: x.reshape(len(x), x.shape[2], -1),
        ),
        "numbers woven": (
            "The heads' numbers alternate. All of head 0 comes first, then all of head 1.",
            lambda x: x.permute(0, 2, 3, 1).flatten(2),
        ),
        "heads from the last": (
            "The heads are joined from the last to the first.",
            lambda x: _join(x.flip(1)),
        ),
        "heads averaged": (
            "This is the mean of the heads. That was to be avoided: set them side by side.",
            lambda x: x.mean(1),
        ),
        "heads added": (
            "The heads are added up. Set them side by side: (B, T, heads · d_k).",
            lambda x: x.sum(1),
        ),
        "first head only": ("This is head 0 alone.", lambda x: x[:, 0]),
        "one below the other": (
            "The heads stand one below the other, so that there are more rows than words. Set them side by "
            "side.",
            lambda x: x.flatten(1, 2),
        ),
        "not joined": (
            "The axes are swapped, and then still four. Glue the last two together.",
            lambda x: x.transpose(1, 2),
        ),
    },
)

# --- repair ---------------------------------------------------------------------------------------


def _in_heads(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    heads: int,
    *,
    split: Part = _split,
    divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
    weigh: Callable[[Scores], Weights] = softmax,
    join: Part = _join,
) -> Tensor:
    """Attention in heads, without matrices, in parts that can be mistaken."""
    query, key, value = (split(x, heads) for x in (query, key, value))
    return join(weigh(query @ key.mT / divisor(query, key)) @ value)  # type: ignore[no-any-return]


def _dealt_out(x: Tensor, heads: int) -> Tensor:
    return x.reshape(len(x), heads, -1, x.shape[-1] // heads)


def _read_in_order(x: Tensor) -> Tensor:
    return x.reshape(len(x), x.shape[2], -1)


check_repaired_heads = Exercise(
    "repaired_heads",
    difficulty=2,
    minutes=10,
    takes=("query", "key", "value", "heads"),
    returns=("output",),
    reference=_in_heads,
    cases=(
        Case("right for one head", *draw(21, (2, 3, 4), (2, 3, 4), (2, 3, 4)), 1),
        Case("right for two heads", *draw(24, (1, 3, 4), (1, 3, 4), (1, 3, 4)), 2),
        Case("right for more keys than queries", *draw(27, (2, 3, 6), (2, 5, 6), (2, 5, 6)), 2),
        Case("right for three heads", *draw(30, (2, 4, 12), (2, 4, 12), (2, 4, 12)), 3),
        Case("right in float64", *draw(33, *[(2, 5, 6)] * 3, dtype=torch.float64), 3),
    ),
    mistakes=in_parts(_in_heads, split=but(SPLITTING, "view without transpose", "not transposed"))
    | {
        "still broken": (
            "The fault that it came with is still there. With one head, what does `view` deal out, and to "
            "whom? And with two?",
            partial(_in_heads, split=_dealt_out, join=_read_in_order),
        ),
        "mended on the way in": (
            "The heads are cut rightly now. On the way out their answers still have to change places before "
            "they are joined.",
            partial(_in_heads, join=_read_in_order),
        ),
        "mended on the way out": (
            "The answers are joined rightly now. On the way in the words are still dealt out anew.",
            partial(_in_heads, split=_dealt_out),
        ),
        "numbers woven": (
            "The heads are cut rightly, and then their numbers alternate in the output.",
            partial(_in_heads, join=lambda x: x.permute(0, 2, 3, 1).flatten(2)),
        ),
        "root of d_model": (
            "The heads are right now, but the scores are divided by the root of d_model. Each product runs "
            "over d_k numbers.",
            partial(_in_heads, divisor=lambda query, key: math.sqrt(query.shape[-1] * query.shape[1])),
        ),
        "not scaled": (
            "The heads are right now, but the scores are no longer divided by the root of d_k.",
            partial(_in_heads, divisor=lambda query, key: 1),
        ),
        "one head": (
            "You attend in a single head, whatever `heads` says.",
            lambda query, key, value, heads: _in_heads(query, key, value, 1),
        ),
    },
)

# --- the whole layer ------------------------------------------------------------------------------

_NAMES = ("W_Q", "W_K", "W_V", "W_O")


def _projected(layer: nn.Module, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    return layer.W_Q(query), layer.W_K(key), layer.W_V(value)  # type: ignore[operator]


def _for_all_heads(mask: Mask) -> Tensor:
    return mask.unsqueeze(1)  # (B, 1, n, m)


def _hidden(scores: Scores, mask: Tensor | None) -> Weights:
    return softmax(scores if mask is None else scores.masked_fill(~mask, -math.inf))


class _Layer(nn.Module):
    """The whole layer in parts, each of which can be mistaken."""

    def __init__(
        self,
        d_model: int,
        heads: int,
        *,
        refuse: Part = lambda d_model, heads: d_model % heads,
        project: Part = _projected,
        split: Part = _split,
        divisor: Part = lambda query, key: math.sqrt(query.shape[-1]),
        for_heads: Part = _for_all_heads,
        weigh: Part = _hidden,
        join: Part = _join,
        finish: Part = lambda layer, joined, query: layer.W_O(joined),
        answer: Part = lambda output, weights: (output, weights),
    ) -> None:
        super().__init__()
        if refuse(d_model, heads):
            raise ValueError("heads must divide d_model")
        self.heads = heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in _NAMES)
        self.parts = project, split, divisor, for_heads, weigh, join, finish, answer

    def forward(self, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None = None) -> Any:
        project, split, divisor, for_heads, weigh, join, finish, answer = self.parts
        queries, keys, values = (split(x, self.heads) for x in project(self, query, key, value))
        weights = weigh(queries @ keys.mT / divisor(queries, keys), None if mask is None else for_heads(mask))
        return answer(finish(self, join(weights @ values), query), weights)


def _asked(work: Any, query: Tensor, key: Tensor, value: Tensor, mask: Mask | None, heads: int) -> Any:
    """What the reader's class, with our numbers in its four matrices, makes of the inputs."""
    d_model = query.shape[-1]
    with torch.random.fork_rng(devices=[]):  # its first numbers are drawn, and replaced by ours
        if d_model % heads:
            return _refusal(work, d_model, heads)
        layer = work(d_model, heads)
    for place, name in enumerate(_NAMES):
        linear = getattr(layer, name, None)
        if not isinstance(linear, nn.Linear) or linear.weight.shape != (d_model, d_model):
            raise WrongTypeError(
                f"The layer needs four nn.Linear(d_model, d_model), called {', '.join(_NAMES)}; {name} is "
                f"{'missing' if linear is None else repr(linear)}."
            )
        weight, bias = draw(100 + 2 * place, (d_model, d_model), (d_model,))
        linear.weight.data = weight.to(query) / 2
        if linear.bias is not None:
            linear.bias.data = bias.to(query)
    return layer(query, key, value) if mask is None else layer(query, key, value, mask)


def _refusal(work: Any, d_model: int, heads: int) -> tuple[Tensor, Tensor]:
    """An answer of no numbers where the layer is refused, and of one where it is made."""
    try:
        work(d_model, heads)
    except (ValueError, AssertionError):
        return torch.zeros(0, device="cpu"), torch.zeros(0, device="cpu")
    return torch.zeros(1, device="cpu"), torch.zeros(1, device="cpu")


def _without_bias(layer: nn.Module, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    inputs = zip(_NAMES, (query, key, value), strict=False)
    return tuple(F.linear(x, getattr(layer, name).weight) for name, x in inputs)


def _turned(layer: nn.Module, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, ...]:
    linears = [getattr(layer, name) for name in _NAMES]
    return tuple(x @ W.weight + W.bias for W, x in zip(linears, (query, key, value), strict=False))


_PROJECTED: Mistakes = {
    "value projected by W_K": (
        "The values go through W_K. They have a matrix of their own, W_V: what a word is found by is not "
        "what it hands on.",
        lambda layer, q, k, v: (layer.W_Q(q), layer.W_K(k), layer.W_K(v)),
    ),
    "key projected by W_Q": (
        "The keys go through W_Q. They have a matrix of their own, W_K.",
        lambda layer, q, k, v: (layer.W_Q(q), layer.W_Q(k), layer.W_V(v)),
    ),
    "W_Q for all three": (
        "Queries, keys and values all go through W_Q. Each has a matrix of its own.",
        lambda layer, q, k, v: (layer.W_Q(q), layer.W_Q(k), layer.W_Q(v)),
    ),
    "W_Q and W_K swapped": (
        "W_Q and W_K have changed places: queries go through W_Q.",
        lambda layer, q, k, v: (layer.W_K(q), layer.W_Q(k), layer.W_V(v)),
    ),
    "values as they are": (
        "The values are not projected: W_V is missing.",
        lambda layer, q, k, v: (layer.W_Q(q), layer.W_K(k), v),
    ),
    "nothing projected": (
        "Queries, keys and values are cut as they come. They go through W_Q, W_K and W_V first.",
        lambda layer, q, k, v: (q, k, v),
    ),
    "all from the query": (
        "Keys and values are made from the query. That is right for self-attention alone; where they come "
        "from another sentence, use them.",
        lambda layer, q, k, v: _projected(layer, q, q, q),
    ),
    "value made from the key": (
        "The values are made from `key`. They are usually the same; here `value` is another tensor.",
        lambda layer, q, k, v: _projected(layer, q, k, k),
    ),
    "weights transposed": (
        "Your products are x @ weight. nn.Linear holds its matrix turned: call it, or write x @ weight.mT.",
        _turned,
    ),
    "bias left out": (
        "The biases of W_Q, W_K and W_V are left out. Call the nn.Linear, with its bias.",
        _without_bias,
    ),
}
_HIDDEN: Mistakes = {
    "no mask": (
        "The mask is not used.",
        lambda scores, mask: softmax(scores),
    ),
    "mask reversed": (
        "The mask is turned round: what may be seen is hidden. True means that a query may look.",
        lambda scores, mask: _hidden(scores, None if mask is None else ~mask),
    ),
    "mask after the softmax": (
        "What is hidden is set to 0 after the softmax, so that rows no longer sum to 1. Give it the score "
        "-inf before.",
        lambda scores, mask: softmax(scores) * (1 if mask is None else mask),
    ),
    "hidden scores 0": (
        "What is hidden gets the score 0, which is a score like any other. Give it -inf.",
        lambda scores, mask: softmax(scores * (1 if mask is None else mask)),
    ),
    "mask added": (
        "The mask is added to the scores: True counts as 1, which favours a key a little and hides none.",
        lambda scores, mask: softmax(scores + (0 if mask is None else mask)),
    ),
    "softmax over the heads": (
        "The softmax runs over the heads, dim=1. Each head shares its weight out over the keys: dim=-1.",
        lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(1),
    ),
    "softmax over the queries": (
        "The softmax runs over the queries, dim=-2. Each query shares its weight out over the keys: dim=-1.",
        lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-2),
    ),
    "softmax over the batch": (
        "The softmax runs over the batch, dim=0. Each query shares its weight out over the keys: dim=-1.",
        lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(0),
    ),
    "no softmax": (
        "The softmax is missing: these weights are the scores themselves.",
        lambda scores, mask: scores if mask is None else scores.masked_fill(~mask, 0),
    ),
}
_FINISHED: Mistakes = {
    "output matrix left out": (
        "The output matrix is left out: the joined heads come back as they are. W_O mixes them.",
        lambda layer, joined, query: joined,
    ),
    "W_O without bias": (
        "The bias of W_O is left out.",
        lambda layer, joined, query: F.linear(joined, layer.W_O.weight),
    ),
    "W_O transposed": (
        "W_O stands the wrong way round. nn.Linear holds its matrix turned: call it.",
        lambda layer, joined, query: joined @ layer.W_O.weight + layer.W_O.bias,
    ),
    "query added": (
        "The query is added to the output. That is a residual connection, which comes around a layer and "
        "not into it.",
        lambda layer, joined, query: layer.W_O(joined) + query,
    ),
}
_ANSWERED: Mistakes = {
    "weights averaged": (
        "The output is right. The weights are the mean over the heads, as PyTorch gives them unless asked; "
        "return those of every head, (B, heads, n, m).",
        lambda output, weights: (output, weights.mean(1)),
    ),
    "results swapped": (
        "Both results are right, in the wrong order: return output, weights.",
        lambda output, weights: (weights, output),
    ),
}
_DIVIDED = but(DIVISORS, "root of the first axis", "root of the second axis", "root of every element") | {
    "root of the heads": (
        "The scores are divided by the root of the number of heads. It is the root of d_k, the width of "
        "one head.",
        lambda query, key: math.sqrt(query.shape[1]),
    ),
}


def _at_the_batch(mask: Mask) -> Tensor:
    return mask.unsqueeze(0)  # (1, B, n, m): the batch where the heads are


_THREE = (2, 3, 4), (2, 3, 4), (2, 3, 4)
_EACH = combine(causal(3), padding(whole(3, 2)))  # (2, 3, 3)
_ACROSS = (2, 3, 6), (2, 5, 6), (2, 5, 6)


def _never(d_model: int, heads: int) -> bool:
    return False


_MISTAKEN = in_parts(
    _Layer,
    project=_PROJECTED,
    split=SPLITTING,
    divisor=_DIVIDED,
    for_heads={
        "mask on the batch's axis": (
            "The mask has no axis for the heads, or got it in front, so that each sentence's mask lies "
            "on a head. Where sentences are as many as heads nothing complains. mask.unsqueeze(1) puts "
            "the axis where the heads are.",
            _at_the_batch,
        ),
        "mask on the queries' axis": (
            "The mask's new axis stands where the queries are. Padding does not notice, since there the mask "
            "has 1 in their place. mask.unsqueeze(1) puts the axis where the heads are.",
            lambda mask: mask.unsqueeze(2),  # (B, n, 1, m)
        ),
    },
    weigh=_HIDDEN,
    join=JOINING,
    finish=_FINISHED,
    answer=_ANSWERED,
)
_NOT_REFUSED = (
    "heads that do not divide d_model are not refused: raise a ValueError when such a layer is made."
)

check_multi_head_layer = Exercise(
    "multi_head_layer",
    difficulty=3,
    minutes=30,
    takes=("query", "key", "value", "mask", "heads"),
    returns=("output", "weights"),
    reference=_Layer,
    ask=_asked,
    cases=(
        Case("right for one head", *draw(41, *_THREE), None, 1),
        Case("right for two heads", *draw(44, *_THREE), None, 2),
        Case("right for keys from another sentence", *draw(47, *_ACROSS), None, 3),
        Case("refuses 3 heads for 4 numbers", *draw(50, *_THREE), None, 3),
        Case("right with padding", *draw(53, *_ACROSS), padding(whole(5, 2)), 3),
        # As many heads as sentences: a mask on the wrong axis fits.
        Case("right with a mask for each sentence", *draw(56, *_THREE), _EACH, 2),
        Case("right in float64", *draw(59, *_ACROSS, dtype=torch.float64), None, 2),
    ),
    # Who has one thing wrong has often not come to refusing anything yet.
    mistakes=_MISTAKEN
    | {
        f"{name}, does not refuse": (
            f"{sentence[:-1]}; besides, {_NOT_REFUSED}",  # without its full stop
            partial(code, refuse=_never),
        )
        for name, (sentence, code) in _MISTAKEN.items()
    }
    | {"does not refuse": (f"All is right but one thing: {_NOT_REFUSED}", partial(_Layer, refuse=_never))},
)

# --- an experiment: find the heads' jobs ------------------------------------------------------------

_GUESTS, _WIDTH = 8, 16


class _Attention(nn.Module):
    """As the chapter's MultiHead, for the models whose heads are to be found out."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(_WIDTH, _WIDTH) for _ in _NAMES)

    def forward(self, query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Weights]:
        queries, keys, values = (_split(x, self.heads) for x in _projected(self, query, key, value))
        weights = softmax(queries @ keys.mT / math.sqrt(queries.shape[-1]))
        return self.W_O(_join(weights @ values)), weights


class _Guests(nn.Module):
    """A model made by hand: head i looks `looks[i]` seats on, and brings name `jobs[i]`, or is not heard.

    Names and seats are points of a circle, two numbers each, so that a head of four numbers holds either. No
    two are mirror images: where half of a head is taken away, rounding would decide between such.
    """

    def __init__(self, looks: tuple[int, ...], jobs: tuple[int, ...], source: torch.Generator) -> None:
        super().__init__()
        heads, asked = len(looks), max(jobs) + 1
        self.attention, self.read = _Attention(heads), nn.Linear(_WIDTH, _GUESTS * asked)
        d_k = _WIDTH // heads
        turn = (torch.arange(_GUESTS, device="cpu") + 0.3) * math.tau / _GUESTS
        circle = torch.stack([turn.cos(), turn.sin()], dim=-1)  # (8, 2)
        matrices = {name: torch.zeros(_WIDTH, _WIDTH, device="cpu") for name in _NAMES}
        reading = torch.zeros(_GUESTS * asked, _WIDTH, device="cpu")
        for head, (look, job) in enumerate(zip(looks, jobs, strict=True)):
            own = slice(head * d_k, head * d_k + 2)
            matrices["W_Q"][own, _GUESTS:] = 9 * circle.roll(-look, 0).mT
            matrices["W_K"][own, _GUESTS:] = 9 * circle.mT
            matrices["W_V"][own, :_GUESTS] = circle.mT
            if job >= 0:
                matrices["W_O"][own, own] = torch.eye(2, device="cpu")
                reading[job * _GUESTS : (job + 1) * _GUESTS, own] = circle
        # A rotation of the output hides from the eye which head wrote what.
        mixing, _ = torch.linalg.qr(torch.randn(_WIDTH, _WIDTH, generator=source, device="cpu"))
        matrices["W_O"] = mixing @ matrices["W_O"]
        for name, matrix in matrices.items():
            _fill(getattr(self.attention, name), matrix)
        _fill(self.read, reading @ mixing.mT)

    def forward(self, x: Tensor) -> tuple[Tensor, Weights]:
        mixed, weights = self.attention(x, x, x)
        return self.read(mixed).unflatten(-1, (-1, _GUESTS)), weights  # (tables, 8, asked, 8)


def _fill(linear: nn.Linear, matrix: Tensor) -> None:
    linear.weight.data, linear.bias.data = matrix, torch.zeros(len(matrix), device="cpu")


def _table(label: str, looks: tuple[int, ...], jobs: tuple[int, ...], asked: tuple[int, ...]) -> Case:
    """A model, tables as vectors, (60, 8, 16), and the names that are right, (60, 8, asked)."""
    source = torch.Generator("cpu").manual_seed(5)
    names = torch.randint(_GUESTS, (60, _GUESTS), generator=source, device="cpu")
    seats = torch.eye(_GUESTS, device="cpu").expand(60, -1, -1)
    right = torch.stack([names.roll(-step, 1) for step in asked], dim=-1)
    x = torch.cat([F.one_hot(names, _GUESTS), seats], dim=-1)
    return Case(label, _Guests(looks, jobs, source), x, right)


_EIGHT = (1, 2, -1, 3, -1, -3, 1, 3)


def _share_right(model: nn.Module, x: Tensor, names: Tensor) -> Tensor:
    said: Tensor = model(x)[0]  # (tables, 8, asked, 8)
    return (said.argmax(-1) == names).double().mean((0, 1))  # (asked,)


def _taken_away(model: Any, head: int, cut: Part) -> Any:
    """A copy of the model, of whose W_O a cut is set to zero."""
    damaged = copy.deepcopy(model)
    cut(damaged.attention.W_O.weight.data, head, model.attention.heads)
    return damaged


def _columns(weight: Tensor, head: int, heads: int) -> None:
    weight[:, head * _WIDTH // heads : (head + 1) * _WIDTH // heads] = 0


def _rows(weight: Tensor, head: int, heads: int) -> None:
    weight[head * _WIDTH // heads : (head + 1) * _WIDTH // heads] = 0


def _every_other(weight: Tensor, head: int, heads: int) -> None:
    weight[:, head::heads] = 0


def _up_to(weight: Tensor, head: int, heads: int) -> None:
    weight[:, : (head + 1) * _WIDTH // heads] = 0


def _found(
    model: Any,
    x: Tensor,
    names: Tensor,
    *,
    cut: Part = _columns,
    name: Part = lambda lost: int(lost.argmax()) if lost.max() > 0.2 else -1,
) -> Tensor:
    """The job of each head, by taking it away."""
    whole = _share_right(model, x, names)
    heads = range(model.attention.heads)
    return torch.tensor(
        [name(whole - _share_right(_taken_away(model, head, cut), x, names)) for head in heads], device="cpu"
    )


def _by_the_weights(model: Any, x: Tensor, names: Tensor) -> Tensor:
    """Of each head the neighbour at which it looks most: what a picture of the weights tells."""
    _, weights = model(x)
    seen = weights.argmax(-1)  # (tables, heads, 8): a seat for each guest
    said = x[..., :_GUESTS].argmax(-1)  # (tables, 8)
    brought = said.unsqueeze(1).expand(-1, model.attention.heads, -1).gather(-1, seen)
    right = (brought.unsqueeze(-1) == names.unsqueeze(1)).double().mean((0, 2))  # (heads, asked)
    return torch.where(right.amax(-1) > 0.9, right.argmax(-1), -1)


def _as_numbers(work: Callable[..., Any], model: nn.Module, x: Tensor, names: Tensor) -> Tensor:
    jobs = work(model, x, names)
    if jobs is None or jobs is ...:
        return jobs  # type: ignore[return-value]
    heads = model.attention.heads  # type: ignore[union-attr]
    try:
        numbers = torch.as_tensor(jobs, device="cpu")
    except (TypeError, ValueError, RuntimeError):
        numbers = torch.zeros(0, device="cpu")
    if numbers.shape != (heads,) or numbers.is_floating_point():
        raise WrongTypeError(f"Return a list of {heads} whole numbers, one for each head.")
    return numbers.long()


check_head_jobs = Exercise(
    "head_jobs",
    difficulty=4,
    minutes=40,
    takes=("model", "x", "names"),
    returns=("jobs",),
    reference=_found,
    ask=_as_numbers,
    cases=(
        _table("right for two heads", (1, -1), (1, 0), asked=(-1, 1)),
        # A head that looks sharply at a neighbour, and nothing of it reaches the output.
        _table("right where a head is idle", (-1, 1, 1, 2), (0, -1, 1, 2), asked=(-1, 1, 2)),
        _table("right where another is", (3, -2, 1, 1), (2, 0, 1, -1), asked=(-2, 1, 3)),
        _table("right for eight heads", _EIGHT, (-1, 3, 1, -1, -1, 0, 2, 4), asked=(-3, -1, 1, 2, 3)),
    ),
    mistakes={
        "read off the weights": (
            "This is where the heads look. One of them looks sharply, and nothing of what it finds reaches "
            "the output. Take the heads away, and see what is no longer right.",
            _by_the_weights,
        ),
    }
    | in_parts(
        _found,
        cut={
            "rows of W_O": (
                "You set rows of W_O.weight to zero: numbers of the output, to which every head writes. "
                "nn.Linear holds its matrix turned, so that a head's part are columns.",
                _rows,
            ),
            "every other column": (
                "You take every so-and-so-many-th column. A head's columns are neighbours: from head · d_k "
                "to (head + 1) · d_k.",
                _every_other,
            ),
            "never put back": (
                "The heads that you took away stay away: by the last of them nothing is left. Begin with a "
                "fresh copy each time.",
                _up_to,
            ),
        },
        name={
            "a job for every head": (
                "Right but for the heads without a job: if nothing is lost without it, say -1.",
                lambda lost: int(lost.argmax()),
            ),
            "what is left": (
                "These are the names that are still right without the head. Asked for is the one that is "
                "lost.",
                lambda lost: int(lost.argmin()) if lost.max() > 0.2 else -1,
            ),
            "counted from 1": (
                "The neighbours are counted from 0, and yours from 1.",
                lambda lost: int(lost.argmax()) + 1 if lost.max() > 0.2 else -1,
            ),
            "idle or not": (
                "This says which heads have a job. Which one is it?",
                lambda lost: 1 if lost.max() > 0.2 else -1,
            ),
        },
    ),
    trainable=False,
)
