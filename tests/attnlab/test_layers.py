"""The layers: equal to PyTorch's own with the same weights, and what must hold whatever the weights."""

import math
import re
from collections.abc import Callable

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from same_weights import DECODER_NAMES, ENCODER_NAMES, TOLERANCE, assert_same, load_from_pytorch, random
from tensors import HALVES, META, quick
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from attnlab.attention import Score
from attnlab.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    LayerNorm,
    Residual,
    RMSNorm,
    ScaledEmbedding,
)
from attnlab.masks import causal, combine, padding
from attnlab.positions import alibi, rotary
from attnlab.scores import scaled_dot


def compare(
    ours: nn.Module,
    theirs: nn.Module,
    names: dict[str, str],
    inputs: list[Tensor],
    our_masks: tuple[Tensor, ...] = (),
    their_masks: dict[str, Tensor | None] | None = None,
) -> None:
    """Outputs, and gradients with respect to inputs and weights."""
    load_from_pytorch(ours, theirs, names)
    mine, others = ([x.clone().requires_grad_() for x in inputs] for _ in range(2))
    our_outputs, their_outputs = ours(*mine, *our_masks), theirs(*others, **their_masks or {})
    assert_same(our_outputs, their_outputs)
    direction = random(*their_outputs.shape, dtype=their_outputs.dtype, seed=99)
    our_outputs.backward(direction)
    their_outputs.backward(direction)
    for my_input, other in zip(mine, others, strict=True):
        assert_same(my_input.grad, other.grad)
    compared = 0
    for their_name, our_name in names.items():
        our_parameters = dict(ours.get_submodule(our_name).named_parameters())
        for name, parameter in theirs.get_submodule(their_name).named_parameters():
            assert_same(our_parameters[name].grad, parameter.grad)
            compared += 1
    assert compared == len(list(ours.parameters()))


@quick
@given(st.data())
def test_both_layers_equal_pytorchs(data: st.DataObject) -> None:
    heads, batch, seed = (data.draw(st.integers(1, most)) for most in (4, 4, 1000))
    dtype, norm_first = data.draw(st.sampled_from(list(TOLERANCE))), data.draw(st.booleans())
    # PyTorch gives NaN where no key may be seen, so each sequence has at least one word here.
    lengths, of_memory = (
        data.draw(st.lists(st.integers(1, 7), min_size=batch, max_size=batch)) for _ in "12"
    )
    # Two near numbers get huge gradients from a normalisation; four or more are seldom all near.
    d_model, hidden = heads * data.draw(st.integers(4, 6)), data.draw(st.integers(1, 12))
    inputs = random(batch, max(lengths), d_model, dtype=dtype, seed=seed)
    memory = random(batch, max(of_memory), d_model, dtype=dtype, seed=seed + 1)
    words, past = padding(torch.tensor(lengths)), causal(max(lengths))
    memory_words = padding(torch.tensor(of_memory))
    is_causal = data.draw(st.booleans())
    mask, hidden_past = (combine(words, past), ~past[0]) if is_causal else (words, None)
    ours = {"d_model": d_model, "heads": heads, "hidden": hidden, "norm_first": norm_first}
    theirs = {"dropout": 0.0, "batch_first": True, "norm_first": norm_first, "dtype": dtype}
    # True means hidden there.
    compare(
        EncoderLayer(**ours).to(dtype),
        nn.TransformerEncoderLayer(d_model, heads, hidden, **theirs),
        ENCODER_NAMES,
        [inputs],
        (mask,),
        {"src_mask": hidden_past, "src_key_padding_mask": ~words[:, 0]},
    )
    compare(
        DecoderLayer(**ours).to(dtype),
        nn.TransformerDecoderLayer(d_model, heads, hidden, **theirs),
        DECODER_NAMES,
        [inputs, memory],
        (mask, memory_words),
        {
            "tgt_mask": hidden_past,
            "tgt_key_padding_mask": ~words[:, 0],
            "memory_key_padding_mask": ~memory_words[:, 0],
        },
    )


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
    encoded, decoded = EncoderLayer(8, 2, 16)(inputs), DecoderLayer(8, 2, 16)(inputs, inputs)
    for outputs in (encoded, decoded, Residual(8)(inputs, torch.sin)):
        # eps takes 1e-5 off the variance. Normalised before, the inputs would come through with theirs, 25.
        torch.testing.assert_close(outputs.var(-1, correction=0), torch.ones(2, 6), rtol=0, atol=1e-3)


INPUTS, MEMORY = random(2, 6, 8), random(2, 5, 8, seed=1)


