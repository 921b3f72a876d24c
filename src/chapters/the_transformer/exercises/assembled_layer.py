"""Put a layer together of an attention, a feed-forward network and two norms."""

import torch
from torch import Tensor, nn

from attnlab.attention import MultiHeadAttention
from attnlab.layers import FeedForward, LayerNorm
from attnlab.masks import causal, padding
from attnlab.shapes import Mask
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, whole
from bookkit.checking.mistakes import Part, in_parts
from bookkit.checking.mistakes.wirings import WIRINGS, as_it_is, wired
from chapters.the_transformer.exercises.filled import _WIDTH, _filled


def _parts(seed: int) -> list[nn.Module]:
    """A layer's attention, feed-forward network and two norms."""
    with torch.random.fork_rng(devices=[]):  # their first numbers are drawn, and replaced by ours
        modules = (
            MultiHeadAttention(_WIDTH, heads=3),
            FeedForward(_WIDTH, hidden=8),
            LayerNorm(_WIDTH),
            LayerNorm(_WIDTH),
        )
    return [_filled(module, seed + 100 * place) for place, module in enumerate(modules)]


def _layer(
    x: Tensor,
    mask: Mask,
    attention: Part,
    feed_forward: Part,
    norm_1: Part,
    norm_2: Part,
    *,
    wire: Part = wired,
) -> Tensor:
    return wire(  # type: ignore[no-any-return]
        x, lambda x: attention(x, mask=mask)[0], feed_forward, norm_1, norm_2
    )


check_assembled_layer = Exercise(
    "assembled_layer",
    difficulty=2,
    minutes=10,
    takes=("x", "mask", "attention", "feed_forward", "norm_1", "norm_2"),
    returns=("outputs",),
    reference=_layer,
    cases=(
        Case("right for one word", *draw(1, (1, 1, _WIDTH)), causal(1), *_parts(1000)),
        Case("right where every word sees all", *draw(2, (1, 3, _WIDTH)), padding(whole(3)), *_parts(2000)),
        Case("right under a causal mask", *draw(3, (2, 4, _WIDTH)), causal(4), *_parts(3000)),
        Case("right with padding", *draw(4, (2, 5, _WIDTH)), padding(whole(5, 2)), *_parts(4000)),
    ),
    mistakes=in_parts(_layer, wire=WIRINGS)
    | {
        "mask not used": (
            "The mask does not reach attention: attention(…, mask=mask).",
            lambda x, mask, attention, *others: _layer(x, mask, lambda x, mask: attention(x), *others),
        ),
        "mask reversed": (
            "The mask is turned round before it is used. Here True means that a word may be seen. (In "
            "nn.MultiheadAttention it means that it may not.)",
            lambda x, mask, *others: _layer(x, ~mask, *others),
        ),
        "mask as the key": (
            "The mask is handed over as the key, attention's second input. Say which it is: mask=mask.",
            lambda x, mask, attention, *others: _layer(x, mask, lambda x, mask: attention(x, mask), *others),
        ),
        "keys not normed": (
            "The queries are normed, and keys and values are x itself. All three come from the normed x.",
            lambda x, mask, attention, *others: _layer(
                x, mask, lambda normed, mask: attention(normed, x, mask=mask), *others
            ),
        ),
        "values not normed": (
            "The values are x itself. Queries, keys and values all come from the normed x.",
            lambda x, mask, attention, *others: _layer(
                x, mask, lambda normed, mask: attention(normed, normed, x, mask=mask), *others
            ),
        ),
        "queries not normed": (
            "The queries are x itself. All three come from the normed x.",
            lambda x, mask, attention, feed_forward, norm_1, norm_2: _layer(
                x,
                mask,
                lambda x, mask: attention(x, norm_1(x), mask=mask),
                feed_forward,
                as_it_is,
                norm_2,
            ),
        ),
        "weights added": (
            "Of attention's two results the weights are added. Take the output: attention(…)[0].",
            lambda x, mask, attention, *others: _layer(
                x, mask, lambda normed, mask: attention(normed, mask=mask)[1:], *others
            ),
        ),
        "both results added": (
            "Attention returns two things, its output and its weights. Take the first: attention(…)[0].",
            lambda x, mask, attention, feed_forward, norm_1, norm_2: x + attention(norm_1(x), mask=mask),
        ),
    },
)
