"""Write the whole layer of many heads, from an empty page."""

import math
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

import attnlab
from attnlab.masks import causal, combine, padding
from attnlab.shapes import Mask, Scores, Weights
from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Mistakes, Part, but, in_parts
from bookkit.checking.mistakes.heads import JOINING, SPLITTING
from bookkit.checking.mistakes.weighing import DIVISORS, softmax
from chapters.many_heads.exercises.heads import _NAMES, _join, _projected, _split


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
    "mask reversed, by a large number": (
        "What may be seen gets -1e9 or the like, so that it is hidden. In a mask True means that a query may "
        "look: lower the scores where it is False.",
        lambda scores, mask: softmax(scores if mask is None else scores.masked_fill(mask, -1e9)),
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


def _never(d_model: int, heads: int) -> bool:
    return False


def _asserted(d_model: int, heads: int) -> bool:
    if d_model % heads:
        raise AssertionError
    return False


def _all_in_one(x: Tensor, heads: int) -> Tensor:
    return x.unsqueeze(1)  # (B, 1, T, d_model)


_SEVERAL: Mistakes = {
    "no biases": (
        "The biases are missing: none of the four matrices adds one. nn.Linear has a bias unless it is "
        "made with bias=False; call it, and its bias is added.",
        partial(_Layer, project=_without_bias, finish=_FINISHED["W_O without bias"][1]),
    ),
    "never transposed": (
        "The words are cut into heads and glued together again, but T stands before the heads all the time: "
        "each word's heads look at one another, and no word at any other. After the cut swap the axes, "
        "(B, heads, T, d_k), and before the glue swap them back.",
        partial(_Layer, split=SPLITTING["not transposed"][1], join=lambda x: x.flatten(2)),
    ),
    "not transposed on the way in": (
        "T stands before the heads when the queries meet the keys, so that each word's heads look at one "
        "another. Swap the axes as soon as the words are cut: (B, heads, T, d_k).",
        partial(
            _Layer,
            split=SPLITTING["not transposed"][1],
            join=lambda x: x.transpose(1, 2).reshape(len(x), x.shape[1], -1),
        ),
    ),
    "heads and d_k swapped": (
        "The heads stand where d_k should: as many heads as one has numbers, each with as many numbers as "
        "there should be heads. Cut into (B, T, heads, d_k), and not (B, T, d_k, heads), before you swap.",
        partial(
            _Layer,
            split=lambda x, heads: x.unflatten(-1, (-1, heads)).transpose(1, 2),
            divisor=lambda query, key: math.sqrt(query.shape[1]),
        ),
    ),
    "one head": (
        "Queries, keys and values are never cut: one head of full width looks, however many heads are asked "
        "for.",
        partial(_Layer, split=_all_in_one, join=lambda x: x.squeeze(1)),
    ),
    "one head, without its axis": (
        "Queries, keys and values are never cut, so that the weights are a single table, (B, n, m), "
        "however many heads are asked for. Cut them into heads: (B, heads, T, d_k).",
        partial(
            _Layer,
            split=_all_in_one,
            join=lambda x: x.squeeze(1),
            answer=lambda output, weights: (output, weights.squeeze(1)),
        ),
    ),
}


_MISTAKEN = _SEVERAL | in_parts(
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
            "The mask's new axis stands where the queries are. With padding nothing shows, since there the "
            "rows of all queries are the same. mask.unsqueeze(1) puts the axis where the heads are.",
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
                f"{_in_a_word(linear)}."
            )
        weight, bias = draw(100 + 2 * place, (d_model, d_model), (d_model,))
        linear.weight.data = weight.to(query) / 2
        if linear.bias is not None:
            linear.bias.data = bias.to(query)
    return layer(query, key, value) if mask is None else layer(query, key, value, mask)


def _in_a_word(found: object) -> str:
    if found is None:
        return "missing"
    return repr(found) if isinstance(found, nn.Linear) else f"{type(found).__name__} instead"


def _refusal(work: Any, d_model: int, heads: int) -> tuple[Tensor, Tensor]:
    """An answer of no numbers where the layer is refused, of one where it is made, of two by an assert."""
    try:
        work(d_model, heads)
        numbers = 1
    except ValueError:
        numbers = 0
    except AssertionError:
        numbers = 2
    return torch.zeros(numbers, device="cpu"), torch.zeros(numbers, device="cpu")


_THREE = (2, 3, 4), (2, 3, 4), (2, 3, 4)


_EACH = combine(causal(3), padding(whole(3, 2)))  # (2, 3, 3)


_ACROSS = (2, 3, 6), (2, 5, 6), (2, 5, 6)


# As the text says, (B, n, m): each query's row is there, though all are the same.
_PADDED = padding(whole(5, 2)).repeat(1, 3, 1)  # (2, 3, 5)


check_multi_head_layer = Exercise(
    "multi_head_layer",
    difficulty=3,
    minutes=30,
    takes=("query", "key", "value", "mask", "heads"),
    returns=("output", "weights"),
    reference=_Layer,
    ask=_asked,
    without=(attnlab, nn.MultiheadAttention),
    cases=(
        Case("right for one head", *draw(41, *_THREE), None, 1),
        Case("right for two heads", *draw(44, *_THREE), None, 2),
        Case("right for keys from another sentence", *draw(47, *_ACROSS), None, 3),
        Case("refuses 3 heads for 4 numbers", *draw(50, *_THREE), None, 3),
        Case("right with padding", *draw(53, *_ACROSS), _PADDED, 3),
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
    | {
        "does not refuse": (f"All is right but one thing: {_NOT_REFUSED}", partial(_Layer, refuse=_never)),
        "refuses by an assert": (
            "`python -O` leaves out every `assert`, and then nothing is refused. Raise a ValueError.",
            partial(_Layer, refuse=_asserted),
        ),
    },
)
