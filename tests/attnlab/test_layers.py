"""The layers: equal to PyTorch's own with the same weights, and what must hold whatever the weights."""

import copy
import math
from dataclasses import dataclass

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from same_weights import DECODER_NAMES, ENCODER_NAMES, TOLERANCE, assert_same, load_from_pytorch, random
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab.attention import Score
from attnlab.layers import DecoderLayer, EncoderLayer, FeedForward, LayerNorm, Residual, ScaledEmbedding
from attnlab.masks import causal, combine, padding
from attnlab.positions import alibi, rotary
from attnlab.scores import scaled_dot

quick = settings(deadline=None, derandomize=True, max_examples=25)
dtypes = st.sampled_from(list(TOLERANCE))
HALF_DTYPES = [torch.float16, torch.bfloat16]


@dataclass(frozen=True)
class Case:
    """One drawn comparison: what the layer is, what it is given, and what may be seen of it."""

    d_model: int
    heads: int
    hidden: int
    norm_first: bool
    dtype: torch.dtype
    lengths: list[int]  # of the inputs
    memory_lengths: list[int]
    causal: bool
    seed: int

    @property
    def options(self) -> dict[str, object]:
        return {"d_model": self.d_model, "heads": self.heads, "norm_first": self.norm_first}

    @property
    def inputs(self) -> Tensor:
        return random(len(self.lengths), max(self.lengths), self.d_model, dtype=self.dtype, seed=self.seed)

    @property
    def memory(self) -> Tensor:
        shape = len(self.lengths), max(self.memory_lengths), self.d_model
        return random(*shape, dtype=self.dtype, seed=self.seed + 1)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    heads = draw(st.integers(1, 4))
    batch = draw(st.integers(1, 4))
    # PyTorch gives NaN where no key may be seen, so each sequence has at least one word here.
    lengths = st.lists(st.integers(1, 7), min_size=batch, max_size=batch)
    return Case(
        # Two near numbers get huge gradients from a normalisation; four or more are seldom all near.
        d_model=heads * draw(st.integers(4, 6)),
        heads=heads,
        hidden=draw(st.integers(1, 12)),
        norm_first=draw(st.booleans()),
        dtype=draw(dtypes),
        lengths=draw(lengths),
        memory_lengths=draw(lengths),
        causal=draw(st.booleans()),
        seed=draw(st.integers(0, 1000)),
    )


def compare(
    ours: nn.Module,
    our_outputs: Tensor,
    our_inputs: list[Tensor],
    theirs: nn.Module,
    their_outputs: Tensor,
    their_inputs: list[Tensor],
    names: dict[str, str],
) -> None:
    """Outputs, and gradients with respect to inputs and weights."""
    assert_same(our_outputs, their_outputs)
    direction = random(*their_outputs.shape, dtype=their_outputs.dtype, seed=99)
    our_outputs.backward(direction)
    their_outputs.backward(direction)
    for mine, other in zip(our_inputs, their_inputs, strict=True):
        assert_same(mine.grad, other.grad)
    compared = 0
    for their_name, our_name in names.items():
        our_parameters = dict(ours.get_submodule(our_name).named_parameters())
        for name, parameter in theirs.get_submodule(their_name).named_parameters():
            assert_same(our_parameters[name].grad, parameter.grad)
            compared += 1
    assert compared == len(list(ours.parameters()))


class TestEncoderLayer:
    @quick
    @given(cases())
    def test_equals_pytorch(self, case: Case) -> None:
        ours = EncoderLayer(**case.options, hidden=case.hidden).to(case.dtype)
        theirs = nn.TransformerEncoderLayer(
            case.d_model, case.heads, case.hidden, 0.0, batch_first=True, norm_first=case.norm_first
        ).to(case.dtype)
        load_from_pytorch(ours, theirs, ENCODER_NAMES)
        our_inputs, their_inputs = case.inputs.requires_grad_(), case.inputs.requires_grad_()
        words, past = padding(torch.tensor(case.lengths)), causal(max(case.lengths))
        our_outputs = ours(our_inputs, combine(words, past) if case.causal else words)
        # True means hidden there.
        hidden = {"src_mask": ~past[0] if case.causal else None, "src_key_padding_mask": ~words[:, 0]}
        their_outputs = theirs(their_inputs, **hidden)
        compare(ours, our_outputs, [our_inputs], theirs, their_outputs, [their_inputs], ENCODER_NAMES)


