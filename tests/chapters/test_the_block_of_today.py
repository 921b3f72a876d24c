"""“The block of today”: what only its exercises say, and its models."""

import inspect
import re
from typing import NamedTuple

import pytest
import torch
from their_models import assert_one_model, some_ids, with_weights_of_their_own
from torch import nn
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama import configuration_llama, modeling_llama

from attnlab.layers import EncoderLayer
from attnlab.masks import causal
from attnlab.positions import sinusoidal
from attnlab.today.model import Today
from chapters.the_block_of_today.exercises.weights_of import check_weights_of
from chapters.the_block_of_today.mixed import KINDS, TODAY, Kind, Mixed
from chapters.the_block_of_today.their_names import to_ours, to_theirs


def test_it_counts_what_our_model_has():
    for case in check_weights_of.cases:
        config = dict(zip(check_weights_of.takes, case.fresh(), strict=True))
        if config["hidden_size"] // config["heads"] % 2:
            continue  # our model turns pairs of columns
        with torch.device("meta"):
            model = Today(
                config["vocabulary"], config["hidden_size"], config["heads"], config["key_value_heads"],
                config["intermediate_size"], config["layers"], longest=8, tied=config["tied"],
            )  # fmt: skip
        counted = sum(weight.numel() for weight in model.parameters())
        assert counted == check_weights_of.reference(*config.values()), case.label


# --- the changes between two blocks ---


IDS = torch.tensor([[1, 4, 6, 6, 2, 0], [1, 8, 3, 0, 0, 5]])


def mixed(kind: Kind) -> Mixed:
    torch.manual_seed(0)
    return Mixed(10, d_model=24, heads=6, hidden=20, layers=2, kind=kind, spread=0.4)


@pytest.mark.parametrize("tied", [True, False])
def test_all_changes_together_are_the_block_of_today(tied: bool) -> None:
    model = mixed(TODAY._replace(tied=tied))
    today = Today(10, d_model=24, heads=6, groups=2, hidden=20, layers=2, longest=9, tied=tied)
    today.load_state_dict(model.state_dict())
    torch.testing.assert_close(model(IDS), today(IDS))


def test_none_of_them_is_the_block_of_2017() -> None:
    model = mixed(Kind())
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(0.2 * torch.randn(weight.shape))
    stream = model.pieces.weight[IDS] * 24**0.5 + sinusoidal(6, 24)
    for block in model.blocks:
        layer = EncoderLayer(24, 6, 20)  # post-norm, with a ReLU and biases
        attention = block.attention
        layer.self_attention.in_proj_weight.data = torch.cat(
            [attention.query.weight, attention.key.weight, attention.value.weight]
        ).data
        layer.self_attention.in_proj_bias.data = torch.cat(
            [attention.query.bias, attention.key.bias, attention.value.bias]
        ).data
        for their, our in (
            (layer.self_attention.out_proj, attention.write),
            (layer.feed_forward.widen, block.network.widen),
            (layer.feed_forward.narrow, block.network.narrow),
            (layer.around_self_attention.norm, block.before_attention),
            (layer.around_feed_forward.norm, block.before_network),
        ):
            their.load_state_dict(our.state_dict())
        stream = layer(stream, causal(6))
    torch.testing.assert_close(model(IDS), stream @ model.pieces.weight.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", KINDS)
def test_no_piece_sees_those_after_it(name: str) -> None:
    model, other = mixed(KINDS[name]), IDS.clone()
    other[:, 3:] = 7
    change = (model(other) - model(IDS)).abs().amax((0, 2))
    assert change[:3].max() == 0
    assert change[3:].min() > 1e-3


def test_each_is_one_change_or_nearly_all() -> None:
    several = {"2017": 0, "today": 6, "today, norm behind": 5, "today, untied": 7}
    for name, kind in KINDS.items():
        changes = sum(here != there for here, there in zip(kind, Kind(), strict=True))
        assert changes == several.get(name, 1), name


def test_without_biases_there_are_none_and_norms_keep_theirs_at_0() -> None:
    model = mixed(KINDS["no biases"])
    ones = [weight for name, weight in model.named_parameters() if name.endswith("bias")]
    assert ones, "LayerNorm has one"
    assert not any(bias.requires_grad or bias.any() for bias in ones)
    assert all(layer.bias is None for layer in model.modules() if isinstance(layer, nn.Linear))


# --- Hugging Face’s names ---


class Sizes(NamedTuple):
    vocabulary: int
    d_model: int
    heads: int
    groups: int
    hidden: int
    layers: int
    longest: int


SIZES = [Sizes(64, 48, 6, 2, 80, 3, 32), Sizes(37, 20, 2, 1, 24, 2, 11), Sizes(50, 12, 3, 3, 20, 1, 9)]
both_ends = pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
all_sizes = pytest.mark.parametrize("sizes", SIZES, ids=["groups", "one key head", "as many key heads"])


def made(sizes: Sizes, tied: bool, base: float = 10000.0) -> tuple[Today, LlamaForCausalLM]:
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=sizes.vocabulary, hidden_size=sizes.d_model, intermediate_size=sizes.hidden,
        num_hidden_layers=sizes.layers, num_attention_heads=sizes.heads, num_key_value_heads=sizes.groups,
        max_position_embeddings=sizes.longest, rms_norm_eps=1e-6, tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": base}, bos_token_id=None, eos_token_id=None,
        attn_implementation="sdpa",
    )  # fmt: skip
    return with_weights_of_their_own(Today(*sizes, tied=tied, base=base), LlamaForCausalLM(config))


