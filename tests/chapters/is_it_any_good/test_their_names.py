"""Our GPT and Hugging Face's are one model: the same logits and the same text, whoever's weights they are."""

import socket

import pytest
import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

from attnlab.runtime import generator
from attnlab.transformer import GPT
from chapters.is_it_any_good.their_names import NAMES, to_ours, to_theirs

# vocabulary, d_model, heads, layers, context
SIZES = [(64, 24, 3, 2, 16), (37, 15, 5, 3, 11), (50, 7, 1, 1, 5)]


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("it wants the network"))


def made(sizes: tuple[int, ...], **more: object) -> tuple[GPT, GPT2LMHeadModel]:
    """Ours and theirs of the same sizes, each with weights of its own, none at the 0 or 1 it starts from."""
    vocabulary, d_model, heads, layers, context = sizes
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=vocabulary, n_positions=context, n_embd=d_model, n_layer=layers, n_head=heads,
        activation_function="gelu_new", bos_token_id=None, eos_token_id=None, **more,
    )  # fmt: skip
    models = GPT(vocabulary, d_model, heads, layers, context).eval(), GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for model in models:
            for weight in model.parameters():
                weight.add_(0.3 * torch.randn(weight.shape))
    return models


def some_ids(ours: GPT) -> Tensor:
    return torch.randint(len(ours.pieces.weight), (3, ours.context), generator=generator(1))


def written(ours: GPT, ids: Tensor) -> Tensor:
    """The likeliest piece again and again, until the context is full."""
    while ids.shape[1] < ours.context:
        ids = torch.cat([ids, ours(ids)[:, -1:].argmax(-1)], dim=1)
    return ids


def assert_one_model(ours: GPT, theirs: GPT2LMHeadModel) -> None:
    ids = some_ids(ours)
    with torch.no_grad():
        for length in (1, ours.context):
            torch.testing.assert_close(
                ours(ids[:, :length]), theirs(ids[:, :length]).logits, rtol=0, atol=1e-5
            )
        begun = ids[:, :2]
        text = theirs.generate(
            begun, attention_mask=torch.ones_like(begun), do_sample=False, max_length=ours.context
        )
        assert torch.equal(text, written(ours, begun))
        assert len(text.unique()) > 2, "one piece again and again would be no test"


@pytest.mark.parametrize("sizes", SIZES)
def test_theirs_with_our_weights_says_the_same(sizes: tuple[int, ...]) -> None:
    ours, theirs = made(sizes)
    assert not torch.allclose(ours(some_ids(ours)), theirs(some_ids(ours)).logits, atol=0.1)
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert_one_model(ours, theirs)


@pytest.mark.parametrize("sizes", SIZES)
def test_ours_with_their_weights_says_the_same(sizes: tuple[int, ...]) -> None:
    ours, theirs = made(sizes)
    ours.load_state_dict(to_ours(theirs.state_dict()))
    assert_one_model(ours, theirs)


def test_there_and_back_is_where_it_was() -> None:
    ours, _ = made(SIZES[1])
    back = to_ours(to_theirs(ours.state_dict()))
    assert [*back] == [*ours.state_dict()]
    assert all(torch.equal(weight, back[name]) for name, weight in ours.state_dict().items())


def test_each_of_our_layers_has_a_name_of_theirs() -> None:
    ours, theirs = made(SIZES[0])
    layers = {
        name.rpartition(".")[0].replace(".0.", ".*.").replace(".1.", ".*.") for name in ours.state_dict()
    }
    assert {*NAMES} == layers
    assert {*to_theirs(ours.state_dict())} == {*theirs.state_dict()}


def test_both_ends_share_one_table() -> None:
    ours, theirs = made(SIZES[0])
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    assert theirs.lm_head.weight is theirs.transformer.wte.weight
    _, apart = made(SIZES[0], tie_word_embeddings=False)
    with pytest.raises(
        ValueError, match=r"theirs must have one table at both ends, got a lm_head\.weight of its own"
    ):
        to_ours(apart.state_dict())


def test_ours_learns_as_theirs_does() -> None:
    """The loss and its gradients; a tied table gets those of both ends."""
    ours, theirs = made(SIZES[0])
    theirs.load_state_dict(to_theirs(ours.state_dict()))
    ids = some_ids(ours)
    loss = torch.nn.functional.cross_entropy(ours(ids)[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    their_loss = theirs(ids, labels=ids).loss
    torch.testing.assert_close(loss, their_loss)
    loss.backward()
    their_loss.backward()
    gradients = to_theirs({name: weight.grad for name, weight in ours.named_parameters()})
    for name, weight in theirs.named_parameters():
        torch.testing.assert_close(gradients[name], weight.grad, rtol=1e-4, atol=1e-6, msg=name)
