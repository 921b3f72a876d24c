"""Our model of today and Hugging Face's Llama are one: the same logits and the same text."""

import inspect
import re
import socket
from typing import NamedTuple

import pytest
import torch
from torch import Tensor
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.models.llama import configuration_llama, modeling_llama

from attnlab.attention import Cache
from attnlab.runtime import generator
from attnlab.today.model import Today
from chapters.the_block_of_today.their_names import NAMES, to_ours, to_theirs


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


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("it wants the network"))


def made(sizes: Sizes, tied: bool, base: float = 10000.0) -> tuple[Today, LlamaForCausalLM]:
    """Ours and theirs of the same sizes, each with weights of its own, none at the 0 or 1 it starts from."""
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=sizes.vocabulary, hidden_size=sizes.d_model, intermediate_size=sizes.hidden,
        num_hidden_layers=sizes.layers, num_attention_heads=sizes.heads, num_key_value_heads=sizes.groups,
        max_position_embeddings=sizes.longest, rms_norm_eps=1e-6, tie_word_embeddings=tied,
        rope_parameters={"rope_type": "default", "rope_theta": base}, bos_token_id=None, eos_token_id=None,
        attn_implementation="sdpa",
    )  # fmt: skip
    models = Today(*sizes, tied=tied, base=base).eval(), LlamaForCausalLM(config).eval()
    with torch.no_grad():
        for model in models:
            for weight in model.parameters():
                weight.add_(0.2 * torch.randn(weight.shape))
    return models


def some_ids(ours: Today) -> Tensor:
    return torch.randint(len(ours.pieces.weight), (3, ours.longest), generator=generator(1))


def in_parts(ours: Today, ids: Tensor) -> Tensor:
    """With a cache: first some at once, then one by one, then the rest."""
    caches = [Cache() for _ in ours.blocks]
    parts = ids.split([4, 1, 1, ids.shape[1] - 6], dim=1)
    return torch.cat([ours(part, caches) for part in parts], dim=1)


def in_parts_of_theirs(theirs: LlamaForCausalLM, ids: Tensor) -> Tensor:
    kept, logits = None, []
    for part in ids.split([4, 1, 1, ids.shape[1] - 6], dim=1):
        found = theirs(part, past_key_values=kept, use_cache=True)
        kept = found.past_key_values
        logits.append(found.logits)
    return torch.cat(logits, dim=1)


def written(ours: Today, ids: Tensor) -> Tensor:
    """The likeliest piece again and again, from a cache, until the longest text."""
    caches = [Cache() for _ in ours.blocks]
    new = ids
    while ids.shape[1] < ours.longest:
        new = ours(new, caches)[:, -1:].argmax(-1)
        ids = torch.cat([ids, new], dim=1)
    return ids


def assert_one_model(ours: Today, theirs: LlamaForCausalLM) -> None:
    ids = some_ids(ours)
    with torch.no_grad():
        expected = theirs(ids).logits
        assert expected.std() > 0.3, "logits near 0 would be no test"
        for logits in (ours(ids), in_parts(ours, ids), in_parts_of_theirs(theirs, ids)):
            torch.testing.assert_close(logits, expected, rtol=0, atol=1e-5)
        torch.testing.assert_close(ours(ids[:, :1]), theirs(ids[:, :1]).logits, rtol=0, atol=1e-5)
        begun = ids[:, :2]
        text = theirs.generate(
            begun, attention_mask=torch.ones_like(begun), do_sample=False, max_length=ours.longest
        )
        assert torch.equal(text, written(ours, begun))
        assert len(text.unique()) > 2, "one piece again and again would be no test"


@both_ends
@all_sizes
def test_theirs_with_our_weights_says_the_same(sizes: Sizes, tied: bool) -> None:
    ours, theirs = made(sizes, tied)
    assert not torch.allclose(ours(some_ids(ours)), theirs(some_ids(ours)).logits, atol=0.1)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert_one_model(ours, theirs)


@both_ends
@all_sizes
def test_ours_with_their_weights_says_the_same(sizes: Sizes, tied: bool) -> None:
    ours, theirs = made(sizes, tied)
    ours.load_state_dict(to_ours(theirs.state_dict(), tied))
    assert_one_model(ours, theirs)


def test_their_theta_is_our_base() -> None:
    ours, theirs = made(SIZES[0], tied=True, base=500.0)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert_one_model(ours, theirs)


@both_ends
def test_in_bfloat16_they_differ_by_its_own_rounding(tied: bool) -> None:
    """bfloat16 keeps 8 bits: a step is at most 1/128 of a number. Both lose as much by it."""
    ours, theirs = made(SIZES[0], tied)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    ids, frequencies = some_ids(ours), theirs.model.rotary_emb.inv_freq.clone()
    with torch.no_grad():
        exact = ours(ids)
        ours, theirs = ours.bfloat16(), theirs.bfloat16()
        # `from_pretrained(dtype=…)` leaves them in float32. `bfloat16()` does not: then places run together.
        theirs.model.rotary_emb.inv_freq = frequencies
        step, expected = exact.abs().max().item() / 128, theirs(ids).logits
        lost = (expected - exact).abs().mean()
        assert step / 20 < lost < step
        for logits in (ours(ids), in_parts(ours, ids)):
            assert logits.dtype == expected.dtype == torch.bfloat16
            assert (logits - expected).abs().mean() < lost / 2, "on one processor they are the same"
            assert (logits - exact).abs().mean() < 1.2 * lost


@both_ends
def test_there_and_back_is_where_it_was(tied: bool) -> None:
    ours, _ = made(SIZES[0], tied)
    back = to_ours(to_theirs(ours.state_dict()), tied)
    assert {*back} == {*ours.state_dict()}
    assert all(torch.equal(weight, back[name]) for name, weight in ours.state_dict().items())


def test_each_of_our_layers_has_a_name_of_theirs() -> None:
    ours, theirs = made(SIZES[1], tied=False)
    layers = {
        name.rpartition(".")[0].replace(".0.", ".*.").replace(".1.", ".*.") for name in ours.state_dict()
    }
    assert {*NAMES} == layers
    assert {*to_theirs(ours.state_dict())} == {*theirs.state_dict()}


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
