"""“Many heads”: many right ways, learners' mistakes, and faults that no catalogue holds."""

import copy
import math

import exercise_cases
import pytest
import torch
from exercise_cases import changed, judged_as, words
from torch import nn
from torch.nn import functional as F

from chapters.many_heads.exercises import (
    check_head_jobs,
    check_joined_heads,
    check_multi_head_layer,
    check_multi_head_parameters,
    check_repaired_heads,
    check_split_heads,
)

parameters_of, split, join = (
    check.reference for check in (check_multi_head_parameters, check_split_heads, check_joined_heads)
)
in_heads, jobs_of = check_repaired_heads.reference, check_head_jobs.reference


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


def test_the_broken_code_fails_and_its_one_passing_case_is_the_clue():
    exercise_cases.assert_still_broken(check_repaired_heads, broken_heads, "✓✗✗✗✗")


def test_the_reference_counts_what_a_layer_holds():
    for d_model, heads, bias in ((4, 1, True), (6, 3, False), (512, 8, True)):
        layer = nn.MultiheadAttention(d_model, heads, bias=bias)
        assert parameters_of(d_model, heads, bias) == sum(each.numel() for each in layer.parameters())


def test_the_whole_layer_names_at_least_twenty_mistakes():
    alone = [name for name in check_multi_head_layer.mistakes if not name.endswith(", does not refuse")]
    assert len(alone) >= 20


# --- right, in other words ---


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


def split_by_hand(x, heads):
    return torch.stack(x.chunk(heads, dim=-1), dim=1)


def columns(model, head):
    d_k = model.attention.W_O.in_features // model.attention.heads
    return slice(head * d_k, (head + 1) * d_k)


def right(model, x, names):
    return (model(x)[0].argmax(-1) == names).float().flatten(0, 1).mean(0)


def put_back(model, x, names):
    """In the model itself, as it was in the end."""
    weight, jobs = model.attention.W_O.weight.data, []
    kept = weight.clone()
    for head in range(model.attention.heads):
        weight[:, columns(model, head)] = 0
        share = right(model, x, names)
        jobs.append(int(share.argmin()) if share.min() < 0.5 else -1)
        weight.copy_(kept)
    return jobs


def alone(model, x, names):
    """What is right with one head and no other."""
    jobs = []
    for head in range(model.attention.heads):
        only = copy.deepcopy(model)
        keep = torch.zeros(only.attention.W_O.in_features)
        keep[columns(model, head)] = 1
        only.attention.W_O.weight.data *= keep
        share = right(only, x, names)
        jobs.append(share.argmax() if share.max() > 0.5 else torch.tensor(-1))
    return torch.stack(jobs)


def values_silenced(model, x, names):
    """Another place where a head can be taken away: what it hands on."""
    jobs = []
    for head in range(model.attention.heads):
        damaged = copy.deepcopy(model)
        damaged.attention.W_V.weight.data[columns(model, head)] = 0
        damaged.attention.W_V.bias.data[columns(model, head)] = 0
        lost = right(model, x, names) - right(damaged, x, names)
        jobs.append(lost.argmax().item() if lost.max() > 0.5 else -1)
    return tuple(jobs)


