"""One set of weights in three models: attnlab's, the chapter's and PyTorch's."""

from collections.abc import Iterable, Iterator
from typing import Any

from torch import nn

from attnlab.layers import EncoderLayer
from attnlab.transformer import Transformer

KINDS = ("self_attention", "cross_attention", "feed_forward")


def pytorchs(model: Transformer) -> nn.Transformer:
    """`pytorchs(model)` has the layers of attnlab's `model`; embedding, positions and output it has not."""
    first = model.encoder[0]
    assert isinstance(first, EncoderLayer)
    d_model, heads = first.self_attention.d_model, first.self_attention.heads
    options: dict[str, Any] = {
        "dim_feedforward": first.feed_forward.widen.out_features,
        "dropout": 0.0,
        "batch_first": True,
        "norm_first": first.around_self_attention.norm_first,
    }
    reading = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(d_model, heads, **options),
        num_layers=len(model.encoder),
        norm=nn.LayerNorm(d_model),
        enable_nested_tensor=False,  # it would warn that pre-norm has none
    )
    theirs = nn.Transformer(
        d_model, heads, num_decoder_layers=len(model.decoder), custom_encoder=reading, **options
    )
    _set(theirs.encoder.parameters(), _in_order(model.encoder, model.encoder_norm))
    _set(theirs.decoder.parameters(), _in_order(model.decoder, model.decoder_norm))
    return theirs.to(model.word.weight.device)


def give(ours: nn.Module, model: Transformer) -> None:
    """`give(ours, model)` gives the chapter's own Transformer the weights of attnlab's."""
    for name, theirs in {
        "reads.layers": model.encoder,
        "reads.norm": model.encoder_norm,
        "reads.embedding": model.read,
        "writes.norm": model.decoder_norm,
        "writes.embedding": model.written,
        "word": model.word,
    }.items():
        ours.get_submodule(name).load_state_dict(theirs.state_dict())
    _set(ours.get_submodule("writes.layers").parameters(), _in_order(model.decoder))


def _in_order(layers: Iterable[nn.Module], *norms: nn.Module) -> Iterator[nn.Parameter]:
    """The weights of attnlab's layers in the order of PyTorch's: blocks first, and then their norms."""
    for layer in layers:
        kinds = [kind for kind in KINDS if hasattr(layer, kind)]
        for kind in kinds:
            yield from layer.get_submodule(kind).parameters()
        for kind in kinds:
            yield from layer.get_submodule(f"around_{kind}.norm").parameters()
    for norm in norms:
        yield from norm.parameters()


def _set(ours: Iterable[nn.Parameter], theirs: Iterable[nn.Parameter]) -> None:
    for our, their in zip(ours, theirs, strict=True):
        our.data.copy_(their.data)
