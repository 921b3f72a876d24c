"""The exercise `multi_head_layer`, tried as readers would."""

import copy
import math

import pytest
import torch
from exercise_cases import judged_as, words
from torch import nn
from torch.nn import functional as F

from attnlab.attention import attend
from chapters.many_heads.exercises import (
    check_multi_head_layer,
)

pytestmark = pytest.mark.thorough


class MyMultiHead(nn.Module):
    """Each step is a method, for the mistakes to change."""

    def __init__(self, d_model, heads):
        super().__init__()
        if d_model % heads:
            raise ValueError
        self.heads, self.d_k = heads, d_model // heads
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, query, key, value, mask=None):
        query, key, value = self.cut(self.W_Q(query)), self.cut(self.W_K(key)), self.cut(self.W_V(value))
        scores = query @ key.transpose(-2, -1) / self.divisor()
        weights = self.weights(scores, mask)
        return self.W_O(self.glue(weights @ value)), weights

    def cut(self, x):
        return x.view(*x.shape[:2], self.heads, self.d_k).transpose(1, 2)

    def divisor(self):
        return math.sqrt(self.d_k)

    def weights(self, scores, mask):
        if mask is not None:
            scores = scores.masked_fill(~mask[:, None], -math.inf)
        return scores.softmax(-1)

    def glue(self, x):
        return x.transpose(1, 2).reshape(len(x), -1, self.heads * self.d_k)


def variant(base=MyMultiHead, **methods):
    return type("MyMultiHead", (base,), methods)


def test_the_whole_layer_names_at_least_twenty_mistakes():
    alone = [name for name in check_multi_head_layer.mistakes if not name.endswith(", does not refuse")]
    assert len(alone) >= 20


def head_by_head(self, query, key, value, mask=None):
    """A loop over the heads, each with its rows of the three matrices."""
    outputs, tables = [], []
    for head in range(self.heads):
        own = slice(head * self.d_k, (head + 1) * self.d_k)
        q, k, v = (
            F.linear(x, W.weight[own], W.bias[own])
            for W, x in zip((self.W_Q, self.W_K, self.W_V), (query, key, value), strict=True)
        )
        scores = q @ k.mT / self.d_k**0.5
        if mask is not None:
            scores = scores.where(mask, -math.inf)
        tables.append(scores.softmax(-1))
        outputs.append(tables[-1] @ v)
    return self.W_O(torch.cat(outputs, -1)), torch.stack(tables, 1)


def by_einsum(self, query, key, value, mask=None):
    q, k, v = (
        W(x).unflatten(-1, (self.heads, self.d_k))
        for W, x in zip((self.W_Q, self.W_K, self.W_V), (query, key, value), strict=True)
    )
    scores = torch.einsum("bnhd,bmhd->bhnm", q, k) * self.d_k**-0.5
    if mask is not None:
        scores = scores + torch.zeros_like(scores).masked_fill(~mask.unsqueeze(1), -math.inf)
    weights = F.softmax(scores, dim=-1)
    return self.W_O(torch.einsum("bhnm,bmhd->bnhd", weights, v).flatten(-2)), weights


def by_pytorch(self, query, key, value, mask=None):
    """Their own layer, with these matrices."""
    theirs = nn.MultiheadAttention(self.W_O.in_features, self.heads, batch_first=True, dtype=query.dtype)
    three = self.W_Q, self.W_K, self.W_V
    state = {
        "in_proj_weight": torch.cat([W.weight for W in three]),
        "in_proj_bias": torch.cat([W.bias for W in three]),
        "out_proj.weight": self.W_O.weight,
        "out_proj.bias": self.W_O.bias,
    }
    blocked = None if mask is None else ~mask.expand(-1, query.shape[1], -1).repeat_interleave(self.heads, 0)
    return torch.func.functional_call(
        theirs, state, (query, key, value), {"attn_mask": blocked, "average_attn_weights": False}
    )


class WithoutRandomNumbers(MyMultiHead):
    """by_pytorch makes a layer at each call, whose first numbers are drawn."""

    def forward(self, *inputs):
        with torch.random.fork_rng(devices=[]):
            return by_pytorch(self, *inputs)