class TestDecoderLayer:
    @quick
    @given(cases())
    def test_equals_pytorch(self, case: Case) -> None:
        ours = DecoderLayer(**case.options, hidden=case.hidden).to(case.dtype)
        theirs = nn.TransformerDecoderLayer(
            case.d_model, case.heads, case.hidden, 0.0, batch_first=True, norm_first=case.norm_first
        ).to(case.dtype)
        load_from_pytorch(ours, theirs, DECODER_NAMES)
        our_inputs = [case.inputs.requires_grad_(), case.memory.requires_grad_()]
        their_inputs = [case.inputs.requires_grad_(), case.memory.requires_grad_()]
        words, past = padding(torch.tensor(case.lengths)), causal(max(case.lengths))
        memory_words = padding(torch.tensor(case.memory_lengths))
        our_outputs = ours(*our_inputs, combine(words, past) if case.causal else words, memory_words)
        # True means hidden there.
        hidden = {
            "tgt_mask": ~past[0] if case.causal else None,
            "tgt_key_padding_mask": ~words[:, 0],
            "memory_key_padding_mask": ~memory_words[:, 0],
        }
        their_outputs = theirs(*their_inputs, **hidden)
        compare(ours, our_outputs, our_inputs, theirs, their_outputs, their_inputs, DECODER_NAMES)


@pytest.mark.parametrize("score", [scaled_dot, rotary, alibi])
def test_self_attention_takes_a_score(score: Score) -> None:
    encoder, decoder = (kind(8, 2, 16, score=score).double() for kind in (EncoderLayer, DecoderLayer))
    inputs, memory = random(1, 6, 8), random(1, 5, 8, seed=1)
    moved, moved_memory = inputs[:, [0, 2, 1, 5, 3, 4]], memory[:, [4, 0, 1, 3, 2]]
    for layer in (encoder, lambda vectors: decoder(vectors, memory)):
        # The first position reads the others: only some scores can tell where those stand.
        unmoved = torch.allclose(layer(inputs)[:, 0], layer(moved)[:, 0], rtol=0, atol=1e-10)
        assert unmoved == (score is scaled_dot)
    assert_same(decoder(inputs, memory), decoder(inputs, moved_memory))


def test_layers_normalise_after_each_block_unless_told_otherwise() -> None:
    inputs = 5 * random(2, 6, 8, dtype=torch.float32) + 3
    for outputs in (EncoderLayer(8, 2, 16)(inputs), DecoderLayer(8, 2, 16)(inputs, inputs)):
        # eps takes 1e-5 off the variance. Normalised before, the inputs would come through with theirs, 25.
        torch.testing.assert_close(outputs.var(-1, correction=0), torch.ones(2, 6), rtol=0, atol=1e-3)


def encoder(norm_first: bool, dropout: float = 0.0) -> EncoderLayer:
    torch.manual_seed(0)
    return EncoderLayer(d_model=8, heads=2, hidden=16, dropout=dropout, norm_first=norm_first).double()


def decoder(norm_first: bool, dropout: float = 0.0) -> DecoderLayer:
    torch.manual_seed(0)
    return DecoderLayer(d_model=8, heads=2, hidden=16, dropout=dropout, norm_first=norm_first).double()


def gradients(outputs: Tensor, *tensors: Tensor) -> tuple[Tensor, ...]:
    # Not the plain sum: after a normalisation that is constant.
    return torch.autograd.grad((outputs * random(*outputs.shape[-2:])).sum(), tensors)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