RIGHT = {
    check_multi_head_parameters: {
        "pytorch's": lambda d, heads, bias: sum(
            each.numel() for each in nn.MultiheadAttention(d, heads, bias=bias, device="meta").parameters()
        ),
        "head by head": lambda d, heads, bias: heads * 3 * d * (d // heads) + d * d + (4 * d if bias else 0),
        "d + 1": lambda d, heads, bias: 4 * d * (d + 1) if bias else 4 * d * d,
    },
    check_split_heads: {
        "chunks": split_by_hand,
        "unflatten": lambda x, heads: x.unflatten(-1, (heads, -1)).permute(0, 2, 1, 3).contiguous(),
    },
    check_joined_heads: {
        "cat": lambda x: torch.cat(x.unbind(1), dim=-1),
        "einsum": lambda x: torch.einsum("bhtd->bthd", x).reshape(len(x), x.shape[2], -1),
        "contiguous": lambda x: x.transpose(1, 2).contiguous().view(x.shape[0], -1, x.shape[1] * x.shape[3]),
    },
    check_repaired_heads: {
        "fused": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value)))
        ),
        "chunks": lambda query, key, value, heads: torch.cat(
            [
                F.scaled_dot_product_attention(*parts)
                for parts in zip(*(x.chunk(heads, -1) for x in (query, key, value)), strict=True)
            ],
            dim=-1,
        ),
    },
    check_multi_head_layer: {
        "step by step": MyMultiHead,
        "head by head": variant(forward=head_by_head),
        "einsum": variant(forward=by_einsum),
        "PyTorch's own": WithoutRandomNumbers,
        "-1e9": variant(
            weights=lambda self, scores, mask: (
                scores if mask is None else scores.masked_fill(~mask.unsqueeze(1), -1e9)
            ).softmax(-1)
        ),
        "a list": variant(forward=lambda self, *inputs: list(MyMultiHead.forward(self, *inputs))),
    },
    check_head_jobs: {
        "put back": put_back,
        "each alone": alone,
        "values silenced": values_silenced,
    },
}

# --- as learners got it wrong ---