def masked(change):
    return variant(weights=lambda self, scores, mask: change(scores, None if mask is None else mask[:, None]))


def no_bias(self, d_model, heads):
    MyMultiHead.__init__(self, d_model, heads)
    for name in ("W_Q", "W_K", "W_V"):
        setattr(self, name, nn.Linear(d_model, d_model, bias=False))


def never_refuses(self, d_model, heads):
    MyMultiHead.__init__(self, heads * (d_model // heads), heads)


def variant_without(layer, name):
    """The same layer, in which one of the matrices does nothing."""
    other = copy.copy(layer)
    other._modules = {**layer._modules, name: nn.Identity()}
    return other


def by_attend(self, query, key, value, mask=None):
    queries, keys, values = (
        self.cut(W(x)) for W, x in ((self.W_Q, query), (self.W_K, key), (self.W_V, value))
    )
    output, weights = attend(queries, keys, values, mask=None if mask is None else mask[:, None])
    return self.W_O(self.glue(output)), weights


class NoBiases(MyMultiHead):
    def __init__(self, d_model, heads):
        super().__init__(d_model, heads)
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model, bias=False))


class Asserts(MyMultiHead):
    def __init__(self, d_model, heads):
        assert d_model % heads == 0, "heads must divide d_model"
        super().__init__(d_model, heads)


def one_table(self, query, key, value, mask=None):
    """No heads at all: attention as the chapters before have it."""
    query, key, value = self.W_Q(query), self.W_K(key), self.W_V(value)
    scores = query @ key.mT / query.shape[-1] ** 0.5
    weights = (scores if mask is None else scores.masked_fill(~mask, -math.inf)).softmax(-1)
    return self.W_O(weights @ value), weights


def one_head(self, *inputs):
    output, weights = one_table(self, *inputs)
    return output, weights[:, None]


