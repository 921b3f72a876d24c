"""The masks: what each query may see, and what the same mask is in PyTorch's two conventions."""

import re
from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensors import META, quick, random
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.masks import causal, combine, for_heads, from_multihead, padding, to_multihead, window

lengths_of_rows = st.lists(st.integers(0, 6), min_size=1, max_size=5)


def shows(mask: Tensor, expected: list[list[list[bool]]], shape: tuple[int, ...]) -> bool:
    return mask.dtype == torch.bool and mask.shape == shape and mask.tolist() == expected


@quick
@given(lengths_of_rows, st.one_of(st.none(), st.integers(0, 8)))
def test_padding_shows_each_example_its_first_keys(lengths: list[int], longest: int | None) -> None:
    m = max(lengths) if longest is None else longest
    expected = [[[position < length for position in range(m)]] for length in lengths]
    for dtype in (torch.uint8, torch.int32, torch.int64):
        assert shows(padding(torch.tensor(lengths, dtype=dtype), longest), expected, (len(lengths), 1, m))


@quick
@given(st.integers(0, 6), st.integers(0, 4), st.integers(1, 9), st.integers(0, 9))
def test_causal_shows_the_past_and_a_window_the_last_few_and_the_first_few(n, cached, width, sinks) -> None:
    m = n + cached
    past = [[[key <= query for key in range(m)] for query in range(cached, m)]]
    assert shows(causal(n, m), past, (1, n, m))
    few = [
        [
            [key <= query and (query - key < width or key < sinks) for key in range(m)]
            for query in range(cached, m)
        ]
    ]
    assert shows(window(n, np.int64(width), sinks, m), few, (1, n, m))
    if cached == 0:
        assert causal(n).equal(causal(n, n))
        assert window(n, width, sinks).equal(window(n, width, sinks, n))
        assert window(n, 9).equal(causal(n))


@quick
@given(lengths_of_rows)
def test_combine_shows_what_all_show(lengths: list[int]) -> None:
    odd = (torch.arange(6) % 2 == 1).view(1, 1, 6)
    assert combine(odd).equal(odd)
    expected = [
        [[key < length and key <= query and key % 2 == 1 for key in range(6)] for query in range(6)]
        for length in lengths
    ]
    assert combine(padding(torch.tensor(lengths), 6), causal(6), odd).tolist() == expected


def test_on_meta() -> None:
    assert padding(torch.ones(3, dtype=torch.int64, device="meta"), longest=7).shape == (3, 1, 7)
    assert causal(3, 5, device=META).is_meta
    assert window(3, 2, 1, 5, META).is_meta


# ---- PyTorch's conventions ----


@st.composite
def masks(draw: st.DrawFn) -> Tensor:
    """A mask in each of its forms. Every query sees a key: PyTorch's module gives NaN otherwise."""
    batch, n, m = draw(st.sampled_from([(3, 4, 5), (3, 1, 5), (1, 4, 5)]))
    shown = draw(st.lists(st.booleans(), min_size=batch * n * m, max_size=batch * n * m))
    mask = torch.tensor(shown).view(batch, n, m)
    mask[..., 0] = True
    return mask


@quick
@given(masks())
def test_both_of_pytorchs_attentions_see_just_what_the_mask_shows(mask: Tensor) -> None:
    query, key = random(3, 4, 8).float(), random(3, 5, 8).float()
    attention = nn.MultiheadAttention(8, 2, batch_first=True)
    _, weights = attention(query, key, key, **to_multihead(mask, heads=2), average_attn_weights=False)
    assert (weights > 0).equal(for_heads(mask).expand(3, 2, 4, 5))

    # With an identity matrix as values, the output is the weights.
    query, key = (x.unflatten(-1, (2, 4)).transpose(1, 2) for x in (query, key))
    value = torch.eye(5).expand(3, 2, 5, 5)
    weights = F.scaled_dot_product_attention(query, key, value, attn_mask=for_heads(mask))
    assert (weights > 0).equal(for_heads(mask).expand(3, 2, 4, 5))
    assert from_multihead(2, **to_multihead(mask, heads=2)).equal(mask)


def test_the_masks_of_the_module_are_read_together() -> None:
    lengths = torch.tensor([4, 2])
    future = nn.Transformer.generate_square_subsequent_mask(4) != 0  # -inf where blocked
    blocked = torch.arange(4) >= lengths[:, None]
    assert from_multihead(2, future, blocked).equal(combine(padding(lengths), causal(4)))
    assert from_multihead(2, attn_mask=future).equal(causal(4))
    assert from_multihead(2, key_padding_mask=blocked).equal(padding(lengths))
    # One row for all is padding of one example.
    one = to_multihead(padding(torch.tensor([2]), 3), heads=2)
    assert one["key_padding_mask"].tolist() == [[False, False, True]]


# ---- what cannot work ----

HIDES = torch.zeros(3, 4, dtype=torch.bool)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: padding(torch.tensor([1.0])), "lengths must be (batch,) whole numbers, got (1,)"),
        (lambda: padding(torch.tensor([True])), "lengths must be (batch,) whole numbers, got (1,)"),
        (lambda: padding(torch.tensor([[1]])), "whole numbers, got (1, 1) of torch.int64"),
        (lambda: causal(3, 2), "from 0 to m, since the queries are the last n positions, got n = 3, m = 2"),
        (lambda: window(3, 0), "width must be at least 1, got 0"),
        (lambda: window(3, 1.5), "width must be a whole number, got 1.5"),
        (lambda: window(3, 2, sinks=-1), "sinks must be at least 0, got -1"),
        (lambda: window(3, 2, m=2), "n must be from 0 to m"),
        (lambda: combine(), "masks must be at least one, got none"),
        *(
            (lambda shape=shape: combine(torch.ones(2, 5, 5).bool(), torch.ones(shape).bool()), "equal or 1")
            for shape in [(3, 1, 5), (1, 4, 5), (1, 1, 6)]
        ),
        (lambda: from_multihead(2), "attn_mask or key_padding_mask must be given, got neither"),
        (lambda: from_multihead(2, attn_mask=HIDES.float()), "becomes one with `attn_mask != 0`"),
        (lambda: from_multihead(2, key_padding_mask=HIDES.float()), "with `key_padding_mask != 0`"),
        (lambda: from_multihead(2, key_padding_mask=HIDES[0]), "key_padding_mask must be (batch, m)"),
        (lambda: from_multihead(2, attn_mask=HIDES[0]), "attn_mask must be (n, m) or (batch · heads, n, m)"),
        (lambda: from_multihead(2, attn_mask=HIDES[:, None]), "n, m), got (3, 1, 4) and heads = 2"),
        (lambda: from_multihead(0, attn_mask=HIDES[None]), "heads must be at least 1, got 0"),
        (lambda: from_multihead(2, attn_mask=torch.tensor([True, False]).view(2, 1, 1)),
            "attn_mask must hide the same from every head"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        call()


@pytest.mark.parametrize(
    "function",
    [for_heads, combine, lambda mask: combine(causal(5), mask), lambda mask: to_multihead(mask, 2)],
)
def test_a_mask_of_batch_and_time_is_refused_everywhere(function: Callable[[Tensor], Tensor]) -> None:
    for shape in ((5, 5), (2, 1, 1, 5)):
        with pytest.raises(ValueError, match=r"mask must be \(batch, n, m\), got"):
            function(torch.ones(shape, dtype=torch.bool))
    with pytest.raises(TypeError, match=r"boolean, got torch\.float32: .* becomes one with `mask == 0`"):
        function(torch.zeros(2, 5, 5))