class TestBothLayers:
    def test_the_future_does_not_matter(self, norm_first: bool) -> None:
        inputs, memory = random(2, 6, 8), random(2, 5, 8, seed=1)
        for layer in (
            lambda x: encoder(norm_first)(x, causal(6)),
            lambda x: decoder(norm_first)(x, memory, causal(6)),
        ):
            for now in range(1, 6):
                other_future = torch.cat((inputs[:, :now], random(2, 6 - now, 8, seed=now)), dim=1)
                other_future.requires_grad_()
                outputs = layer(other_future)[:, :now]
                torch.testing.assert_close(outputs, layer(inputs)[:, :now])
                (gradient,) = gradients(outputs, other_future)
                assert gradient[:, now:].count_nonzero() == 0
                # The position itself does matter.
                assert gradient[:, now - 1].count_nonzero() > 0

    def test_padding_does_not_matter(self, norm_first: bool) -> None:
        """What stands in it changes neither outputs nor gradients, and it gets no gradient itself."""
        mask, memory_mask = padding(torch.tensor([6, 3])), padding(torch.tensor([2, 5]))
        words, memory_words = mask[:, 0], memory_mask[:, 0]  # (B, T), (B, S)
        inputs, memory = random(2, 6, 8), random(2, 5, 8, seed=1)

        def run(fill: float) -> list[Tensor]:
            layers = encoder(norm_first), decoder(norm_first)
            padded = torch.where(words[..., None], inputs, fill).requires_grad_()
            padded_memory = torch.where(memory_words[..., None], memory, fill).requires_grad_()
            outputs = layers[0](padded, mask) + layers[1](padded, padded_memory, mask, memory_mask)
            (outputs * random(6, 8))[words].sum().backward()
            assert padded.grad[~words].count_nonzero() == 0
            assert padded_memory.grad[~memory_words].count_nonzero() == 0
            weights = [parameter.grad for layer in layers for parameter in layer.parameters()]
            return [outputs[words].detach(), padded.grad[words], padded_memory.grad[memory_words], *weights]

        for before, after in zip(run(0.0), run(1000.0), strict=True):
            torch.testing.assert_close(before, after)

    def test_a_batch_equals_its_examples(self, norm_first: bool) -> None:
        lengths, memory_lengths = [6, 3, 1], [2, 5, 4]
        inputs, memory = random(3, 6, 8), random(3, 5, 8, seed=1)
        mask = combine(padding(torch.tensor(lengths)), causal(6))
        encoded = encoder(norm_first)(inputs, mask)
        decoded = decoder(norm_first)(inputs, memory, mask, padding(torch.tensor(memory_lengths)))
        for example, (length, memory_length) in enumerate(zip(lengths, memory_lengths, strict=True)):
            alone = inputs[example : example + 1, :length]
            memory_alone = memory[example : example + 1, :memory_length]
            outputs = encoder(norm_first)(alone, causal(length))[0]
            torch.testing.assert_close(outputs, encoded[example, :length])
            outputs = decoder(norm_first)(alone, memory_alone, causal(length))[0]
            torch.testing.assert_close(outputs, decoded[example, :length])

    def test_order_is_invisible_without_positions(self, norm_first: bool) -> None:
        inputs, memory = random(2, 6, 8), random(2, 5, 8, seed=1)
        order, memory_order = torch.tensor([3, 0, 5, 1, 4, 2]), torch.tensor([4, 2, 0, 3, 1])
        encode, decode = encoder(norm_first), decoder(norm_first)
        torch.testing.assert_close(encode(inputs[:, order]), encode(inputs)[:, order])
        # The order of memory is lost altogether.
        shuffled = decode(inputs[:, order], memory[:, memory_order])
        torch.testing.assert_close(shuffled, decode(inputs, memory)[:, order])

    def test_an_empty_sequence_stays_finite(self, norm_first: bool) -> None:
        words = padding(torch.tensor([0, 4]))
        inputs, memory = random(2, 4, 8).requires_grad_(), random(2, 4, 8, seed=1).requires_grad_()
        outputs = encoder(norm_first)(inputs, words) + decoder(norm_first)(inputs, memory, words, words)
        for tensor in (outputs, *gradients(outputs, inputs, memory)):
            assert tensor.isfinite().all()

    @pytest.mark.parametrize("dtype", HALF_DTYPES)
    def test_half_precision(self, norm_first: bool, dtype: torch.dtype) -> None:
        # Values are about 1 and go through a dozen roundings.
        tolerance = 12 * torch.finfo(dtype).eps
        inputs, memory = random(2, 6, 8), random(2, 5, 8, seed=1)
        halves = inputs.to(dtype), memory.to(dtype)
        encoded = encoder(norm_first).to(dtype)(halves[0], causal(6))
        decoded = decoder(norm_first).to(dtype)(*halves, causal(6))
        assert encoded.dtype == decoded.dtype == dtype
        expected = encoder(norm_first)(inputs, causal(6))
        torch.testing.assert_close(encoded.double(), expected, rtol=0, atol=tolerance)
        expected = decoder(norm_first)(inputs, memory, causal(6))
        torch.testing.assert_close(decoded.double(), expected, rtol=0, atol=tolerance)

    def test_dropout_is_where_pytorch_has_it(self, norm_first: bool) -> None:
        options = {"d_model": 8, "dropout": 0.5, "norm_first": norm_first}
        ours = DecoderLayer(**options, heads=2, hidden=16)
        theirs = nn.TransformerDecoderLayer(**options, nhead=2, dim_feedforward=16, batch_first=True)
        load_from_pytorch(ours, theirs, DECODER_NAMES)
        # The same seed drops the same numbers if dropout comes in the same places. (For more than one example
        # not even then, since PyTorch's layer lays them out in another order in memory.)
        inputs, memory = random(1, 6, 8, dtype=torch.float32), random(1, 5, 8, dtype=torch.float32)
        torch.manual_seed(1)
        dropped = ours(inputs, memory)
        torch.manual_seed(1)
        assert_same(dropped, theirs(inputs, memory))
        assert_same(ours.eval()(inputs, memory), theirs.eval()(inputs, memory))
        assert not torch.allclose(dropped, ours(inputs, memory))

    @pytest.mark.thorough
    def test_compiles(self, norm_first: bool) -> None:
        inputs, memory = random(2, 6, 8), random(2, 5, 8, seed=1)
        for layer, arguments in (
            (encoder(norm_first), (inputs, causal(6))),
            (decoder(norm_first), (inputs, memory, causal(6))),
        ):
            compiled = torch.compile(layer, backend="eager", fullgraph=True)
            torch.testing.assert_close(compiled(*arguments), layer(*arguments))

    def test_vmaps(self, norm_first: bool) -> None:
        inputs, memory = random(3, 2, 6, 8), random(3, 2, 5, 8, seed=1)
        encode, decode = encoder(norm_first), decoder(norm_first)
        # vmap does not know the fused kernel of the CPU: it would warn, and run it three times.
        with sdpa_kernel(SDPBackend.MATH):
            encoded, decoded = torch.vmap(encode)(inputs), torch.vmap(decode)(inputs, memory)
        torch.testing.assert_close(encoded, torch.stack([encode(batch) for batch in inputs]))
        expected = torch.stack([decode(*batch) for batch in zip(inputs, memory, strict=True)])
        torch.testing.assert_close(decoded, expected)

    def test_meta(self, norm_first: bool) -> None:
        inputs, memory = torch.empty(2, 6, 8, device="meta"), torch.empty(2, 5, 8, device="meta")
        mask = causal(6, device=torch.device("meta"))
        assert encoder(norm_first).float().to("meta")(inputs, mask).shape == (2, 6, 8)
        assert decoder(norm_first).float().to("meta")(inputs, memory, mask).shape == (2, 6, 8)

    def test_refuses_another_width(self, norm_first: bool) -> None:
        with pytest.raises(ValueError, match="d_model"):
            encoder(norm_first)(random(2, 6, 4))
        with pytest.raises(ValueError, match="d_model"):
            decoder(norm_first)(random(2, 6, 8), random(2, 5, 4))

    def test_state_dict_round_trip(self, norm_first: bool) -> None:
        inputs, memory = random(2, 6, 8), random(2, 5, 8, seed=1)
        for layer, arguments in ((encoder(norm_first), (inputs,)), (decoder(norm_first), (inputs, memory))):
            other = copy.deepcopy(layer)
            for parameter in other.parameters():
                nn.init.zeros_(parameter)
            other.load_state_dict(layer.state_dict())
            assert torch.equal(other(*arguments), layer(*arguments))


