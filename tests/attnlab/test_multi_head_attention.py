"""Attention with many heads, against PyTorch's own layer."""

import math
from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tensors import (
    TOLERANCE,
    assert_same,
    assert_same_gradients,
    learnable,
    quick,
    random,
    random_mask,
    several,
    with_and_without_weights,
)
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import Cache, MultiHeadAttention, masked_softmax
from attnlab.masks import causal, combine, for_heads, padding, to_multihead
from attnlab.positions import alibi, rotary
from attnlab.scores import General, dot, scaled_dot


def pair(
    d_model: int, heads: int, dtype: torch.dtype = torch.float64, dropout: float = 0.0, bias: bool = True
) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Our module and PyTorch's with the same weights, biases that are not 0 included."""
    theirs = nn.MultiheadAttention(d_model, heads, dropout, bias, batch_first=True, dtype=dtype)
    for seed, parameter in enumerate(theirs.parameters()):
        parameter.data = random(*parameter.shape, dtype=dtype, seed=seed) / math.sqrt(d_model)
    ours = MultiHeadAttention(d_model, heads, dropout).to(dtype)
    # Ours always has biases. They are 0 at the start, which is what none is.
    ours.load_state_dict(theirs.state_dict(), strict=bias)
    return ours, theirs


@st.composite
def cases(draw: st.DrawFn) -> tuple[MultiHeadAttention, nn.MultiheadAttention, list[Tensor], Tensor | None]:
    """Both modules; what they are given, (x), (x, memory) or (query, key, value); and a mask, or none."""
    count = draw(st.integers(1, 3))
    batch, n, m, heads, d_k = (draw(st.integers(1, 4)) for _ in range(5))
    n = m if count == 1 else n
    dtype, seed = draw(st.sampled_from(list(TOLERANCE))), draw(st.integers(0, 9))
    shapes = [(batch, length, heads * d_k) for length in (n, m, m)][:count]
    inputs = learnable(*several(*shapes, dtype=dtype, seed=seed))
    padded = padding(torch.tensor(draw(st.lists(st.integers(0, m), min_size=batch, max_size=batch))), m)
    # One row more, of which the first hides everything.
    rows, first = draw(st.sampled_from([1, n])), draw(st.integers(0, 1))
    own = random_mask(draw(st.sampled_from([1, batch])), rows + 1, m, seed=seed)[:, first : first + rows]
    masks = [None, padded, own]
    if n <= m:  # without a past that is as long, no query has a place among the keys
        masks += [causal(n, m), combine(padded, causal(n, m))]
    return *pair(heads * d_k, heads, dtype, bias=draw(st.booleans())), inputs, draw(st.sampled_from(masks))


@settings(quick, max_examples=100)
@given(cases())
def test_equals_pytorchs_own(case) -> None:
    ours, theirs, inputs, mask = case
    seen = torch.ones(len(inputs[0]), inputs[0].shape[1], inputs[-1].shape[1]).bool()
    if mask is not None:
        seen = seen & mask  # (B, n, m)
    shown = seen.any(-1, keepdim=True)  # (B, n, 1)
    # A query that sees nothing is NaN in PyTorch's module: there it sees all, and is compared apart.
    their_masks = to_multihead(seen | ~shown, ours.heads)
    query, key, value = inputs + inputs[-1:] * (3 - len(inputs))
    expected, expected_weights = theirs(query, key, value, **their_masks, average_attn_weights=False)
    our_inputs = [*inputs, *(ours.get_parameter(name) for name, _ in theirs.named_parameters())]
    for need_weights in (True, False):
        output, weights = ours(*inputs, mask=mask, need_weights=need_weights)
        assert_same(output * shown, expected * shown)
        assert_same_gradients(output * shown, expected * shown, our_inputs, [*inputs, *theirs.parameters()])
        # All heads of a query that sees nothing give 0, so that only the output's bias remains.
        assert_same(output * ~shown, ours.out_proj.bias * ~shown)
        if need_weights:
            assert_same(weights, expected_weights * for_heads(shown))
        else:
            assert weights is None


@with_and_without_weights
def test_dropout_while_training_only(need_weights: bool) -> None:
    ours, theirs = pair(8, 2, dropout=0.5)
    x = random(2, 6, 8)
    torch.manual_seed(0)
    dropped, weights = ours(x, need_weights=need_weights)
    assert weights is None or weights.sum(-1).allclose(torch.ones(2, 2, 6).double()), "given back whole"
    torch.manual_seed(0)
    # Both drop from the same weights with the same draws.
    assert_same(dropped, theirs(x, x, x, need_weights=need_weights)[0])
    whole, _ = pair(8, 2)
    assert not torch.allclose(dropped, whole(x)[0])
    assert_same(ours.eval()(x, need_weights=need_weights)[0], whole(x)[0])