def broken_heads(query, key, value, heads):
    batch, n, d_model = query.shape
    query, key, value = (x.view(batch, heads, -1, d_model // heads) for x in (query, key, value))
    weights = (query @ key.mT / (d_model // heads) ** 0.5).softmax(-1)
    return (weights @ value).reshape(batch, n, d_model)


def masked(change):
    return variant(weights=lambda self, scores, mask: change(scores, None if mask is None else mask[:, None]))


def no_bias(self, d_model, heads):
    MyMultiHead.__init__(self, d_model, heads)
    for name in ("W_Q", "W_K", "W_V"):
        setattr(self, name, nn.Linear(d_model, d_model, bias=False))


def never_refuses(self, d_model, heads):
    MyMultiHead.__init__(self, heads * (d_model // heads), heads)


def most_looked_at(model, x, names):
    """For each head the neighbour that its weights point at, on average."""
    weights = model(x)[1].mean(0)  # (heads, 8, 8)
    jobs = []
    for head in weights:
        away = torch.stack([head.roll(-k, 1).diagonal().mean() for k in range(8)]).argmax().item()
        said = x[..., :8].argmax(-1).roll(-away, 1).unsqueeze(-1)
        jobs.append(int((said == names).double().mean((0, 1)).argmax()))
    return jobs


NAMED = {
    check_multi_head_parameters: {
        "no output matrix": lambda d, heads, bias: 3 * d * d + (3 * d if bias else 0),
        "biases forgotten": lambda d, heads, bias: 3 * heads * d * (d // heads) + d**2,
        "no output bias": lambda d, heads, bias: 3 * d * (d + bias) + d * d,
        "one bias": lambda d, heads, bias: 4 * d * d + (d if bias else 0),
        "a whole layer for each head": lambda d, heads, bias: sum(4 * d * (d + bias) for _ in range(heads)),
        "one head only": lambda d, heads, bias: 4 * d * (d + bias) // heads,
    },
    check_split_heads: {
        "view without transpose": lambda x, heads: x.view(x.shape[0], heads, x.shape[1], x.shape[2] // heads),
        "every other number": lambda x, heads: torch.stack([x[..., i::heads] for i in range(heads)], 1),
        "not transposed": lambda x, heads: x.view(*x.shape[:2], heads, -1),
        "heads in front": lambda x, heads: torch.stack(split_by_hand(x, heads).unbind(1)),
        "heads and width swapped": lambda x, heads: split_by_hand(x, heads).permute(0, 1, 3, 2),
        "batch and heads in one": lambda x, heads: split_by_hand(x, heads).reshape(
            -1, x.shape[1], x.shape[2] // heads
        ),
    },
    check_joined_heads: {
        "not transposed": lambda x: x.reshape(x.shape[0], x.shape[2], x.shape[1] * x.shape[3]),
        "numbers woven": lambda x: torch.stack(x.unbind(1), -1).flatten(2),
        "heads from the last": lambda x: torch.cat(x.unbind(1)[::-1], dim=-1),
        "heads averaged": lambda x: sum(x.unbind(1)) / x.shape[1],
        "heads added": lambda x: torch.stack(x.unbind(1)).sum(0),
        "one below the other": lambda x: torch.cat(x.unbind(1), dim=1),
        "not joined": lambda x: x.permute(0, 2, 1, 3),
    },
    check_repaired_heads: {
        "still broken": broken_heads,
        "mended on the way in": lambda query, key, value, heads: F.scaled_dot_product_attention(
            *(split(x, heads) for x in (query, key, value))
        ).reshape(query.shape),
        "mended on the way out": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(
                *(x.reshape(len(x), heads, -1, x.shape[2] // heads) for x in (query, key, value))
            )
        ),
        "one head": lambda query, key, value, heads: F.scaled_dot_product_attention(query, key, value),
        "root of d_model": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(
                *(split(x, heads) for x in (query, key, value)), scale=query.shape[-1] ** -0.5
            )
        ),
        "not scaled": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value)), scale=1)
        ),
        "numbers woven": lambda query, key, value, heads: torch.stack(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value))).unbind(1), -1
        ).flatten(2),
    },
    check_multi_head_layer: {
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
    },
    check_head_jobs: {
        "read off the weights": most_looked_at,
        "counted from 1": lambda *inputs: [job + 1 if job >= 0 else -1 for job in jobs_of(*inputs).tolist()],
    },
}


def variant_without(layer, name):
    """The same layer, in which one of the matrices does nothing."""
    other = copy.copy(layer)
    other._modules = {**layer._modules, name: nn.Identity()}
    return other


# --- wrong, in ways that the catalogue does not hold ---


class NoMatrices(nn.Module):
    def __init__(self, d_model, heads):
        super().__init__()
        if d_model % heads:
            raise ValueError

    def forward(self, query, key, value, mask=None):
        return query, query @ key.mT


UNKNOWN = {
    check_multi_head_parameters: {
        "half": changed(parameters_of, lambda number: number // 2),
        "one more": changed(parameters_of, lambda number: number + 1),
        "fifth matrix": lambda d, heads, bias: 5 * (d * d + bias * d),
    },
    check_split_heads: {
        "heads reversed": lambda x, heads: split(x, heads).flip(1),
        "words reversed": lambda x, heads: split(x.flip(1), heads),
        "doubled": lambda x, heads: 2 * split(x, heads),
    },
    check_joined_heads: {
        "words reversed": lambda x: join(x.flip(2)),
        "batch reversed": lambda x: join(x.flip(0)),
    },
    check_repaired_heads: {
        "values reversed": lambda query, key, value, heads: in_heads(query, key, value.flip(1), heads),
        "causal": lambda query, key, value, heads: join(
            F.scaled_dot_product_attention(*(split(x, heads) for x in (query, key, value)), is_causal=True)
        ),
    },
    check_multi_head_layer: {
        "matrices of another name": NoMatrices,
        "dropout": variant(weights=lambda self, *inputs: F.dropout(MyMultiHead.weights(self, *inputs), 0.3)),
        "output alone": variant(forward=lambda self, *inputs: MyMultiHead.forward(self, *inputs)[0]),
        "relu at the end": variant(
            forward=lambda self, *inputs: (lambda o, w: (o.relu(), w))(*MyMultiHead.forward(self, *inputs))
        ),
    },
    check_head_jobs: {
        "always the first": lambda model, x, names: [0] * model.attention.heads,
        "a number": lambda model, x, names: 1,
        "too few": lambda model, x, names: [0],
        "left damaged": lambda model, x, names: [
            model.attention.W_O.weight.data[:, columns(model, head)].zero_() is None
            for head in range(model.attention.heads)
        ],
    },
}

test_right, test_named, test_unknown = judged_as(RIGHT, NAMED, UNKNOWN)

# --- right numbers that can't be trained ---


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


def test_a_remark_on_a_loop_over_the_heads_alone():
    for name, layer in RIGHT[check_multi_head_layer].items():
        remarked = "A loop of Python's" in words(check_multi_head_layer.judge(layer))
        assert remarked == (name == "head by head"), name