class NoMatrices(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        if d_model % heads:
            raise ValueError

    def forward(self, query, key, value, mask=None):
        return query, query @ key.mT


@pytest.mark.parametrize(
    ("layer", "lost"),
    [
        (variant(forward=torch.no_grad()(MyMultiHead.forward)), "query, key and value"),
        (variant(cut=lambda self, x: MyMultiHead.cut(self, x).detach()), "query, key and value"),
        (variant(weights=lambda self, *inputs: MyMultiHead.weights(self, *inputs).detach()), "query and key"),
    ],
    ids=["no_grad", "pieces detached", "weights detached"],
)
def test_a_layer_through_which_no_gradient_comes(layer, lost):
    report = check_multi_head_layer.judge(layer)
    assert report.mistake == "no gradient", report
    assert f"no gradient reaches {lost}," in words(report)


@pytest.mark.parametrize(
    ("forward", "name"), [(by_attend, "attend"), (by_pytorch, "MultiheadAttention")], ids=["attend", "layer"]
)
def test_what_the_task_forbids_is_named_where_it_is_called(forward, name):
    report = check_multi_head_layer.judge(variant(forward=forward))
    assert report.mistake == "ready-made", report
    assert f"{name} is there already, and your code calls it" in words(report)


def test_a_remark_on_a_loop_over_the_heads_alone():
    for name, layer in RIGHT[check_multi_head_layer].items():
        remarked = "A loop of Python's" in words(check_multi_head_layer.judge(layer))
        assert remarked == (name == "head by head"), name


RIGHT = {
    check_multi_head_layer: {
        "step by step": MyMultiHead,
        "head by head": variant(forward=head_by_head),
        "einsum": variant(forward=by_einsum),
        "-1e9": variant(
            weights=lambda self, scores, mask: (
                scores if mask is None else scores.masked_fill(~mask.unsqueeze(1), -1e9)
            ).softmax(-1)
        ),
        "a mask of the shape that the text says": variant(
            weights=lambda self, scores, mask: (
                scores
                if mask is None
                else scores.masked_fill(~mask.view(len(scores), 1, *scores.shape[-2:]), -math.inf)
            ).softmax(-1)
        ),
        "a list": variant(forward=lambda self, *inputs: list(MyMultiHead.forward(self, *inputs))),
    }
}


NAMED = {
    check_multi_head_layer: {
        "ready-made": WithoutRandomNumbers,
        "root of d_model": variant(divisor=lambda self: self.W_O.in_features**0.5),
        "not scaled": variant(divisor=lambda self: 1),
        "divided by d_k": variant(divisor=lambda self: self.d_k),
        "view without transpose": variant(cut=lambda self, x: x.reshape(len(x), self.heads, -1, self.d_k)),
        "joined without a transpose": variant(
            glue=lambda self, x: x.contiguous().view(len(x), x.shape[2], -1)
        ),
        "heads woven": variant(glue=lambda self, x: torch.stack(x.unbind(1), -1).flatten(2)),
        "output matrix left out": variant(
            forward=lambda self, *inputs: head_by_head(variant_without(self, "W_O"), *inputs)
        ),
        "bias left out": variant(__init__=no_bias),
        "does not refuse": variant(__init__=never_refuses),
        "refuses by an assert": Asserts,
        "no biases": NoBiases,
        "never transposed": variant(
            cut=lambda self, x: x.view(*x.shape[:2], self.heads, self.d_k), glue=lambda self, x: x.flatten(2)
        ),
        "not transposed on the way in": variant(cut=lambda self, x: x.unflatten(-1, (self.heads, self.d_k))),
        "heads and d_k swapped": variant(
            cut=lambda self, x: x.unflatten(-1, (self.d_k, self.heads)).transpose(1, 2)
        ),
        "one head": variant(forward=one_head),
        "one head, without its axis": variant(forward=one_table),
        "mask reversed, by a large number": masked(
            lambda scores, mask: (scores if mask is None else scores - 1e9 * mask).softmax(-1)
        ),
        "root of d_model, does not refuse": variant(
            __init__=never_refuses, divisor=lambda self: self.W_O.in_features**0.5
        ),
        "no mask": masked(lambda scores, mask: scores.softmax(-1)),
        "mask reversed": masked(
            lambda scores, mask: (scores if mask is None else scores.masked_fill(mask, -math.inf)).softmax(-1)
        ),
        "mask after the softmax": masked(
            lambda scores, mask: (
                scores.softmax(-1) if mask is None else scores.softmax(-1).masked_fill(~mask, 0)
            )
        ),
        "softmax over the heads": masked(
            lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(-3)
        ),
        "softmax over the queries": masked(
            lambda scores, mask: (scores if mask is None else scores.masked_fill(~mask, -1e9)).softmax(2)
        ),
        "mask on the batch's axis": variant(
            weights=lambda self, scores, mask: (
                scores if mask is None else scores.masked_fill(~mask, -math.inf)
            ).softmax(-1)
        ),
        "mask on the queries' axis": variant(
            weights=lambda self, scores, mask: (
                scores if mask is None else scores.masked_fill(~mask[:, :, None], -math.inf)
            ).softmax(-1)
        ),
        "value made from the key": variant(
            forward=lambda self, query, key, value, mask=None: MyMultiHead.forward(
                self, query, key, key, mask
            )
        ),
        "all from the query": variant(
            forward=lambda self, query, key, value, mask=None: MyMultiHead.forward(
                self, query, query, query, mask
            )
        ),
        "weights averaged": variant(
            forward=lambda self, *inputs: (lambda o, w: (o, w.mean(1)))(*MyMultiHead.forward(self, *inputs))
        ),
        "results swapped": variant(forward=lambda self, *inputs: MyMultiHead.forward(self, *inputs)[::-1]),
        "query added": variant(
            forward=lambda self, query, *more: (lambda o, w: (o + query, w))(
                *MyMultiHead.forward(self, query, *more)
            )
        ),
    }
}


UNKNOWN = {
    check_multi_head_layer: {
        "matrices of another name": NoMatrices,
        "dropout": variant(weights=lambda self, *inputs: F.dropout(MyMultiHead.weights(self, *inputs), 0.3)),
        "output alone": variant(forward=lambda self, *inputs: MyMultiHead.forward(self, *inputs)[0]),
        "relu at the end": variant(
            forward=lambda self, *inputs: (lambda o, w: (o.relu(), w))(*MyMultiHead.forward(self, *inputs))
        ),
    }
}


test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)
