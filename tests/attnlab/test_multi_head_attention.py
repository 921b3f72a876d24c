"""Attention with many heads, against PyTorch's own layer."""

import copy
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
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.func import functional_call, stack_module_state, vmap
from torch.nn import functional as F

from attnlab.attention import MultiHeadAttention, masked_softmax
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

    @pytest.mark.thorough
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
