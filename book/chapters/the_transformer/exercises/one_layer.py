"""A layer put together of its parts, its causal mask, and what goes wrong with either."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.shapes import Mask, Scores, Weights
from bookkit.checking.inputs import draw
from bookkit.checking.mistakes import Mistakes, Part
from bookkit.checking.mistakes.weighing import softmax

_WIDTH = 12


def _filled(module: nn.Module, seed: int) -> nn.Module:
    """The module with numbers that are the same on every machine: gains about 1, all others smaller."""
    for place, (name, parameter) in enumerate(module.named_parameters()):
        (numbers,) = draw(seed + place, tuple(parameter.shape))
        is_gain = parameter.dim() == 1 and name.endswith("weight")
        parameter.data = 1 + numbers / 4 if is_gain else 0.3 * numbers
    return module


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _wired(x: Tensor, attend: Part, feed: Part, norm_1: Part, norm_2: Part) -> Tensor:
    x = x + attend(norm_1(x))
    return x + feed(norm_2(x))  # type: ignore[no-any-return]


# How a layer is put together, of two blocks and two norms, with one mistake in it.
_WIRED: Mistakes = {
    "norms behind": (
        "The norms stand behind the sums, as in the first Transformer. Here each stands before its block, "
        "and nothing but sums is on the road.",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            norm_1(x + attend(x)), lambda x: 0, lambda x: norm_2(x + feed(x)) - x, _as_it_is, _as_it_is
        ),
    ),
    "norms behind the blocks": (
        "Each norm takes what its block answers. It stands before: x + block(norm(x)).",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            x, lambda x: norm_1(attend(x)), lambda x: norm_2(feed(x)), _as_it_is, _as_it_is
        ),
    ),
    "attention without its norm": (
        "Attention reads x as it is: norm_1 is missing.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, _as_it_is, norm_2),
    ),
    "feed-forward without its norm": (
        "The feed-forward network reads x as it is: norm_2 is missing.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, norm_1, _as_it_is),
    ),
    "norm_1 on the road": (
        "norm_1 is on the road: attention's answer is added to the normed x. Add it to x itself.",
        lambda x, attend, feed, norm_1, norm_2: _wired(norm_1(x), attend, feed, _as_it_is, norm_2),
    ),
    "norm_2 on the road": (
        "norm_2 is on the road: the feed-forward network's answer is added to the normed x. Add it to x "
        "itself.",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            norm_2(x + attend(norm_1(x))), lambda x: 0, feed, _as_it_is, _as_it_is
        ),
    ),
    "no norms": (
        "There are no norms: both blocks read x as it is.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, _as_it_is, _as_it_is),
    ),
    "one norm for both": (
        "Both blocks read through norm_1. The feed-forward network has a norm of its own, norm_2.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, norm_1, norm_1),
    ),
    "norms swapped": (
        "The norms have changed places: norm_1 stands before attention.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, attend, feed, norm_2, norm_1),
    ),
    "norms on the road": (
        "The norms are on the road: what is added to is the normed x. Hand it to the block alone, and add "
        "the answer to x itself.",
        lambda x, attend, feed, norm_1, norm_2: (
            norm_2(norm_1(x) + attend(norm_1(x))) + feed(norm_2(norm_1(x) + attend(norm_1(x))))
        ),
    ),
    "no residual": (
        "There is no road around the blocks: what they answer takes the place of x. Add it to x.",
        lambda x, attend, feed, norm_1, norm_2: feed(norm_2(attend(norm_1(x)))),
    ),
    "no residual around attention": (
        "The road leads around the feed-forward network alone. Add what attention answers to x, too.",
        lambda x, attend, feed, norm_1, norm_2: _wired(
            attend(norm_1(x)), lambda x: 0, feed, _as_it_is, norm_2
        ),
    ),
    "no residual around the feed-forward network": (
        "The road leads around attention alone. Add what the feed-forward network answers, too.",
        lambda x, attend, feed, norm_1, norm_2: feed(norm_2(x + attend(norm_1(x)))),
    ),
    "one residual around both": (
        "One road leads around both blocks together. Each has its own: add what attention answers to x, and "
        "to that what the feed-forward network makes of it.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(attend(norm_1(x)))),
    ),
    "side by side": (
        "The feed-forward network reads the layer's input. It comes second: it reads what attention has "
        "added to.",
        lambda x, attend, feed, norm_1, norm_2: x + attend(norm_1(x)) + feed(norm_2(x)),
    ),
    "attention's part lost": (
        "The second sum begins at the layer's input again, and what attention has added is lost. Begin "
        "where the first sum ended.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(x + attend(norm_1(x)))),
    ),
    "feed-forward first": (
        "The feed-forward network comes before attention. First the words look, then each thinks.",
        lambda x, attend, feed, norm_1, norm_2: _wired(x, feed, attend, norm_2, norm_1),
    ),
    "no feed-forward network": (
        "The feed-forward network is left out.",
        lambda x, attend, feed, norm_1, norm_2: x + attend(norm_1(x)),
    ),
    "no attention": (
        "Attention is left out: no word hears of another.",
        lambda x, attend, feed, norm_1, norm_2: x + feed(norm_2(x)),
    ),
}


def _shown(scores: Scores, change: Callable[[Tensor], Tensor] = torch.tril) -> Mask:
    """The mask that this makes of a square of ones: its last rows, where queries are fewer than keys."""
    n, m = scores.shape[-2:]
    return change(torch.ones(m, m, device="cpu"))[m - n :].bool()


def _under(mask: Mask, scores: Scores, value: float = -math.inf) -> Weights:
    return softmax(scores.masked_fill(~mask, value))


def _hidden(scores: Scores) -> Weights:
    return _under(_shown(scores), scores)


def _seen(change: Callable[[Tensor], Tensor], value: float = -math.inf) -> Callable[[Scores], Weights]:
    """Weights under another mask than tril."""
    return lambda scores: _under(_shown(scores, change), scores, value)


def _lowered(scores: Scores) -> Scores:
    return scores.masked_fill(~_shown(scores), -1e9)


_WEIGHED: Mistakes = {
    "no mask": (
        "There is no causal mask: each word sees those that it should foretell.",
        softmax,
    ),
    "one word too many": (
        "The mask is off by one: each word sees the next, which it should foretell.",
        _seen(lambda ones: ones.tril(1)),
    ),
    "not itself": (
        "The mask is off by one: a word does not see itself, and the first sees nothing, which is 0 / 0.",
        _seen(lambda ones: ones.tril(-1)),
    ),
    "mask turned": (
        "The mask is turned on its side: each word sees itself and what comes after.",
        _seen(torch.triu),
    ),
    "mask reversed": (
        "The mask is reversed: what may be seen is hidden, and what comes after is seen.",
        _seen(lambda ones: 1 - ones.tril()),
    ),
    "mask reversed, in one call": (
        "The mask is reversed. F.scaled_dot_product_attention wants True where a word may be seen, and "
        "nn.MultiheadAttention where it may not.",
        lambda scores: _seen(lambda ones: 1 - ones.tril())(scores).nan_to_num(),
    ),
    "mask times -inf": (
        "The mask is multiplied by -inf, and 0 times -inf is NaN. masked_fill puts -inf where it belongs.",
        lambda scores: scores * math.nan,
    ),
    "hidden after the softmax": (
        "What is hidden is set to 0 after the softmax, so that weights no longer sum to 1. Give it the score "
        "-inf before.",
        lambda scores: softmax(scores) * _shown(scores),
    ),
    "hidden scores 0": (
        "What is hidden gets the score 0, which is a score like any other. Give it -inf.",
        _seen(torch.tril, value=0),
    ),
    "mask added": (
        "The mask is added to the scores: True counts as 1, which favours a word a little and hides none.",
        lambda scores: softmax(scores + _shown(scores)),
    ),
    "softmax over the queries": (
        "The softmax runs over the queries, dim=-2. Each query shares its weight out over the keys: dim=-1.",
        lambda scores: _lowered(scores).softmax(-2),
    ),
    "softmax over the heads": (
        "The softmax runs over the heads, dim=1. Each head shares its weight out over the keys: dim=-1.",
        lambda scores: _lowered(scores).softmax(1),
    ),
    "softmax over the batch": (
        "The softmax runs over the batch, dim=0. Each query shares its weight out over the keys: dim=-1.",
        lambda scores: _lowered(scores).softmax(0),
    ),
    "no softmax": (
        "The softmax is missing: these weights are the scores themselves.",
        lambda scores: scores * _shown(scores),
    ),
}
