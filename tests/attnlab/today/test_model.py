"""The model of today: equal to plain PyTorch, without a look ahead, and with a cache that changes nothing."""

import re

import pytest
import torch
from same_weights import assert_same, random
from tensors import DEVICES
from torch import Tensor
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.masks import causal
from attnlab.today.model import Block, Today

IDS = torch.tensor([[1, 4, 6, 6, 2, 0], [1, 8, 3, 0, 0, 5], [1, 9, 9, 9, 9, 9]])
SIZES = {"vocabulary": 10, "d_model": 24, "heads": 6, "groups": 2, "hidden": 20, "layers": 2, "longest": 9}


def today(spread: float = 0.4, **options: float) -> Today:
    """With norms whose weights are not all 1, as after a training."""
    torch.manual_seed(0)
    model = Today(**SIZES | options, spread=spread).eval()
    for number, weight in enumerate(model.parameters()):
        if weight.dim() == 1:
            weight.data.add_(0.3 * random(*weight.shape, dtype=weight.dtype, seed=number))
    return model


def caches_of(model: Today) -> list[Cache]:
    return [Cache() for _ in model.blocks]


# ---- the whole, written another way ----


def turned_as_complex(vectors: Tensor, places: Tensor, base: float) -> Tensor:
    """Columns i and i + d_k/2 as one complex number, times e^(i · angle)."""
    half = vectors.shape[-1] // 2
    angles = places[..., None].double() * base ** (-torch.arange(half, device=places.device).double() / half)
    pairs = torch.complex(vectors[..., :half].double(), vectors[..., half:].double())
    pairs = pairs * torch.polar(torch.ones_like(angles), angles)
    return torch.cat([pairs.real, pairs.imag], dim=-1).to(vectors.dtype)


def block_by_hand(block: Block, stream: Tensor, base: float) -> Tensor:
    """F.rms_norm, keys repeated for each head, weights from a softmax under a mask of our own."""
    attention, network = block.attention, block.network
    seen = F.rms_norm(stream, stream.shape[-1:], block.before_attention.weight, 1e-6)
    d_k, shared = stream.shape[-1] // attention.heads, attention.heads // attention.groups

    def split(weight: Tensor) -> Tensor:  # (B, heads or groups, T, d_k)
        return (seen @ weight.T).view(*stream.shape[:2], -1, d_k).transpose(1, 2)

    places = torch.arange(stream.shape[1], device=stream.device)
    query = turned_as_complex(split(attention.query.weight), places, base)
    key = turned_as_complex(split(attention.key.weight), places, base).repeat_interleave(shared, 1)
    value = split(attention.value.weight).repeat_interleave(shared, 1)
    scores = query @ key.mT / d_k**0.5
    scores = scores.masked_fill(~torch.ones_like(scores).bool().tril(), -torch.inf)
    found = (scores.softmax(-1) @ value).transpose(1, 2).reshape(stream.shape)
    stream = stream + found @ attention.write.weight.T
    seen = F.rms_norm(stream, stream.shape[-1:], block.before_network.weight, 1e-6)
    gate, content = seen @ network.gate.weight.T, seen @ network.widen.weight.T
    return stream + (gate * gate.sigmoid() * content) @ network.narrow.weight.T


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("tied", [True, False], ids=["tied", "untied"])
@pytest.mark.parametrize("base", [10000.0, 50.0])
@pytest.mark.parametrize("groups", [1, 2, 6])
def test_equals_pytorch(device: str, tied: bool, base: float, groups: int) -> None:
    model = today(tied=tied, base=base, groups=groups).to(device)
    assert ("next.weight" in model.state_dict()) == (not tied)
    for ids in (IDS, IDS[:, :1], torch.arange(9)[None]):
        stream = model.pieces.weight[ids.to(device)]
        for block in model.blocks:
            stream = block_by_hand(block, stream, base)
        stream = F.rms_norm(stream, stream.shape[-1:], model.norm.weight, 1e-6)
        table = model.pieces.weight if tied else model.next.weight
        assert_same(model(ids.to(device)), stream @ table.T)


def test_it_starts_with_the_spread_that_is_asked_for() -> None:
    model = Today(90, d_model=60, heads=5, groups=5, hidden=70, layers=3, longest=8, tied=False, spread=0.1)
    for name, weight in model.named_parameters():
        if weight.dim() == 1:
            assert torch.equal(weight, torch.ones_like(weight)), name
        else:
            wanted = 0.1 / 6**0.5 if name.endswith(("write.weight", "narrow.weight")) else 0.1
            assert abs(weight.std().item() / wanted - 1) < 5 / (2 * weight.numel()) ** 0.5, name


# ---- what may be seen ----


@pytest.mark.parametrize("parts", [[1] * 6, [2, 4], [5, 1], [6], [1, 4, 1]])
def test_with_a_cache_it_says_the_same(parts: list[int]) -> None:
    model = today()
    caches, others = caches_of(model), caches_of(model)
    model(IDS.flip(1), others)  # another text, which does not mix with ours
    steps = [model(part, caches) for part in IDS.split(parts, dim=1)]
    torch.testing.assert_close(torch.cat(steps, dim=1), model(IDS), rtol=0, atol=1e-5)
    assert [cache.length for cache in caches] == [6, 6]
    assert caches[0].keys.shape == (3, 2, 6, 4), "keys of the groups, not of the heads"


