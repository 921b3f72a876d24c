"""Whole models: equal to PyTorch's with the same weights, no look ahead, and a cache that changes nothing."""

from functools import partial

import pytest
import torch
from same_weights import DECODER_NAMES, ENCODER_NAMES, assert_same, load_from_pytorch
from tensors import DEVICES
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.masks import causal, padding
from attnlab.positions import LearnedPositions, sinusoidal
from attnlab.transformer import GPT, LanguageModel, Transformer

SOURCE, LENGTHS = torch.tensor([[5, 7, 2, 3], [9, 2, 0, 0], [1, 1, 1, 0]]), torch.tensor([4, 2, 3])
PREVIOUS = torch.tensor([[1, 4, 6, 6, 2], [1, 8, 3, 0, 0], [1, 9, 9, 9, 9]])


def translator(**options: object) -> Transformer:
    torch.manual_seed(0)
    return Transformer(10, 12, d_model=16, heads=2, hidden=24, layers=2, **options).double().eval()


def language_model(**options: object) -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(10, d_model=16, heads=2, hidden=24, layers=2, **options).double().eval()


def gpt(**options: float) -> GPT:
    torch.manual_seed(0)
    sizes = {"vocabulary": 10, "d_model": 12, "heads": 3, "layers": 2, "context": 7}
    return GPT(**sizes | options).eval()


def assert_dropout_is_for_training_only(model: nn.Module, *batch: Tensor) -> None:
    assert torch.equal(model(*batch), model(*batch))
    model.train()
    assert not torch.allclose(model(*batch), model(*batch))


# ---- Transformer ----


@pytest.mark.parametrize("norm_first", [True, False])
def test_a_transformer_equals_pytorchs(norm_first: bool) -> None:
    ours = translator(norm_first=norm_first)
    options = {"dropout": 0.0, "batch_first": True, "norm_first": norm_first}
    reading = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(16, 2, 24, **options), 2, nn.LayerNorm(16), enable_nested_tensor=False
    )
    theirs = nn.Transformer(
        16, 2, num_decoder_layers=2, dim_feedforward=24, custom_encoder=reading, **options
    )
    theirs.double().eval()
    names = {"encoder.norm": "encoder_norm", "decoder.norm": "decoder_norm"}
    for place in range(2):
        for tower, inner in (("encoder", ENCODER_NAMES), ("decoder", DECODER_NAMES)):
            names |= {
                f"{tower}.layers.{place}.{their}": f"{tower}.{place}.{our}" for their, our in inner.items()
            }
    load_from_pytorch(ours, theirs, names)
    hidden = ~padding(LENGTHS)[:, 0]

    def vectors(ids: Tensor, table: nn.Module) -> Tensor:
        return 4 * table.weight[ids] + sinusoidal(ids.shape[1], 16, dtype=torch.float64)

    expected = theirs(
        vectors(SOURCE, ours.read),
        vectors(PREVIOUS, ours.written),
        tgt_mask=~causal(5)[0],
        src_key_padding_mask=hidden,
        memory_key_padding_mask=hidden,
    )
    assert_same(ours(SOURCE, LENGTHS, PREVIOUS), ours.word(expected))


def test_dropout_of_a_transformer_is_for_training_only() -> None:
    assert_dropout_is_for_training_only(translator(dropout=0.5), SOURCE, LENGTHS, PREVIOUS)


# ---- LanguageModel ----


def test_a_language_model_is_layers_one_after_the_other() -> None:
    model = language_model()
    x = 4 * model.embedding.weight[PREVIOUS] + sinusoidal(5, 16, dtype=torch.float64)
    for layer in model.layers:
        assert layer.around_self_attention.norm_first
        x = layer(x, causal(5))
    torch.testing.assert_close(model(PREVIOUS), model.word(model.norm(x)))