@pytest.mark.parametrize("score", [dot, General(4, 4).double(), rotary, alibi])
@pytest.mark.parametrize("n", [2, 5])
def test_each_head_scores_with_the_score_it_is_given(score: Callable[..., Tensor], n: int) -> None:
    plain, _ = pair(8, 2)
    attention = MultiHeadAttention(8, 2, score=score).double()
    attention.load_state_dict(plain.state_dict(), strict=False)
    query, memory = learnable(*several((3, n, 8), (3, 5, 8)))
    mask = combine(padding(torch.tensor([5, 4, 2])), causal(n, 5))

    queries = F.linear(query, plain.in_proj_weight[:8], plain.in_proj_bias[:8])
    keys, values = F.linear(memory, plain.in_proj_weight[8:], plain.in_proj_bias[8:]).split(8, dim=-1)
    all_scores = score(*(x.unflatten(-1, (2, 4)).transpose(1, 2) for x in (queries, keys)))
    expected_weights = masked_softmax(all_scores, for_heads(mask))
    mixed = [each @ values[..., 4 * h : 4 * h + 4] for h, each in enumerate(expected_weights.unbind(1))]
    expected = plain.out_proj(torch.cat(mixed, dim=-1))

    for need_weights in (True, False):
        output, weights = attention(query, memory, mask=mask, need_weights=need_weights)
        assert_same(output, expected)
        assert_same_gradients(output, expected, [query, memory])
        if need_weights:
            assert_same(weights, expected_weights)


def test_a_score_that_learns_is_part_of_the_module() -> None:
    attention = MultiHeadAttention(8, 2, score=General(4, 4)).double()
    assert {*attention.state_dict()} - {*MultiHeadAttention(8, 2).state_dict()} == {"score.weight"}
    output, _ = attention(random(2, 4, 8))
    output.square().sum().backward()
    assert attention.score.weight.grad.abs().min() > 0


def test_starts_as_pytorchs_does_and_their_state_dicts_are_one() -> None:
    torch.manual_seed(0)
    ours = MultiHeadAttention(8, 2, score=lambda query, key: dot(query, key))
    torch.manual_seed(0)
    theirs = nn.MultiheadAttention(8, 2, batch_first=True)
    assert [*ours.state_dict()] == [*theirs.state_dict()]
    assert all(map(torch.equal, ours.state_dict().values(), theirs.state_dict().values()))
    assert [name for name, _ in ours.named_parameters()] == [name for name, _ in theirs.named_parameters()]


@pytest.mark.parametrize("score", [scaled_dot, rotary, alibi])
def test_a_cache_gives_the_last_queries_what_the_whole_gives_them(score: Callable[..., Tensor]) -> None:
    torch.manual_seed(0)
    attention, text = MultiHeadAttention(8, 2, score=score).double(), random(2, 5, 8)
    whole, weights = attention(text, mask=causal(5))
    cache = Cache()
    attention(text[:, :3], mask=causal(3), cache=cache)
    rest, last_weights = attention(text[:, 3:], mask=causal(2, 5), cache=cache)
    assert_same(rest, whole[:, 3:])
    assert_same(last_weights, weights[:, :, 3:])


# ---- what cannot work ----


@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_inputs_of_other_axes_are_refused(name: str) -> None:
    for wrong, got in ((torch.ones(4, 8), r"\(4, 8\)"), (torch.ones(2, 4, 6), r"\(2, 4, 6\)")):
        arguments = dict.fromkeys(("query", "key", "value"), torch.ones(2, 4, 8)) | {name: wrong}
        with pytest.raises(ValueError, match=rf"{name} must be \(batch, length, d_model = 8\), got {got}"):
            MultiHeadAttention(8, 2)(**arguments)


def test_options_that_cannot_work_are_refused() -> None:
    for heads in (3, 0):
        with pytest.raises(ValueError, match=f"heads must divide d_model, .* = 10 and heads = {heads}"):
            MultiHeadAttention(10, heads)
    with pytest.raises(ValueError, match=r"dropout must be at least 0 and below 1, got 1\.5"):
        MultiHeadAttention(8, 2, dropout=1.5)