@pytest.mark.parametrize("cached", [False, True])
def test_what_is_not_visible_changes_nothing(cached: bool) -> None:
    model = today()
    hidden = causal(6).clone()
    hidden[..., 1:, 0] = False
    other = torch.cat([IDS[:, :1] + 1, IDS[:, 1:]], dim=1)

    def logits(ids: Tensor) -> Tensor:
        if not cached:
            return model(ids, visible=hidden)
        caches = caches_of(model)
        first = model(ids[:, :4], caches, visible=hidden[:, :4, :4])
        return torch.cat([first, model(ids[:, 4:], caches, visible=hidden[:, 4:])], dim=1)

    change = (logits(other) - logits(IDS)).abs().amax((0, 2))
    assert change[0] > 1e-3
    assert change[1:].max() == 0
    torch.testing.assert_close(model(IDS, visible=causal(6)), model(IDS))
    each = causal(6).repeat(3, 1, 1)  # a mask for each row
    each[1, 1:, 0] = False
    expected = torch.stack([model(IDS)[0], model(IDS, visible=hidden)[1], model(IDS)[2]])
    torch.testing.assert_close(model(IDS, visible=each), expected)


def test_only_distances_between_places_count_also_between_two() -> None:
    model, places = today(), torch.arange(6)[None]
    torch.testing.assert_close(model(IDS, places=places + 3), model(IDS), rtol=0, atol=1e-5)
    torch.testing.assert_close(model(IDS, places=places.float()), model(IDS))
    assert not torch.allclose(model(IDS, places=places / 2), model(IDS), atol=1e-3)
    gap = torch.tensor([[0, 1, 2, 6, 7, 8]])
    change = (model(IDS, places=gap) - model(IDS)).abs().amax((0, 2))
    assert change[:3].max() < 1e-5
    assert change[3:].min() > 1e-3


# ---- other precisions, other machines ----


def test_in_bfloat16_it_stays_near() -> None:
    """Steps of 1/256, through two layers; turned frequencies would be off by whole turns far away."""
    model = today(longest=5000)
    assert "frequencies" not in model.state_dict()
    # Radians a place, of 4 columns: 1, and a hundredth.
    torch.testing.assert_close(model.frequencies, torch.tensor([1.0, 0.01]))
    exact, far = model(IDS), torch.arange(4994, 5000)[None]
    assert_same(model.double()(IDS).float(), exact)
    rounded = model.bfloat16()
    assert rounded.frequencies.dtype == torch.float32
    for places in (None, far):
        came = rounded(IDS, places=places)
        assert came.dtype == torch.bfloat16
        assert (came - exact).abs().mean() < 0.02 * exact.abs().mean() + 0.01


# ---- what cannot be ----


@pytest.mark.parametrize(
    ("options", "words"),
    [
        *(
            ({name: 0}, f"{name} must be at least 1, got 0")
            for name in ("vocabulary", "hidden", "layers", "longest")
        ),
        ({"heads": 5}, "heads must divide d_model, got d_model = 24 and heads = 5"),
        ({"groups": 4}, "groups must divide heads, got heads = 6 and groups = 4"),
        ({"groups": 0}, "groups must divide heads, got heads = 6 and groups = 0"),
        ({"heads": 8}, "d_k must be even, since pairs of columns turn together, got 3"),
        ({"spread": 0.0}, "spread must be above 0, got 0.0"),
    ],
)
def test_sizes_that_cannot_be_are_refused(options: dict[str, float], words: str) -> None:
    with pytest.raises(ValueError, match=f"{words}$"):
        today(**options)


@pytest.mark.parametrize(
    ("ids", "places", "words"),
    [
        (torch.tensor([[3, 10]]), None, "ids must be from 0 to 9, got 3 to 10"),
        (torch.zeros(1, 10).long(), None, "ids must be at most 9 long, the model's context, got 10"),
        (IDS, torch.arange(4, 10)[None], "must be from 0 to below 9, the model's longest, got 4 to 9"),
        (IDS, torch.arange(-1, 5)[None], "must be from 0 to below 9, the model's longest, got -1 to 4"),
        (IDS, torch.arange(6), "places must be (3, 6), as ids are, got (6,)"),
        (IDS, torch.zeros(2, 6), "places must be (3, 6), as ids are, got (2, 6)"),
        (IDS, torch.zeros(1, 6, 1), "places must be (3, 6), as ids are, got (1, 6, 1)"),
    ],
)
def test_ids_and_places_that_cannot_be_are_refused(ids: Tensor, places: Tensor | None, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=re.escape(words) + "$"):
        today()(ids, places=places)


def test_a_cache_that_is_full_or_of_another_batch_or_model_is_refused() -> None:
    model = today()
    caches = caches_of(model)
    model(IDS[:, :5], caches)
    for call, words in (
        (lambda: model(IDS, caches), "longest, got 5 to 10"),
        (lambda: model(IDS[:2, :1], caches), "keys must fit the cache, (3, 2, '…', 4), got (2, 2, 1, 4)"),
        (lambda: today(groups=6)(IDS[:, :1], caches), "(3, 2, '…', 4), got (3, 6, 1, 4)"),
        (lambda: model(IDS, [*caches_of(model), Cache()]), "argument 2 is longer"),
    ):
        with pytest.raises(ValueError, match=re.escape(words)):
            call()
    assert [cache.length for cache in caches] == [5, 5], "nothing was added"