@both_ends
@all_sizes
def test_either_says_the_same_with_the_others_weights(sizes: Sizes, tied: bool) -> None:
    ours, theirs = made(sizes, tied)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert_one_model(ours, theirs, ours.longest)
    ours, theirs = made(sizes, tied)
    ours.load_state_dict(to_ours(theirs.state_dict(), tied))
    assert_one_model(ours, theirs, ours.longest)


def test_their_theta_is_our_base() -> None:
    ours, theirs = made(SIZES[0], tied=True, base=500.0)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert_one_model(ours, theirs, ours.longest)


@both_ends
def test_in_bfloat16_they_differ_by_its_own_rounding(tied: bool) -> None:
    """bfloat16 keeps 8 bits: a step is at most 1/128 of a number. Both lose as much by it."""
    ours, theirs = made(SIZES[0], tied)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    ids, frequencies = some_ids(ours, ours.longest), theirs.model.rotary_emb.inv_freq.clone()
    with torch.no_grad():
        exact = ours(ids)
        ours, theirs = ours.bfloat16(), theirs.bfloat16()
        # `from_pretrained(dtype=…)` leaves them in float32. `bfloat16()` does not: then places run together.
        theirs.model.rotary_emb.inv_freq = frequencies
        step, expected = exact.abs().max().item() / 128, theirs(ids).logits
        lost = (expected - exact).abs().mean()
        assert step / 20 < lost < step
        logits = ours(ids)
        assert logits.dtype == expected.dtype == torch.bfloat16
        assert (logits - expected).abs().mean() < lost / 2, "on one processor they are the same"
        assert (logits - exact).abs().mean() < 1.2 * lost


def test_one_table_at_both_ends_must_be_one() -> None:
    _, theirs = made(SIZES[1], tied=False)
    with pytest.raises(ValueError, match=r"one table at both ends, got a lm_head\.weight of its own$"):
        to_ours(theirs.state_dict(), tied=True)


# Of the table "Their file, line by line".
THEIR_WORDS = """
embed_tokens lm_head tie_word_embeddings LlamaRMSNorm input_layernorm post_attention_layernorm
q_proj k_proj v_proj o_proj num_key_value_heads repeat_kv rope_theta inv_freq position_ids
rotate_half apply_rotary_pos_emb scaling eager_attention_forward attention_mask past_key_values
gate_proj up_proj down_proj hidden_size intermediate_size residual
"""


@pytest.mark.parametrize("word", THEIR_WORDS.split())
def test_the_words_of_the_page_stand_in_their_files(word: str) -> None:
    files = inspect.getsource(modeling_llama) + inspect.getsource(configuration_llama)
    assert re.search(rf"\b{word}\b", files)
