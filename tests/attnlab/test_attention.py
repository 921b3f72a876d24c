"""Attention: equal to PyTorch's own, and what must hold whatever the numbers."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call, grad, stack_module_state, vmap
from torch.nn import functional as F

from attnlab.attention import MultiHeadAttention, attend, gate, masked_softmax
from attnlab.masks import causal, combine, for_heads, padding, to_multihead
from attnlab.positions import alibi, rotary
from attnlab.runtime import choose_device
from attnlab.scores import Additive, Concat, General, dot, general, scaled_dot

quick = settings(deadline=None, derandomize=True, max_examples=25)
# The goal. All numbers compared are of order 1, so that it is relative and absolute at once.
TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}
ALL_DTYPES = [torch.float64, torch.float32, torch.float16, torch.bfloat16]


def random(*shape: int, dtype: torch.dtype = torch.float64, seed: int = 0) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64).to(dtype)


def random_mask(*shape: int, seed: int = 0) -> Tensor:
    """About half is shown; the first query sees nothing."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) < 0.5
    mask[..., 0, :] = False
    return mask


def learnable(*tensors: Tensor) -> list[Tensor]:
    return [x.clone().requires_grad_() for x in tensors]


def assert_same(ours: Tensor, theirs: Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=0, atol=TOLERANCE[theirs.dtype])


def assert_same_gradients(
    ours: Tensor, theirs: Tensor, our_inputs: list[Tensor], their_inputs: list[Tensor] | None = None
) -> None:
    backward = random(*ours.shape, dtype=ours.dtype, seed=9)
    our_gradients = torch.autograd.grad(ours, our_inputs, backward)
    their_gradients = torch.autograd.grad(theirs, their_inputs or our_inputs, backward, retain_graph=True)
    for our_gradient, their_gradient in zip(our_gradients, their_gradients, strict=True):
        assert_same(our_gradient, their_gradient)


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


MASKS = ["none", "padding", "causal", "padding and causal", "of its own"]


@dataclass(frozen=True)
class HeadsCase:
    """One drawn comparison of whole layers."""

    batch: int
    heads: int
    d_k: int
    n: int
    m: int
    inputs: int  # 1 for attention(x), 2 for attention(x, memory), 3 for attention(query, key, value)
    bias: bool
    dtype: torch.dtype
    kind: str
    lengths: list[int]
    mask_batch: int  # of a mask of its own
    mask_rows: int
    seed: int

    def modules(self) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
        ours, theirs = pair(self.heads * self.d_k, self.heads, self.dtype, bias=self.bias)
        return ours, theirs

    def given(self) -> list[Tensor]:
        shapes = [(self.batch, length, self.heads * self.d_k) for length in (self.n, self.m, self.m)]
        return learnable(
            *(
                random(*shape, dtype=self.dtype, seed=self.seed + number)
                for number, shape in enumerate(shapes[: self.inputs])
            )
        )

    def mask(self) -> Tensor | None:
        padded = padding(torch.tensor(self.lengths), self.m)
        match self.kind:
            case "none":
                return None
            case "padding":
                return padded
            case "of its own":  # one row more, of which the first hides everything
                rows = random_mask(self.mask_batch, self.mask_rows + 1, self.m, seed=self.seed)
                return rows[:, self.seed % 2 :][:, : self.mask_rows]
        unseen = causal(self.n, self.m)
        return unseen if self.kind == "causal" else combine(padded, unseen)


@st.composite
def heads_cases(draw: st.DrawFn) -> HeadsCase:
    inputs = draw(st.integers(1, 3))
    batch, n, m = (draw(st.integers(1, 4)) for _ in range(3))
    n = m if inputs == 1 else n
    return HeadsCase(
        batch=batch,
        heads=draw(st.integers(1, 4)),
        d_k=draw(st.integers(1, 4)),
        n=n,
        m=m,
        inputs=inputs,
        bias=draw(st.booleans()),
        dtype=draw(st.sampled_from(list(TOLERANCE))),
        # Without a past that is as long, no query has a place among the keys.
        kind=draw(st.sampled_from([kind for kind in MASKS if n <= m or "causal" not in kind])),
        lengths=draw(st.lists(st.integers(0, m), min_size=batch, max_size=batch)),
        mask_batch=draw(st.sampled_from([1, batch])),
        mask_rows=draw(st.sampled_from([1, n])),
        seed=draw(st.integers(0, 9)),
    )