@pytest.mark.parametrize("parts", [[1, 1, 1, 1, 1], [2, 3], [4, 1], [5], [1, 3, 1]])
@pytest.mark.parametrize("positions", [None, LearnedPositions(16, 9).double()], ids=["sinusoidal", "learned"])
def test_with_a_cache_it_says_the_same(parts: list[int], positions: nn.Module | None) -> None:
    model = language_model(positions=positions)
    caches, others = model.caches(), model.caches()
    model(PREVIOUS.flip(1), others)  # another text, which does not mix with ours
    steps = [model(part, caches) for part in PREVIOUS.split(parts, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), model(PREVIOUS))
    assert [cache.length for cache in caches] == [5, 5]


# ---- GPT ----


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("device", DEVICES)
def test_a_gpt_equals_pytorchs(dtype: torch.dtype, device: str) -> None:
    ours = gpt().to(device, dtype)
    layer = nn.TransformerEncoderLayer(
        12, 3, 48, 0.0, partial(F.gelu, approximate="tanh"), batch_first=True, norm_first=True
    )
    theirs = nn.TransformerEncoder(layer, 2, nn.LayerNorm(12), enable_nested_tensor=False).to(device, dtype)
    parts = {
        "self_attn.out_proj": "attention.write",
        "norm1": "before_attention",
        "norm2": "before_network",
        "linear1": "widen",
        "linear2": "narrow",
    }
    names = {f"layers.{n}.{their}": f"blocks.{n}.{our}" for n in range(2) for their, our in parts.items()}
    load_from_pytorch(ours, theirs, names | {"norm": "norm"})
    for mine, layer in zip(ours.blocks, theirs.layers, strict=True):
        mine.attention.project.weight.data = layer.self_attn.in_proj_weight.data
        mine.attention.project.bias.data = layer.self_attn.in_proj_bias.data
    for ids in (PREVIOUS.to(device), PREVIOUS[:, :1].to(device), torch.arange(7, device=device)[None]):
        length = ids.shape[1]
        stream = ours.pieces.weight[ids] + ours.places.weight[:length]
        seen = theirs(stream, mask=~causal(length)[0].to(device), is_causal=True)
        assert_same(ours(ids), seen @ ours.pieces.weight.T)


def test_dropout_falls_where_gpt_2_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the table's rows, on what each half of a block adds, and on weights; in training alone."""
    shares: list[float] = []
    attention = F.scaled_dot_product_attention

    def noted(*tensors: Tensor, dropout_p: float, is_causal: bool) -> Tensor:
        shares.append(dropout_p)
        return attention(*tensors, dropout_p=dropout_p, is_causal=is_causal)

    monkeypatch.setattr(F, "scaled_dot_product_attention", noted)
    model, seen = gpt(dropout=0.25), []
    assert_dropout_is_for_training_only(model, PREVIOUS)
    assert shares == [0.0] * 4 + [0.25] * 4
    for part in model.modules():
        if isinstance(part, nn.Dropout):
            part.register_forward_hook(lambda _, given, came: seen.append((given[0], came)))
    model(PREVIOUS)
    assert len(seen) == 1 + 2 * 2
    for given, came in seen:
        torch.testing.assert_close(came, given / 0.75 * (came != 0))
        assert (came == 0).any()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *(
            ({name: 0}, f"{name} must be at least 1, got 0")
            for name in ("vocabulary", "d_model", "layers", "context")
        ),
        ({"heads": 5}, "heads must divide d_model, got d_model = 12 and heads = 5"),
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1, got 1.0"),
        ({"spread": 0.0}, "spread must be above 0, got 0.0"),
    ],
)
def test_sizes_that_cannot_be_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=f"{words}$"):
        gpt(**options)


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (torch.tensor([[3, 10]]), "ids must be from 0 to 9, got 3 to 10"),
        (torch.zeros(1, 8).long(), "ids must be at most 7 long, the model's context, got 8"),
        (torch.tensor([[-1, 2]]), "ids must be from 0 to 9, got -1 to 2"),
        (torch.zeros(1, 3), "ids must be int64 or int32, got torch.float32"),
        (torch.tensor([0]), r"ids must be \(B, T\), got \(1,\)"),
    ],
)
def test_ids_that_it_has_no_pieces_or_places_for_are_refused(ids: Tensor, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=f"{words}$"):
        gpt()(ids)
