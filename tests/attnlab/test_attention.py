"""Attention with one head, against PyTorch's and against a plain loop."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tensors import (
    ALL_DTYPES,
    HALVES,
    META,
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
from torch import Tensor
from torch.func import grad, vmap
from torch.nn import functional as F

from attnlab.attention import attend, gate, masked_softmax
from attnlab.masks import causal, combine, padding
from attnlab.runtime import choose_device
from attnlab.scores import Additive, Concat, General, dot, scaled_dot


def query_by_query(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Scaled dot-product attention from its definition: each query alone, over just the keys it sees."""
    scores_shape = (*query.shape[:-1], key.shape[-2])
    mask = torch.ones(scores_shape).bool() if mask is None else mask.expand(scores_shape)
    outputs, weights = [], []
    flat = (x.reshape(-1, *x.shape[-2:]) for x in (query, key, value, mask))
    for queries, keys, values, rows in zip(*flat, strict=True):
        for q, seen in zip(queries, rows, strict=True):
            row = torch.zeros(len(keys), dtype=q.dtype)
            if seen.any():
                exponentials = torch.stack([(q * k).sum() / math.sqrt(len(q)) for k in keys[seen]]).exp()
                row[seen] = exponentials / exponentials.sum()
            weights.append(row)
            outputs.append(sum(weight * v for weight, v in zip(row, values, strict=True)))
    return torch.stack(outputs).view(*query.shape[:-1], -1), torch.stack(weights).view(scores_shape)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Tensor], Tensor | None]:
    """Query, key and value, and a mask or none, which may have one row for all and hide all from a query."""
    leading = draw(st.sampled_from([(), (2,), (2, 3), (2, 1, 3)]))
    n, m, d_k, d_v = (draw(st.integers(1, 5)) for _ in range(4))
    dtype, seed = draw(st.sampled_from(list(TOLERANCE))), draw(st.integers(0, 9))
    shapes = ((*leading, n, d_k), (*leading, m, d_k), (*leading, m, draw(st.sampled_from([d_k, d_v]))))
    inputs = learnable(*several(*shapes, dtype=dtype, seed=seed))
    if draw(st.booleans()):
        return inputs, None
    mask_leading = [draw(st.sampled_from([1, size])) for size in leading]
    rows, first = draw(st.sampled_from([1, n])), draw(st.integers(0, 1))
    return inputs, random_mask(*mask_leading, rows + 1, m, seed=seed)[..., first : first + rows, :]


# ---- attend ----


@quick
@given(cases())
def test_equals_the_definition_and_pytorchs_own(case: tuple[list[Tensor], Tensor | None]) -> None:
    inputs, mask = case
    expected_output, expected_weights = query_by_query(*inputs, mask)
    theirs = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
    for need_weights in (True, False):
        ours, weights = attend(*inputs, mask=mask, need_weights=need_weights)
        assert_same(ours, expected_output)
        assert_same(ours, theirs)
        assert_same_gradients(ours, theirs, inputs)
        if need_weights:
            assert_same(weights, expected_weights)
        else:
            assert weights is None


def test_leading_axes_broadcast() -> None:
    inputs = learnable(*several((2, 1, 4, 3), (3, 5, 3), (2, 3, 5, 2)))
    theirs = F.scaled_dot_product_attention(*(x.expand(2, 3, *x.shape[-2:]) for x in inputs))
    for need_weights in (True, False):
        ours, _ = attend(*inputs, need_weights=need_weights)
        assert_same(ours, theirs)
        assert_same_gradients(ours, theirs, inputs)
    # One query set, one key set, two value sets: the weights are of the first two alone.
    output, weights = attend(*several((4, 3), (5, 3), (2, 5, 2)), mask=torch.ones(4, 5).bool())
    assert output.shape == (2, 4, 2)
    assert weights.shape == (4, 5)


def test_gradients_of_the_weights() -> None:
    inputs, mask = learnable(*several((2, 3, 4), (2, 5, 4), (2, 5, 2))), random_mask(2, 3, 5)
    assert torch.autograd.gradcheck(lambda *args: attend(*args, mask=mask), inputs)


@pytest.mark.parametrize("dtype", HALVES)
def test_half_precision(dtype: torch.dtype) -> None:
    inputs = several(*3 * [(2, 6, 8)], dtype=dtype)
    mask = combine(padding(torch.tensor([6, 3])), causal(6))
    exact = attend(*(x.double() for x in inputs), mask=mask)
    # Scores of order 1 are rounded, the weights made of them are rounded, and so is their mix.
    steps = 8 * torch.finfo(dtype).eps
    for need_weights in (True, False):
        found = attend(*inputs, mask=mask, need_weights=need_weights)
        for ours, wanted in zip(found[: 1 + need_weights], exact, strict=False):
            assert ours.dtype == dtype
            torch.testing.assert_close(ours.double(), wanted, rtol=steps, atol=steps)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@with_and_without_weights