class TestMultiHeadAttention:
    @settings(quick, max_examples=100)
    @given(heads_cases())
    def test_equals_pytorchs_own(self, case: HeadsCase) -> None:
        (ours, theirs), inputs, mask = case.modules(), case.given(), case.mask()
        seen = torch.ones(case.batch, case.n, case.m).bool()
        if mask is not None:
            seen = seen & mask  # (B, n, m)
        shown = seen.any(-1, keepdim=True)  # (B, n, 1)
        # A query that sees nothing is NaN in PyTorch's module: there it sees all, and is compared apart.
        their_masks = to_multihead(seen | ~shown, case.heads)
        query, key, value = inputs + inputs[-1:] * (3 - len(inputs))
        expected, expected_weights = theirs(query, key, value, **their_masks, average_attn_weights=False)
        _, averaged = theirs(query, key, value, **their_masks)

        names = [name for name, _ in theirs.named_parameters()]
        our_inputs = [*inputs, *(ours.get_parameter(name) for name in names)]
        for need_weights in (True, False):
            output, weights = ours(*inputs, mask=mask, need_weights=need_weights)
            assert_same(output * shown, expected * shown)
            assert_same_gradients(
                output * shown, expected * shown, our_inputs, [*inputs, *theirs.parameters()]
            )
            # All heads of a query that sees nothing give 0, so that only the output's bias remains.
            assert_same(output * ~shown, ours.out_proj.bias * ~shown)
            if need_weights:
                assert_same(weights, expected_weights * for_heads(shown))
                assert_same(weights.mean(1), averaged * shown)
            else:
                assert weights is None

    def test_key_defaults_to_query_and_value_to_key(self) -> None:
        attention, _ = pair(8, 2)
        x, memory, value = random(2, 4, 8), random(2, 5, 8, seed=1), random(2, 5, 8, seed=2)
        assert attention(x)[0].equal(attention(x, x, x)[0])
        assert attention(x, memory)[0].equal(attention(x, memory, memory)[0])
        assert not attention(x, memory)[0].equal(attention(x, memory, value)[0])

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_dropout_while_training_only(self, need_weights: bool) -> None:
        ours, theirs = pair(8, 2, dropout=0.5)
        x = random(2, 6, 8)
        outputs = []
        for attention in (ours, theirs):
            torch.manual_seed(0)
            arguments = (x,) if attention is ours else (x, x, x)
            outputs.append(attention(*arguments, need_weights=need_weights)[0])
        # Both drop from the same weights with the same draws.
        assert_same(*outputs)
        whole, _ = pair(8, 2)
        assert not torch.allclose(outputs[0], whole(x)[0])
        assert_same(ours.eval()(x, need_weights=need_weights)[0], whole(x)[0])

    @pytest.mark.parametrize("score", [dot, General(4, 4).double(), rotary, alibi])
    @pytest.mark.parametrize("n", [2, 5])
    def test_each_head_scores_with_the_score_it_is_given(
        self, score: Callable[[Tensor, Tensor], Tensor], n: int
    ) -> None:
        plain, _ = pair(8, 2)
        attention = MultiHeadAttention(8, 2, score=score).double()
        attention.load_state_dict(plain.state_dict(), strict=False)
        query, memory = learnable(random(3, n, 8), random(3, 5, 8, seed=1))
        mask = combine(padding(torch.tensor([5, 4, 2])), causal(n, 5))

        parts = F.linear(query, *(part.chunk(3)[0] for part in (plain.in_proj_weight, plain.in_proj_bias)))
        keys, values = F.linear(memory, plain.in_proj_weight[8:], plain.in_proj_bias[8:]).split(8, dim=-1)
        all_scores = score(*(x.unflatten(-1, (2, 4)).transpose(1, 2) for x in (parts, keys)))
        expected_weights = masked_softmax(all_scores, for_heads(mask))
        mixed = [
            weights @ values[..., 4 * h : 4 * h + 4] for h, weights in enumerate(expected_weights.unbind(1))
        ]
        expected = plain.out_proj(torch.cat(mixed, dim=-1))

        for need_weights in (True, False):
            output, weights = attention(query, memory, mask=mask, need_weights=need_weights)
            assert_same(output, expected)
            assert_same_gradients(output, expected, [query, memory])
            if need_weights:
                assert_same(weights, expected_weights)

    @pytest.mark.parametrize("score", [scaled_dot, General(4, 4).double(), rotary, alibi])
    def test_the_last_queries_need_only_a_cache(self, score: Callable[[Tensor, Tensor], Tensor]) -> None:
        attention, x = MultiHeadAttention(8, 2, score=score).double(), random(2, 6, 8)
        whole, _ = attention(x, mask=causal(6))
        end, _ = attention(x[:, 4:], x, mask=causal(2, 6))
        assert_same(end, whole[:, 4:])

    def test_a_score_that_learns_is_part_of_the_module(self) -> None:
        attention = MultiHeadAttention(8, 2, score=General(4, 4)).double()
        assert set(attention.state_dict()) - set(MultiHeadAttention(8, 2).state_dict()) == {"score.weight"}
        output, _ = attention(random(2, 4, 8))
        output.square().sum().backward()
        assert attention.score.weight.grad.abs().min() > 0
        again = MultiHeadAttention(8, 2, score=General(4, 4)).double()
        again.load_state_dict(attention.state_dict())
        assert again(random(2, 4, 8))[0].equal(output)

    @pytest.mark.parametrize("score", [scaled_dot, rotary, lambda query, key: dot(query, key)])
    def test_a_function_as_score_leaves_the_state_dict_as_pytorchs(
        self, score: Callable[[Tensor, Tensor], Tensor]
    ) -> None:
        theirs = nn.MultiheadAttention(8, 2).state_dict()
        assert list(MultiHeadAttention(8, 2, score=score).state_dict()) == list(theirs)

    def test_starts_as_pytorchs_does(self) -> None:
        torch.manual_seed(0)
        ours = MultiHeadAttention(8, 2)
        torch.manual_seed(0)
        theirs = nn.MultiheadAttention(8, 2)
        for (our_name, our_parameter), (their_name, their_parameter) in zip(
            ours.named_parameters(), theirs.named_parameters(), strict=True
        ):
            assert our_name == their_name
            assert our_parameter.equal(their_parameter)

    def test_state_dict_goes_both_ways(self) -> None:
        ours, theirs = MultiHeadAttention(8, 2), nn.MultiheadAttention(8, 2, batch_first=True)
        theirs.load_state_dict(ours.state_dict())
        again = MultiHeadAttention(8, 2)
        again.load_state_dict(theirs.state_dict())
        x = random(2, 4, 8, dtype=torch.float32)
        assert again(x)[0].equal(ours(x)[0])

    def test_has_the_same_number_of_parameters_however_many_heads(self) -> None:
        counts = {
            sum(p.numel() for p in MultiHeadAttention(12, heads).parameters()) for heads in (1, 2, 3, 12)
        }
        assert counts == {4 * 12 * 12 + 4 * 12}

    def test_a_mask_that_hides_everything_of_one_example(self) -> None:
        attention, _ = pair(8, 2)
        x = random(2, 4, 8).requires_grad_()
        for need_weights in (True, False):
            output, _ = attention(x, mask=padding(torch.tensor([0, 4])), need_weights=need_weights)
            # All heads give 0, so that only the output's bias remains.
            assert_same(output[0], attention.out_proj.bias.expand(4, 8))
            (gradient,) = torch.autograd.grad(output.square().sum(), x)
            assert gradient[0].eq(0).all()
            assert gradient[1].isfinite().all()

    def test_padding_acts_on_examples_and_not_on_heads(self) -> None:
        # Two examples and two heads: the trap is open.
        attention, _ = pair(8, 2)
        lengths = torch.tensor([4, 2])
        _, weights = attention(random(2, 4, 8), mask=padding(lengths))
        assert weights[0].gt(0).all()
        assert weights[1, :, :, 2:].eq(0).all()
        assert weights[1, :, :, :2].gt(0).all()

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
    def test_half_precision(self, dtype: torch.dtype) -> None:
        exact, _ = pair(8, 2)
        attention = copy.deepcopy(exact).to(dtype)
        x = random(2, 4, 8)
        for need_weights in (True, False):
            output, _ = attention(x.to(dtype), mask=causal(4), need_weights=need_weights)
            assert output.dtype == dtype
            # Four products in a row, of numbers of order 1, each rounded.
            steps = 16 * torch.finfo(dtype).eps
            torch.testing.assert_close(output.double(), exact(x, mask=causal(4))[0], rtol=steps, atol=steps)

    def test_many_seeds_at_once(self) -> None:
        modules = [MultiHeadAttention(8, 2).double() for _ in range(3)]
        parameters, _ = stack_module_state(modules)
        x = random(2, 4, 8)
        outputs = vmap(lambda p: functional_call(modules[0], p, (x,), {"mask": causal(4)})[0])(parameters)
        for module, output in zip(modules, outputs, strict=True):
            assert_same(output, module(x, mask=causal(4))[0])

    def test_compiles(self) -> None:
        attention, _ = pair(8, 2)
        x = random(2, 4, 8).requires_grad_()
        ours = torch.compile(attention, backend="aot_eager", fullgraph=True)(x, mask=causal(4))[0]
        theirs = attention(x, mask=causal(4))[0]
        assert_same(ours, theirs)
        assert_same_gradients(ours, theirs, [x])

    def test_on_meta(self) -> None:
        with torch.device("meta"):
            attention, x, memory = MultiHeadAttention(8, 2), torch.empty(3, 4, 8), torch.empty(3, 5, 8)
            mask = torch.ones(3, 1, 5, dtype=torch.bool)
        output, weights = attention(x, memory, mask=mask)
        assert output.shape == (3, 4, 8)
        assert weights.shape == (3, 2, 4, 5)