class TestScaledEmbedding:
    def test_equals_rows_times_the_root(self) -> None:
        embedding = ScaledEmbedding(vocabulary=20000, d_model=512)
        ids = torch.tensor([3, 1, 4, 1, 19999])
        vectors = embedding(ids)
        assert vectors.shape == (5, 512)
        torch.testing.assert_close(vectors, embedding.weight[ids] * math.sqrt(512))

    def test_equals_one_hot_times_the_matrix(self) -> None:
        embedding, ids = ScaledEmbedding(7, 4), torch.tensor([[2, 6, 2], [0, 1, 5]])
        one_hot = F.one_hot(ids, 7).float()
        torch.testing.assert_close(embedding(ids), one_hot @ embedding.weight * 2)

    def test_a_word_starts_with_variance_1(self) -> None:
        torch.manual_seed(0)
        vectors = ScaledEmbedding(vocabulary=1000, d_model=64)(torch.arange(1000))
        # Four standard errors: the square of a number of variance 1 has variance 2, and there are 64,000.
        assert vectors.square().mean().item() == pytest.approx(1, abs=4 * math.sqrt(2 / 64000))

    def test_gradient_reaches_only_the_words_in_use(self) -> None:
        embedding = ScaledEmbedding(vocabulary=4, d_model=4)
        embedding(torch.tensor([1, 1, 3])).sum().backward()
        assert embedding.weight.grad.tolist() == [[0.0] * 4, [4.0] * 4, [0.0] * 4, [2.0] * 4]

    def test_state_dict_meta_and_int32(self) -> None:
        embedding = ScaledEmbedding(5, 3)
        assert list(embedding.state_dict()) == ["weight"]
        ids = torch.tensor([4, 0])
        assert torch.equal(embedding(ids.int()), embedding(ids))
        assert embedding.to("meta")(ids.to("meta")).shape == (2, 3)

    def test_refuses(self) -> None:
        with pytest.raises(TypeError, match=r"ids must be int64 or int32, got torch\.float32"):
            ScaledEmbedding(5, 3)(torch.zeros(2))
        with pytest.raises(ValueError, match="vocabulary must be at least 1, got 0"):
            ScaledEmbedding(0, 3)
        with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
            ScaledEmbedding(5, 0)