def test_scores_of_ten_thousand(dtype: torch.dtype, need_weights: bool) -> None:
    # 100 · 100 and -100 · 100; the third key, at 2 · 10 000, would win but is hidden.
    query = torch.tensor([[[100.0], [-100.0]]], dtype=dtype, requires_grad=True)
    key = torch.tensor([[[100.0], [-100.0], [200.0]]], dtype=dtype)
    value = torch.tensor([[[1.0], [2.0], [3.0]]], dtype=dtype)
    mask = padding(torch.tensor([2]), 3)
    output, weights = attend(query, key, value, mask=mask, need_weights=need_weights)
    assert output.tolist() == [[[1.0], [2.0]]]
    assert weights is None or weights.tolist() == [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    (gradient,) = torch.autograd.grad(output.sum(), query)
    assert gradient.eq(0).all()


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
@with_and_without_weights
def test_a_query_that_sees_nothing(dtype: torch.dtype, leading: tuple[int, ...], need_weights: bool) -> None:
    device = choose_device()
    inputs = learnable(*(x.to(device) for x in several(*3 * [(*leading, 8, 8)], dtype=dtype)))
    mask = random_mask(*leading, 8, 8).to(device)
    output, weights = attend(*inputs, mask=mask, need_weights=need_weights)
    assert output[..., 0, :].eq(0).all()
    assert weights is None or weights[..., 0, :].eq(0).all()
    gradients = torch.autograd.grad(output.square().sum() + output.sum(), inputs)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert gradients[0][..., 0, :].eq(0).all()
    # Everything hidden from everyone.
    output, _ = attend(*inputs, mask=mask & False, need_weights=need_weights)
    assert all(x.eq(0).all() for x in (output, *torch.autograd.grad(output.sum(), inputs)))


@with_and_without_weights
def test_padding_never_matters(need_weights: bool) -> None:
    mask = padding(torch.tensor([5, 2]))
    padded = ~mask.transpose(1, 2)
    results = []
    for content in (0.0, 1e30):
        query, key, value = learnable(*several(*3 * [(2, 5, 4)]))
        filled = key.masked_fill(padded, content), value.masked_fill(padded, content)
        output, _ = attend(query, *filled, mask=mask, need_weights=need_weights)
        gradients = torch.autograd.grad(output.square().sum(), [query, *filled], retain_graph=True)
        assert all(gradient.masked_select(padded).eq(0).all() for gradient in gradients[1:])
        results.append((output, *gradients))
    for first, second in zip(*results, strict=True):
        assert_same(first, second)


def test_without_weights_they_are_never_held() -> None:
    x = random(1, 1024, 16, dtype=torch.float32)
    cpu = [torch.profiler.ProfilerActivity.CPU]
    for inputs in (3 * [x], 3 * [x[:, None]]):
        with torch.profiler.profile(activities=cpu, profile_memory=True) as profile:
            attend(*inputs, need_weights=False)
        events = profile.profiler.kineto_results.events()
        assert 0 < max(e.nbytes() for e in events if e.name() == "[memory]") < 1024 * 1024 * 4


# PyTorch warns that its fused kernel has no batching rule of its own, and runs one seed after the other.
@pytest.mark.filterwarnings("ignore:There is a performance drop")
@with_and_without_weights
def test_vmap(need_weights: bool) -> None:
    inputs, mask = several(*3 * [(3, 2, 5, 4)]), random_mask(3, 2, 5, 5)

    def output(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
        return attend(query, key, value, mask=mask, need_weights=need_weights)[0]

    def loss(*args: Tensor) -> Tensor:
        return output(*args).square().sum()

    assert_same(vmap(output)(*inputs, mask), output(*inputs, mask))
    assert_same(vmap(grad(loss))(*inputs, mask), grad(loss)(*inputs, mask))


# ---- with other scores ----


@pytest.mark.parametrize(
    "score",
    [
        dot,
        scaled_dot,
        General(4, 4).double(),
        Concat(4, 4, hidden=6).double(),
        Additive(4, 4, hidden=6).double(),
        Additive(4, 4, hidden=6, chunk=2).double(),
        # Its backward pass needs its own output, so nothing may write over the scores.
        lambda query, key: -torch.cdist(query, key),
    ],
)
def test_any_score(score: Callable[[Tensor, Tensor], Tensor]) -> None:
    query, key, value = learnable(*several((2, 4, 4), (2, 5, 4), (2, 5, 3)))
    mask = padding(torch.tensor([5, 3]))
    output, weights = attend(query, key, value, score=score, mask=mask)
    expected = score(query, key).masked_fill(~mask, -math.inf).softmax(-1)
    assert_same(weights, expected)
    assert_same(output, expected @ value)
    assert_same_gradients(output, expected @ value, [query, key, value])
    without, none = attend(query, key, value, score=score, mask=mask, need_weights=False)
    assert_same(without, output)
    assert none is None


def test_a_score_takes_other_widths() -> None:
    output, _ = attend(*several((4, 3), (5, 7), (5, 2)), score=General(3, 7).double())
    assert output.shape == (4, 2)


# ---- the softmax under a mask ----


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("mask_rows", [1, 2])
def test_no_visible_score_is_too_low(dtype: torch.dtype, mask_rows: int) -> None:
    limits = torch.finfo(dtype)
    scores = torch.tensor([[limits.min, 0.0], [limits.min, limits.max]], dtype=dtype)
    mask = torch.tensor([[True, False]]).repeat(mask_rows, 1)
    assert masked_softmax(scores, mask).tolist() == [[1.0, 0.0], [1.0, 0.0]]
    assert masked_softmax(random(2, 3, 4)).equal(random(2, 3, 4).softmax(-1)), "without a mask"


@pytest.mark.parametrize("hidden", [1e30, -1e30, -math.inf])
@pytest.mark.parametrize("mask_batch", [1, 2])
def test_a_hidden_score_changes_nothing_and_gets_no_gradient(hidden: float, mask_batch: int) -> None:
    mask = random_mask(mask_batch, 4, 5)
    (scores,) = learnable(random(2, 4, 5))
    # Where nothing is visible an infinite score stays away: the query keeps its scores until the end.
    (others,) = learnable(torch.where(mask | ~mask.any(-1, keepdim=True), scores, hidden))
    results = [masked_softmax(scores, mask), masked_softmax(others, mask)]
    assert results[0].equal(results[1])
    for inputs, weights in zip((scores, others), results, strict=True):
        (gradient,) = torch.autograd.grad(weights.square().sum(), inputs)
        assert gradient.masked_select(~mask).eq(0).all()
        assert gradient.masked_select(mask).ne(0).any()


def test_gradients_twice() -> None:
    mask = random_mask(2, 4, 5)
    scores = learnable(random(2, 4, 5))
    assert torch.autograd.gradgradcheck(lambda scores: masked_softmax(scores, mask), scores)


@pytest.mark.parametrize("dtype", HALVES)
def test_gradients_in_half_precision_are_rounded_once(dtype: torch.dtype) -> None:
    (scores,) = learnable(random(4, 64, dtype=dtype))
    weights = masked_softmax(scores, random_mask(4, 64))
    # The larger the number that all have in common, the less may be rounded before it is taken off.
    backward = (10 + random(4, 64, seed=1)).to(dtype)
    (gradient,) = torch.autograd.grad(weights, scores, backward)
    exact, flow = weights.double(), backward.double()
    expected = exact * (flow - (exact * flow).sum(-1, keepdim=True))
    # Half a step of rounding, beside which float32 is exact.
    torch.testing.assert_close(gradient.double(), expected, rtol=torch.finfo(dtype).eps, atol=1e-6)


def test_a_gate_gives_each_feature_its_own_share() -> None:
    features, attention = learnable(random(2, 3), random(2, 3, seed=1).sigmoid())
    products = [[z * a for z, a in zip(*rows, strict=True)] for rows in zip(features, attention, strict=True)]
    assert gate(features, attention).tolist() == products
    assert torch.autograd.gradcheck(gate, (features, attention))
    with pytest.raises(ValueError, match=r"attention must have the shape of features, \(2, 3\), got \(2, 1"):
        gate(torch.ones(2, 3), torch.ones(2, 1))


# ---- what cannot work ----


def of(*shape: int, **more: object) -> Tensor:
    return torch.ones(*shape, **more)


@with_and_without_weights
@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"query": of(3)}, "query must be (…, length, width), got (3,)"),
        ({"value": of(6)}, "value must be (…, length, width), got (6,)"),
        ({"key": of(2, 5, 4)}, "key must be (…, m, d_k = 3), got (2, 5, 4)"),
        ({"value": of(2, 4, 6)}, "value must be (…, m = 5, d_v), got (2, 4, 6)"),
        ({"key": of(3, 5, 3)}, "got query (2, 4, 3), key (3, 5, 3), value (2, 5, 6)"),
        ({"value": of(3, 5, 6)}, "got query (2, 4, 3), key (2, 5, 3), value (3, 5, 6)"),
        ({"key": of(2, 5, 3, device="meta")}, "key must be on cpu, as query is, got meta"),
        *(
            ({"dropout": share}, f"dropout must be at least 0 and below 1, got {share}")
            for share in (1.0, -0.1, math.nan)
        ),
        ({"mask": of(2, 1, 5, device=META).bool()}, "mask must be on cpu, as the scores are, got meta"),
        ({"mask": of(2, 4, 5)}, "mask must be boolean, got torch.float32"),
        ({"score": lambda query, key: dot(key, query)}, "(…, n, m) = (2, 4, 5), got (2, 5, 4)"),
        *(
            ({"mask": of(*shape).bool()}, f"or 1 in place of any but the last, got {shape}")
            for shape in [(2, 5), (4, 5), (2, 4, 4), (2, 4, 1), (3, 1, 5), (2, 5, 5), (2, 1, 4, 5)]
        ),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(changed: dict[str, object], words: str, need_weights: bool) -> None:
    arguments = {"query": of(2, 4, 3), "key": of(2, 5, 3), "value": of(2, 5, 6)} | changed
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        attend(**arguments, need_weights=need_weights)
