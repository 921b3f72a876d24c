"""One set of weights in three models: attnlab's, the chapter's and PyTorch's."""

from collections.abc import Iterable, Iterator

from torch import nn

from attnlab.transformer import Transformer

KINDS = ("self_attention", "cross_attention", "feed_forward")


def pytorchs(model: Transformer) -> nn.Transformer:
    """`pytorchs(model)` has the layers of attnlab's `model`; embedding, positions and output it has not."""
    attention, thinking = model.encoder[0].self_attention, model.encoder[0].feed_forward
    sizes = attention.d_model, attention.heads
    options = {"dim_feedforward": thinking.widen.out_features, "dropout": 0.0, "batch_first": True}
    options["norm_first"] = model.encoder[0].around_self_attention.norm_first
    reading = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(*sizes, **options),
        num_layers=len(model.encoder),
        norm=nn.LayerNorm(attention.d_model),
        enable_nested_tensor=False,  # it would warn that pre-norm has none
    )
    theirs = nn.Transformer(*sizes, num_decoder_layers=len(model.decoder), custom_encoder=reading, **options)
    _set(theirs.encoder.parameters(), _in_order(model.encoder, model.encoder_norm))
    _set(theirs.decoder.parameters(), _in_order(model.decoder, model.decoder_norm))
    return theirs.to(model.word.weight.device)


def give(ours: nn.Module, model: Transformer) -> None:
    """`give(ours, model)` gives the chapter's own Transformer the weights of attnlab's."""
    ours.reads.layers.load_state_dict(model.encoder.state_dict())
    ours.reads.norm.load_state_dict(model.encoder_norm.state_dict())
    written = [*ours.writes.layers.parameters(), *ours.writes.norm.parameters()]
    _set(written, _in_order(model.decoder, model.decoder_norm))
    ours.reads.embedding.load_state_dict(model.read.state_dict())
    ours.writes.embedding.load_state_dict(model.written.state_dict())
    ours.word.load_state_dict(model.word.state_dict())


def _in_order(layers: Iterable[nn.Module], norm: nn.Module) -> Iterator[nn.Parameter]:
    """The weights of attnlab's layers in the order of PyTorch's: blocks first, and then their norms."""
    for layer in layers:
        kinds = [kind for kind in KINDS if hasattr(layer, kind)]
        for kind in kinds:
            yield from layer.get_submodule(kind).parameters()
        for kind in kinds:
            yield from layer.get_submodule(f"around_{kind}.norm").parameters()
    yield from norm.parameters()


def _set(ours: Iterable[nn.Parameter], theirs: Iterable[nn.Parameter]) -> None:
    for our, their in zip(ours, theirs, strict=True):
        our.data.copy_(their.data)