class TestErrors:
    QUERY, KEY, VALUE = torch.ones(2, 4, 3), torch.ones(2, 5, 3), torch.ones(2, 5, 6)

    @pytest.mark.parametrize("need_weights", [True, False])
    @pytest.mark.parametrize(
        ("changed", "message"),
        [
            ({"query": torch.ones(3)}, r"query must be \(…, length, width\), got \(3,\)"),
            ({"value": torch.ones(6)}, r"value must be \(…, length, width\), got \(6,\)"),
            ({"key": torch.ones(2, 5, 4)}, r"key must be \(…, m, d_k = 3\), got \(2, 5, 4\)"),
            ({"value": torch.ones(2, 4, 6)}, r"value must be \(…, m = 5, d_v\), got \(2, 4, 6\)"),
            (
                {"key": torch.ones(3, 5, 3)},
                r"leading axes .* query \(2, 4, 3\), key \(3, 5, 3\), value \(2, 5, 6\)",
            ),
            ({"value": torch.ones(3, 5, 6)}, r"leading axes must be equal or 1, .* value \(3, 5, 6\)"),
            ({"key": torch.ones(2, 5, 3, device="meta")}, "key must be on cpu, as query is, got meta"),
            ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
            ({"dropout": -0.1}, "dropout must be at least 0 and below 1, got -0.1"),
            (
                {"mask": torch.ones(2, 1, 5, dtype=torch.bool, device="meta")},
                "mask must be on cpu, as the scores are, got meta",
            ),
        ],
    )
    def test_inputs(self, changed: dict[str, object], message: str, need_weights: bool) -> None:
        arguments = {"query": self.QUERY, "key": self.KEY, "value": self.VALUE} | changed
        with pytest.raises(ValueError, match=message):
            attend(**arguments, need_weights=need_weights)

    @pytest.mark.parametrize("need_weights", [True, False])
    @pytest.mark.parametrize(
        "shape", [(2, 5), (4, 5), (2, 4, 4), (2, 4, 1), (3, 1, 5), (2, 5, 5), (2, 1, 4, 5)]
    )
    def test_mask_shape(self, shape: tuple[int, ...], need_weights: bool) -> None:
        got = str(shape).replace("(", r"\(").replace(")", r"\)")
        with pytest.raises(ValueError, match=rf"mask must be \(2, 4, 5\), or 1 .*, got {got}"):
            attend(
                self.QUERY,
                self.KEY,
                self.VALUE,
                mask=torch.ones(*shape, dtype=torch.bool),
                need_weights=need_weights,
            )

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_mask_type(self, need_weights: bool) -> None:
        with pytest.raises(TypeError, match=r"mask must be boolean, got torch.float32: .* `mask == 0`"):
            attend(self.QUERY, self.KEY, self.VALUE, mask=torch.zeros(2, 4, 5), need_weights=need_weights)

    @pytest.mark.parametrize("need_weights", [True, False])
    def test_batch_time_masks_are_refused_when_all_lengths_agree(self, need_weights: bool) -> None:
        # batch = heads = n = m = 4: PyTorch would take each of these, and hide the wrong things.
        x, words = torch.ones(4, 4, 4, 2), padding(torch.tensor([4, 3, 2, 1]))
        for mask in (words[:, 0], words):  # (batch, time), (batch, 1, time)
            with pytest.raises(ValueError, match="mask must be"):
                attend(x, x, x, mask=mask, need_weights=need_weights)
        with pytest.raises(ValueError, match="mask must be"):
            attend(x[0], x[0], x[0], mask=words[:, 0], need_weights=need_weights)
        attention, x = MultiHeadAttention(8, 4), torch.ones(4, 4, 8)
        for mask in (words[:, 0], for_heads(words)):
            with pytest.raises(ValueError, match=r"mask must be \(batch, n, m\), got"):
                attention(x, mask=mask, need_weights=need_weights)

    def test_score_of_another_shape(self) -> None:
        with pytest.raises(ValueError, match=r"score must give \(…, n, m\) = \(2, 4, 5\), got \(2, 5, 4\)"):
            attend(self.QUERY, self.KEY, self.VALUE, score=lambda query, key: dot(key, query))

    @pytest.mark.parametrize(("d_model", "heads"), [(10, 3), (10, 0), (10, -2), (2, 4)])
    def test_heads_divide_d_model(self, d_model: int, heads: int) -> None:
        with pytest.raises(
            ValueError, match=f"heads must divide d_model, got d_model = {d_model} and heads = {heads}"
        ):
            MultiHeadAttention(d_model, heads)

    def test_multi_head_dropout(self) -> None:
        with pytest.raises(ValueError, match=r"dropout must be at least 0 and below 1, got 1.5"):
            MultiHeadAttention(8, 2, dropout=1.5)

    @pytest.mark.parametrize("name", ["query", "key", "value"])
    def test_multi_head_inputs(self, name: str) -> None:
        attention = MultiHeadAttention(8, 2)
        for wrong, got in ((torch.ones(4, 8), r"\(4, 8\)"), (torch.ones(2, 4, 6), r"\(2, 4, 6\)")):
            arguments = dict.fromkeys(("query", "key", "value"), torch.ones(2, 4, 8)) | {name: wrong}
            with pytest.raises(
                ValueError, match=rf"{name} must be \(batch, length, d_model = 8\), got {got}"
            ):
                attention(**arguments)
