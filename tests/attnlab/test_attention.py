"""Attention with one head, against PyTorch's and against a plain loop."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from attention_cases import (
    TOLERANCE,
    assert_same,
    assert_same_gradients,
    learnable,
    quick,
    random,
    random_mask,
)
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.func import grad, vmap
from torch.nn import functional as F

from attnlab.attention import attend, gate, masked_softmax
from attnlab.masks import causal, combine, padding
from attnlab.runtime import choose_device
from attnlab.scores import Additive, Concat, General, dot, general, scaled_dot

ALL_DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


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


@dataclass(frozen=True)
class Case:
    """One drawn comparison: the inputs and what may be seen of them."""

    leading: tuple[int, ...]
    n: int
    m: int
    d_k: int
    d_v: int
    dtype: torch.dtype
    mask_leading: tuple[int, ...] | None  # None for no mask
    one_mask_row: bool
    seed: int

    def inputs(self) -> list[Tensor]:
        shapes = (self.n, self.d_k), (self.m, self.d_k), (self.m, self.d_v)
        return learnable(
            *(
                random(*self.leading, *shape, dtype=self.dtype, seed=self.seed + number)
                for number, shape in enumerate(shapes)
            )
        )

    def mask(self) -> Tensor | None:
        if self.mask_leading is None:
            return None
        if self.one_mask_row:
            return random_mask(*self.mask_leading, 2, self.m, seed=self.seed)[..., 1:, :]
        return random_mask(*self.mask_leading, self.n, self.m, seed=self.seed)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    leading = draw(st.sampled_from([(), (2,), (2, 3), (2, 1, 3)]))
    mask_leading = st.tuples(*(st.sampled_from([1, size]) for size in leading))
    n, m, d_k, d_v = (draw(st.integers(1, 5)) for _ in range(4))
    return Case(
        leading=leading,
        n=n,
        m=m,
        d_k=d_k,
        d_v=draw(st.sampled_from([d_k, d_v])),
        dtype=draw(st.sampled_from(list(TOLERANCE))),
        mask_leading=draw(st.one_of(st.none(), mask_leading)),
        one_mask_row=draw(st.booleans()),
        seed=draw(st.integers(0, 9)),
    )


class TestAttend:
    @quick
    @given(cases())
    def test_equals_pytorchs_own(self, case: Case) -> None:
        inputs, mask = case.inputs(), case.mask()
        theirs = F.scaled_dot_product_attention(*inputs, attn_mask=mask)
        for need_weights in (True, False):
            ours, weights = attend(*inputs, mask=mask, need_weights=need_weights)
            assert_same(ours, theirs)
            assert_same_gradients(ours, theirs, inputs)
            assert (weights is not None) == need_weights

    @quick
    @given(cases())
    def test_equals_the_definition(self, case: Case) -> None:
        inputs, mask = case.inputs(), case.mask()
        output, weights = attend(*inputs, mask=mask)
        expected_output, expected_weights = query_by_query(*inputs, mask)
        assert_same(output, expected_output)
        assert_same(weights, expected_weights)

    @quick
    @given(cases())
    def test_weights_sum_to_1_over_what_is_visible_and_are_0_elsewhere(self, case: Case) -> None:
        inputs, mask = case.inputs(), case.mask()
        _, weights = attend(*inputs, mask=mask)
        visible = torch.ones_like(weights).bool() if mask is None else mask.expand_as(weights)
        assert weights[~visible].eq(0).all()
        assert weights[visible].gt(0).all()
        assert_same(weights.sum(-1), visible.any(-1).to(weights.dtype))

    def test_leading_axes_broadcast(self) -> None:
        inputs = learnable(random(2, 1, 4, 3), random(3, 5, 3, seed=1), random(2, 3, 5, 2, seed=2))
        theirs = F.scaled_dot_product_attention(*(x.expand(2, 3, *x.shape[-2:]) for x in inputs))
        for need_weights in (True, False):
            ours, _ = attend(*inputs, need_weights=need_weights)
            assert_same(ours, theirs)
            assert_same_gradients(ours, theirs, inputs)
        # One query set, one key set, two value sets: the weights are of the first two alone.
        output, weights = attend(random(4, 3), random(5, 3), random(2, 5, 2), mask=torch.ones(4, 5).bool())
        assert output.shape == (2, 4, 2)
        assert weights.shape == (4, 5)

    def test_gradcheck(self) -> None:
        inputs = learnable(random(2, 3, 4), random(2, 5, 4, seed=1), random(2, 5, 2, seed=2))
        mask = random_mask(2, 3, 5)
        assert torch.autograd.gradcheck(lambda *args: attend(*args, mask=mask), inputs)

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    @pytest.mark.parametrize("need_weights", [True, False])
    def test_half_precision(self, dtype: torch.dtype, need_weights: bool) -> None:
        inputs = [random(2, 6, 8, dtype=dtype, seed=seed) for seed in range(3)]
        mask = combine(padding(torch.tensor([6, 3])), causal(6))
        output, weights = attend(*inputs, mask=mask, need_weights=need_weights)
        exact_output, exact_weights = attend(*(x.double() for x in inputs), mask=mask)
        # Scores of order 1 are rounded, the weights made of them are rounded, and so is their mix.
        steps = 8 * torch.finfo(dtype).eps
        assert output.dtype == dtype
        torch.testing.assert_close(output.double(), exact_output, rtol=steps, atol=steps)
        if need_weights:
            assert weights.dtype == dtype
            torch.testing.assert_close(weights.double(), exact_weights, rtol=steps, atol=steps)

    @pytest.mark.parametrize("dtype", ALL_DTYPES)
    @pytest.mark.parametrize("need_weights", [True, False])
    def test_scores_of_ten_thousand(self, dtype: torch.dtype, need_weights: bool) -> None:
        # 100 · 100 and -100 · 100; the third key, at 2 · 10 000, would win but is hidden.
        query = torch.tensor([[[100.0], [-100.0]]], dtype=dtype, requires_grad=True)
        key = torch.tensor([[[100.0], [-100.0], [200.0]]], dtype=dtype)
        value = torch.tensor([[[1.0], [2.0], [3.0]]], dtype=dtype)
        output, weights = attend(
            query, key, value, mask=padding(torch.tensor([2]), 3), need_weights=need_weights
        )
        assert output.tolist() == [[[1.0], [2.0]]]
        if need_weights:
            assert weights.tolist() == [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
        (gradient,) = torch.autograd.grad(output.sum(), query)
        assert gradient.eq(0).all()

    @pytest.mark.parametrize("dtype", ALL_DTYPES)
    @pytest.mark.parametrize("leading", [(), (2,), (2, 3)])
    @pytest.mark.parametrize("need_weights", [True, False])
    def test_a_query_that_sees_nothing(
        self, dtype: torch.dtype, leading: tuple[int, ...], need_weights: bool
    ) -> None:
        device = choose_device()
        query, key, value = learnable(
            *(random(*leading, 8, 8, dtype=dtype, seed=seed).to(device) for seed in range(3))
        )
        mask = random_mask(*leading, 8, 8).to(device)
        output, weights = attend(query, key, value, mask=mask, need_weights=need_weights)
        assert output[..., 0, :].eq(0).all()
        if need_weights:
            assert weights[..., 0, :].eq(0).all()
        gradients = torch.autograd.grad(output.square().sum() + output.sum(), [query, key, value])
        assert all(gradient.isfinite().all() for gradient in gradients)
        assert gradients[0][..., 0, :].eq(0).all()
        # Everything hidden from everyone.
        output, _ = attend(query, key, value, mask=mask & False, need_weights=need_weights)
        gradients = torch.autograd.grad(output.sum(), [query, key, value])
        assert all(x.eq(0).all() for x in (output, *gradients))

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_permutations(self, need_weights: bool) -> None:
        query, key, value = (random(2, 5, 4, seed=seed) for seed in range(3))
        order = torch.tensor([3, 0, 4, 1, 2])
        output, weights = attend(query, key, value, need_weights=need_weights)
        # Permuting the queries permutes the output; permuting keys and values together changes nothing.
        permuted, permuted_weights = attend(
            query[:, order], key[:, order], value[:, order], need_weights=need_weights
        )
        assert_same(permuted, output[:, order])
        if need_weights:
            assert_same(permuted_weights, weights[:, order][:, :, order])

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_causal_outputs_do_not_change_with_the_future(self, need_weights: bool) -> None:
        before = [random(2, 6, 4, seed=seed) for seed in range(3)]
        after = [torch.cat([x[:, :4], random(2, 2, 4, seed=7)], dim=1) for x in before]
        outputs = [attend(*x, mask=causal(6), need_weights=need_weights)[0] for x in (before, after)]
        assert_same(outputs[0][:, :4], outputs[1][:, :4])
        assert not torch.allclose(outputs[0][:, 4:], outputs[1][:, 4:])

    def test_causal_with_a_cache_is_the_end_of_the_whole(self) -> None:
        query, key, value = (random(2, 6, 4, seed=seed) for seed in range(3))
        whole, _ = attend(query, key, value, mask=causal(6))
        end, _ = attend(query[:, 4:], key, value, mask=causal(2, 6))
        assert_same(end, whole[:, 4:])

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_padding_never_matters(self, need_weights: bool) -> None:
        lengths = torch.tensor([5, 2])
        mask = padding(lengths)
        padded = ~mask.transpose(1, 2)
        results = []
        for content in (0.0, 1e30):
            query, key, value = learnable(*(random(2, 5, 4, seed=seed) for seed in range(3)))
            filled = key.masked_fill(padded, content), value.masked_fill(padded, content)
            output, _ = attend(query, *filled, mask=mask, need_weights=need_weights)
            gradients = torch.autograd.grad(output.square().sum(), [query, *filled], retain_graph=True)
            assert all(gradient.masked_select(padded).eq(0).all() for gradient in gradients[1:])
            results.append((output, *gradients))
        for first, second in zip(*results, strict=True):
            assert_same(first, second)

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_a_batch_equals_its_examples_one_by_one(self, need_weights: bool) -> None:
        lengths = torch.tensor([5, 2, 4])
        query, key, value = (random(3, 5, 4, seed=seed) for seed in range(3))
        together, _ = attend(query, key, value, mask=padding(lengths), need_weights=need_weights)
        for i, length in enumerate(lengths.tolist()):
            # On its own an example needs no padding, and no batch either.
            alone, _ = attend(query[i], key[i, :length], value[i, :length], need_weights=need_weights)
            assert_same(together[i], alone)

    def test_dropout_zeroes_some_weights_and_scales_the_others(self) -> None:
        query, key, value = (
            random(1, 60, 4),
            random(1, 50, 4, seed=1),
            torch.eye(50, dtype=torch.float64)[None],
        )
        torch.manual_seed(0)
        dropped, weights = attend(query, key, value, dropout=0.25)
        kept = dropped != 0
        assert_same(dropped[kept], weights[kept] / 0.75)
        # 3000 draws: one standard deviation is 0.008.
        assert kept.double().mean().item() == pytest.approx(0.75, abs=0.04)
        assert_same(weights.sum(-1), torch.ones(1, 60, dtype=torch.float64))
        torch.manual_seed(0)
        fused, _ = attend(query, key, value, dropout=0.25, need_weights=False)
        assert (fused != 0).double().mean().item() == pytest.approx(0.75, abs=0.04)

    def test_without_weights_they_are_never_held(self) -> None:
        x = random(1, 1024, 16, dtype=torch.float32)
        for inputs in ([x, x, x], [x[:, None], x[:, None], x[:, None]]):
            with torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True
            ) as profile:
                attend(*inputs, need_weights=False)
            allocated = [
                e.nbytes() for e in profile.profiler.kineto_results.events() if e.name() == "[memory]"
            ]
            assert 0 < max(allocated) < 1024 * 1024 * 4

    # PyTorch warns that its fused kernel has no batching rule of its own, and runs one seed after the other.
    @pytest.mark.filterwarnings("ignore:There is a performance drop")
    @pytest.mark.parametrize("need_weights", [True, False])
    def test_vmap(self, need_weights: bool) -> None:
        inputs = [random(3, 2, 5, 4, seed=seed) for seed in range(3)]
        mask = random_mask(3, 2, 5, 5)

        def output(query: Tensor, key: Tensor, value: Tensor, mask: Tensor) -> Tensor:
            return attend(query, key, value, mask=mask, need_weights=need_weights)[0]

        def loss(*args: Tensor) -> Tensor:
            return output(*args).square().sum()

        assert_same(vmap(output)(*inputs, mask), output(*inputs, mask))
        assert_same(vmap(grad(loss))(*inputs, mask), grad(loss)(*inputs, mask))

    @pytest.mark.thorough
    @pytest.mark.parametrize("need_weights", [True, False])
    def test_compiles(self, need_weights: bool) -> None:
        inputs, mask = learnable(*(random(2, 5, 4, seed=seed) for seed in range(3))), random_mask(2, 5, 5)
        compiled = torch.compile(attend, backend="aot_eager", fullgraph=True)
        ours, _ = compiled(*inputs, mask=mask, need_weights=need_weights)
        theirs, _ = attend(*inputs, mask=mask, need_weights=need_weights)
        assert_same(ours, theirs)
        assert_same_gradients(ours, theirs, inputs)

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_on_meta(self, need_weights: bool) -> None:
        with torch.device("meta"):
            query, key, value = torch.empty(2, 4, 3), torch.empty(2, 5, 3), torch.empty(2, 5, 6)
            output, weights = attend(
                query, key, value, mask=torch.ones(2, 1, 5, dtype=torch.bool), need_weights=need_weights
            )
        assert output.shape == (2, 4, 6)
        assert weights is None or weights.shape == (2, 4, 5)


class TestScoresInAttend:
    SCORES = (
        dot,
        scaled_dot,
        General(4, 4).double(),
        Concat(4, 4, hidden=6).double(),
        Additive(4, 4, hidden=6).double(),
        Additive(4, 4, hidden=6, chunk=2).double(),
        # Its backward pass needs its own output, so nothing may write over the scores.
        lambda query, key: -torch.cdist(query, key),
    )

    @pytest.mark.parametrize("score", SCORES)
    def test_any_score(self, score: Callable[[Tensor, Tensor], Tensor]) -> None:
        query, key, value = learnable(random(2, 4, 4), random(2, 5, 4, seed=1), random(2, 5, 3, seed=2))
        mask = padding(torch.tensor([5, 3]))
        output, weights = attend(query, key, value, score=score, mask=mask)
        expected = score(query, key).masked_fill(~mask, -math.inf).softmax(-1)
        assert_same(weights, expected)
        assert_same(output, expected @ value)
        assert_same_gradients(output, expected @ value, [query, key, value])
        without, none = attend(query, key, value, score=score, mask=mask, need_weights=False)
        assert_same(without, output)
        assert none is None

    def test_scores_are_left_as_they_were(self) -> None:
        scores = random(4, 5)
        kept = scores.clone()
        attend(random(4, 3), random(5, 3), random(5, 2), score=lambda *_: scores, mask=random_mask(4, 5))
        assert scores.equal(kept)

    def test_query_and_key_of_different_widths(self) -> None:
        weight = random(3, 7)
        output, _ = attend(random(4, 3), random(5, 7), random(5, 2), score=lambda q, k: general(q, k, weight))
        assert output.shape == (4, 2)


class TestMaskedSoftmax:
    def test_without_a_mask_is_the_softmax_over_keys(self) -> None:
        assert masked_softmax(random(2, 3, 4)).equal(random(2, 3, 4).softmax(-1))

    def test_checks_the_mask(self) -> None:
        with pytest.raises(ValueError, match=r"mask must be \(2, 3, 4\).*, got \(2, 4\)"):
            masked_softmax(random(2, 3, 4), torch.ones(2, 4).bool())

    @pytest.mark.parametrize("dtype", ALL_DTYPES)
    @pytest.mark.parametrize("mask_rows", [1, 2])
    def test_no_visible_score_is_too_low(self, dtype: torch.dtype, mask_rows: int) -> None:
        limits = torch.finfo(dtype)
        scores = torch.tensor([[limits.min, 0.0], [limits.min, limits.max]], dtype=dtype)
        mask = torch.tensor([[True, False]]).repeat(mask_rows, 1)
        assert masked_softmax(scores, mask).tolist() == [[1.0, 0.0], [1.0, 0.0]]

    @pytest.mark.parametrize("hidden", [1e30, -1e30, -math.inf])
    @pytest.mark.parametrize("mask_batch", [1, 2])
    def test_a_hidden_score_changes_nothing_and_gets_no_gradient(
        self, hidden: float, mask_batch: int
    ) -> None:
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

    def test_gradients_twice(self) -> None:
        mask = random_mask(2, 4, 5)
        assert torch.autograd.gradgradcheck(
            lambda scores: masked_softmax(scores, mask), learnable(random(2, 4, 5))
        )

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    def test_gradients_in_half_precision_are_rounded_once(self, dtype: torch.dtype) -> None:
        (scores,) = learnable(random(4, 64, dtype=dtype))
        weights = masked_softmax(scores, random_mask(4, 64))
        # The larger the number that all have in common, the less may be rounded before it is taken off.
        backward = (10 + random(4, 64, seed=1)).to(dtype)
        (gradient,) = torch.autograd.grad(weights, scores, backward)
        exact, flow = weights.double(), backward.double()
        expected = exact * (flow - (exact * flow).sum(-1, keepdim=True))
        # Half a step of rounding, beside which float32 is exact.
        torch.testing.assert_close(gradient.double(), expected, rtol=torch.finfo(dtype).eps, atol=1e-6)


class TestGate:
    def test_each_feature_by_its_own_share(self) -> None:
        features, attention = learnable(random(2, 3), random(2, 3, seed=1).sigmoid())
        glimpse = gate(features, attention)
        assert glimpse.tolist() == [
            [z * a for z, a in zip(*rows, strict=True)]
            for rows in zip(features.tolist(), attention.tolist(), strict=True)
        ]
        assert torch.autograd.gradcheck(gate, (features, attention))

    def test_shapes_must_agree(self) -> None:
        with pytest.raises(
            ValueError, match=r"attention must have the shape of features, \(2, 3\), got \(2, 1\)"
        ):
            gate(torch.ones(2, 3), torch.ones(2, 1))