class TestLayerNorm:
    @quick
    @given(
        leading=st.lists(st.integers(0, 4), max_size=3),
        d_model=st.integers(1, 12),
        scale=st.sampled_from([1e-4, 1.0, 1e3]),
        offset=st.sampled_from([0.0, 10.0]),
        eps=st.sampled_from([1e-5, 1e-3]),
    )
    def test_equals_pytorch(
        self, leading: list[int], d_model: int, scale: float, offset: float, eps: float
    ) -> None:
        ours, theirs = LayerNorm(d_model, eps).double(), nn.LayerNorm(d_model, eps).double()
        load_from_pytorch(ours, theirs, {"": ""})
        inputs = scale * random(*leading, d_model) + offset
        our_inputs, their_inputs = inputs.clone().requires_grad_(), inputs.clone().requires_grad_()
        compare(ours, ours(our_inputs), [our_inputs], theirs, theirs(their_inputs), [their_inputs], {"": ""})

    def test_equals_pytorch_in_float32(self) -> None:
        ours, theirs = LayerNorm(5), nn.LayerNorm(5)
        load_from_pytorch(ours, theirs, {"": ""})
        inputs = [random(2, 10, 5, dtype=torch.float32).requires_grad_() for _ in range(2)]
        compare(ours, ours(inputs[0]), inputs[:1], theirs, theirs(inputs[1]), inputs[1:], {"": ""})

    @pytest.mark.parametrize("dtype", HALF_DTYPES)
    def test_half_precision_is_rounded_once(self, dtype: torch.dtype) -> None:
        # 3000² is beyond float16.
        inputs = (3000 * random(2, 10, 5)).to(dtype)
        outputs = LayerNorm(5).to(dtype)(inputs)
        assert outputs.dtype == dtype
        # Outputs are at most √5, below which a rounding costs at most eps.
        expected = F.layer_norm(inputs.double(), (5,))
        torch.testing.assert_close(outputs.double(), expected, rtol=0, atol=torch.finfo(dtype).eps)

    def test_mean_0_and_variance_1_for_each_vector(self) -> None:
        outputs = LayerNorm(5, eps=0).double()(3 * random(2, 10, 5) + 7)
        torch.testing.assert_close(outputs.mean(-1), torch.zeros(2, 10, dtype=torch.float64))
        # correction=1 would give 5/4 of this, whose root is 10.6 % off one way and 11.8 % the other.
        torch.testing.assert_close(outputs.var(-1, correction=0), torch.ones(2, 10, dtype=torch.float64))

    def test_eps_is_inside_the_root(self) -> None:
        # Two numbers 1e-6 from their mean. With eps outside, 1e-6 / (1e-6 + 1e-3) is 30 times as large.
        outputs = LayerNorm(2, eps=1e-3).double()(torch.tensor([[-1e-6, 1e-6]], dtype=torch.float64))
        expected = 1e-6 / math.sqrt(1e-12 + 1e-3)
        torch.testing.assert_close(outputs, torch.tensor([[-expected, expected]], dtype=torch.float64))

    def test_gradcheck(self) -> None:
        norm, inputs = LayerNorm(4).double(), random(3, 4).requires_grad_()
        parameters = dict(norm.named_parameters())

        def apply(inputs: Tensor, *values: Tensor) -> Tensor:
            return torch.func.functional_call(norm, dict(zip(parameters, values, strict=True)), inputs)

        assert torch.autograd.gradcheck(apply, (inputs, *parameters.values()))

    def test_refuses(self) -> None:
        # Without the check, one number would be spread over four.
        with pytest.raises(ValueError, match=r"inputs must be \(…, d_model = 4\), got \(2, 1\)"):
            LayerNorm(4)(torch.zeros(2, 1))
        with pytest.raises(ValueError, match="d_model must be at least 1, got 0"):
            LayerNorm(0)