def both(norm_first: bool, dtype: torch.dtype = torch.float64) -> tuple[EncoderLayer, DecoderLayer]:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "heads": 2, "hidden": 16, "norm_first": norm_first}
    return EncoderLayer(**sizes).to(dtype), DecoderLayer(**sizes).to(dtype)


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
class TestBothLayers:
    def test_dropout_is_where_pytorch_has_it(self, norm_first: bool) -> None:
        options = {"d_model": 8, "dropout": 0.5, "norm_first": norm_first}
        ours = DecoderLayer(**options, heads=2, hidden=16)
        theirs = nn.TransformerDecoderLayer(**options, nhead=2, dim_feedforward=16, batch_first=True)
        load_from_pytorch(ours, theirs, DECODER_NAMES)
        # The same seed drops the same numbers if dropout comes in the same places. (For more than one example
        # not even then, since PyTorch's layer lays them out in another order in memory.)
        inputs, memory = INPUTS[:1].float(), MEMORY[:1].float()
        torch.manual_seed(1)
        dropped = ours(inputs, memory)
        torch.manual_seed(1)
        assert_same(dropped, theirs(inputs, memory))
        assert_same(ours.eval()(inputs, memory), theirs.eval()(inputs, memory))
        assert not torch.allclose(dropped, ours(inputs, memory))

    @pytest.mark.thorough
    def test_compiles(self, norm_first: bool) -> None:
        encoder, decoder = both(norm_first)
        for layer, arguments in ((encoder, (INPUTS, causal(6))), (decoder, (INPUTS, MEMORY, causal(6)))):
            compiled = torch.compile(layer, backend="eager", fullgraph=True)
            torch.testing.assert_close(compiled(*arguments), layer(*arguments))

    def test_vmaps_and_runs_on_meta(self, norm_first: bool) -> None:
        encoder, decoder = both(norm_first)
        inputs, memory = random(3, 2, 6, 8), random(3, 2, 5, 8, seed=1)
        # vmap does not know the fused kernel of the CPU: it would warn, and run it three times.
        with sdpa_kernel(SDPBackend.MATH):
            decoded = torch.vmap(decoder)(inputs, memory)  # all that an encoder has, and more
        one_by_one = torch.stack([decoder(*batch) for batch in zip(inputs, memory, strict=True)])
        torch.testing.assert_close(decoded, one_by_one)
        mask = causal(6, device=META)
        assert encoder.to("meta")(INPUTS.to("meta"), mask).shape == (2, 6, 8)
        assert decoder.to("meta")(INPUTS.to("meta"), MEMORY.to("meta"), mask).shape == (2, 6, 8)


# ---- parts ----


def test_an_embedding_is_one_hot_times_the_matrix_times_the_root() -> None:
    embedding, ids = ScaledEmbedding(7, 4), torch.tensor([[2, 6, 2], [0, 1, 5]])
    torch.testing.assert_close(embedding(ids), F.one_hot(ids, 7).float() @ embedding.weight * 2)
    assert torch.equal(embedding(ids.int()), embedding(ids))
    embedding(torch.tensor([1, 1, 3])).sum().backward()
    assert embedding.weight.grad[:, 0].tolist() == [0, 4, 0, 2, 0, 0, 0], "only words in use learn"
    assert [*embedding.state_dict()] == ["weight"]
    assert embedding.to("meta")(ids.to("meta")).shape == (2, 3, 4)


def test_a_word_starts_with_variance_1() -> None:
    torch.manual_seed(0)
    vectors = ScaledEmbedding(vocabulary=1000, d_model=64)(torch.arange(1000))
    # Four standard errors: the square of a number of variance 1 has variance 2, and there are 64,000.
    assert vectors.square().mean().item() == pytest.approx(1, abs=4 * math.sqrt(2 / 64000))


@pytest.mark.parametrize("shape", [(5,), (0, 5), (2, 10, 5)])
@pytest.mark.parametrize("eps", [1e-5, 1e-3])
def test_layer_norm_equals_pytorchs(shape: tuple[int, ...], eps: float) -> None:
    for inputs in (random(*shape), 1e-4 * random(*shape), 1e3 * random(*shape) + 10):
        compare(LayerNorm(5, eps).double(), nn.LayerNorm(5, eps).double(), {"": ""}, [inputs])
    compare(LayerNorm(5), nn.LayerNorm(5), {"": ""}, [random(*shape, dtype=torch.float32)])


@pytest.mark.parametrize("dtype", HALVES)
def test_layer_norm_is_rounded_once(dtype: torch.dtype) -> None:
    inputs = (3000 * random(2, 10, 5)).to(dtype)  # 3000² is beyond float16
    outputs = LayerNorm(5).to(dtype)(inputs)
    assert outputs.dtype == dtype
    # Outputs are at most √5, below which a rounding costs at most eps.
    expected = F.layer_norm(inputs.double(), (5,))
    torch.testing.assert_close(outputs.double(), expected, rtol=0, atol=torch.finfo(dtype).eps)


@pytest.mark.parametrize("shape", [(24,), (3, 24), (2, 3, 24)])
def test_rms_norm_equals_pytorchs(shape: tuple[int, ...]) -> None:
    norm = RMSNorm(24)
    norm.weight.data.copy_(random(24))
    for scale in (1.0, 1e-3, 1e4):
        inputs = scale * random(*shape, dtype=torch.float32)
        assert_same(norm(inputs), F.rms_norm(inputs, (24,), norm.weight, 1e-6))


@pytest.mark.parametrize("dtype", HALVES)
def test_rms_norm_squares_in_float32(dtype: torch.dtype) -> None:
    came = RMSNorm(2).to(dtype)(torch.tensor([300.0, -400.0]).to(dtype))  # in float16, 300² is infinite
    assert came.dtype == dtype
    torch.testing.assert_close(came.float(), torch.tensor([0.8485, -1.1314]), rtol=5e-3, atol=0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: both(True)[0](random(2, 6, 4)), "d_model = 8"),
        (lambda: both(True)[1](INPUTS, random(2, 5, 4)), "d_model = 8"),
        (lambda: ScaledEmbedding(5, 3)(torch.zeros(2)), "ids must be int64 or int32, got torch.float32"),
        (lambda: ScaledEmbedding(0, 3), "vocabulary must be at least 1, got 0"),
        (lambda: ScaledEmbedding(5, 0), "d_model must be at least 1, got 0"),
        # Without the check, one number would be spread over four.
        (lambda: LayerNorm(4)(torch.zeros(2, 1)), "inputs must be (…, d_model = 4), got (2, 1)"),
        (lambda: LayerNorm(0), "d_model must be at least 1, got 0"),
        (lambda: FeedForward(4, 0), "hidden must be at least 1, got 0"),
        (lambda: Residual(4)(torch.zeros(2, 3, 4), lambda vectors: vectors[:, :1]),
            "block must keep the shape (2, 3, 4), got (2, 1, 4)"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(words)):
        call()