class TestFeedForward:
    def test_equals_the_formula(self) -> None:
        block, inputs = FeedForward(4, 6).double(), random(2, 3, 4)
        hidden = torch.clamp(inputs @ block.widen.weight.T + block.widen.bias, min=0)
        torch.testing.assert_close(block(inputs), hidden @ block.narrow.weight.T + block.narrow.bias)

    def test_dropout_is_on_the_hidden_vectors(self) -> None:
        block = FeedForward(4, 6, dropout=1.0)
        assert torch.equal(block(torch.ones(2, 3, 4)), block.narrow.bias.expand(2, 3, 4))

    def test_refuses(self) -> None:
        with pytest.raises(ValueError, match="hidden must be at least 1, got 0"):
            FeedForward(4, 0)


class TestResidual:
    def test_post_norm_and_pre_norm(self) -> None:
        inputs, norm = random(2, 3, 4), nn.LayerNorm(4).double()
        post, pre = Residual(4).double(), Residual(4, norm_first=True).double()
        torch.testing.assert_close(post(inputs, torch.sin), norm(inputs + inputs.sin()))
        torch.testing.assert_close(pre(inputs, torch.sin), inputs + norm(inputs).sin())

    def test_dropout_leaves_the_inputs(self) -> None:
        inputs = random(2, 3, 4)
        assert torch.equal(Residual(4, dropout=1.0, norm_first=True).double()(inputs, torch.sin), inputs)

    def test_refuses_a_block_that_changes_the_shape(self) -> None:
        with pytest.raises(ValueError, match=r"block must keep the shape \(2, 3, 4\), got \(2, 1, 4\)"):
            Residual(4)(torch.zeros(2, 3, 4), lambda vectors: vectors[:, :1])
