"""Healthy models that were written after the tool: ways to build a model that are less usual, and right."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from faulty_models.families import PADDING, drawn, padded
from healthy_others import LENGTHS, WORDS, Case, Words, of_transformers
from torch import Tensor, nn
from torch.nn import functional as F

D_MODEL, HEADS = 16, 4


class Attention(nn.Module):
    """Each place sees `width` places, itself among them; cosine: by their angle, with a learned factor."""

    def __init__(self, width: int | None, cosine: bool, cap: float | None) -> None:
        super().__init__()
        self.width, self.cap = width, cap
        self.project, self.write = nn.Linear(D_MODEL, 3 * D_MODEL, bias=False), nn.Linear(D_MODEL, D_MODEL)
        self.factor = nn.Parameter(torch.full((HEADS, 1, 1), 3.0)) if cosine else None

    def forward(self, vectors: Tensor) -> Tensor:
        parts = self.project(vectors).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        query, key, value = parts  # (B, heads, T, d_k)
        if self.factor is None:
            scores = query @ key.mT / math.sqrt(query.shape[-1])
        else:
            scores = F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT * self.factor
        if self.cap is not None:
            scores = self.cap * torch.tanh(scores / self.cap)
        seen = torch.ones_like(scores, dtype=torch.bool).tril()
        if self.width is not None:
            seen = seen.triu(1 - self.width)
        weights = scores.masked_fill(~seen, -torch.inf).softmax(-1)
        return self.write((weights @ value).transpose(1, 2).flatten(2))


class Network(nn.Module):
    """SwiGLU, with both halves in one matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.widen, self.narrow = nn.Linear(D_MODEL, 48), nn.Linear(24, D_MODEL)

    def forward(self, vectors: Tensor) -> Tensor:
        content, gate = self.widen(vectors).chunk(2, -1)
        return self.narrow(content * F.silu(gate))


class TwoNetworks(nn.Module):
    """Each word goes to the network that its gate says, or to both in shares."""

    def __init__(self, one: bool) -> None:
        super().__init__()
        self.one, self.gate = one, nn.Linear(D_MODEL, 2)
        self.networks = nn.ModuleList(Network() for _ in range(2))

    def forward(self, vectors: Tensor) -> Tensor:
        shares = self.gate(vectors).softmax(-1)
        if self.one:
            shares = shares * F.one_hot(shares.argmax(-1), 2)
        found = torch.stack([network(vectors) for network in self.networks], -1)
        return (found * shares[..., None, :]).sum(-1)


class CentredGain(nn.Module):
    """An RMS norm whose gain is 1 + weight, as Gemma's."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(D_MODEL))

    def forward(self, vectors: Tensor) -> Tensor:
        return vectors * torch.rsqrt(vectors.square().mean(-1, keepdim=True) + 1e-6) * (1 + self.weight)


class Block(nn.Module):
    """`Block(parallel=True)`: attention and network read the same, and are added together."""

    def __init__(
        self, width: int | None = None, cosine: bool = False, cap: float | None = None,
        parallel: bool = False, network: Callable[[], nn.Module] = Network,
        norm: Callable[[], nn.Module] = CentredGain, gates: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.before_attention, self.attention = norm(), Attention(width, cosine, cap)
        self.before_network, self.network = None if parallel else norm(), network()
        self.gates = nn.Parameter(torch.zeros(2)) if gates else None

    def forward(self, stream: Tensor) -> Tensor:
        first, second = (1.0, 1.0) if self.gates is None else self.gates
        found = first * self.attention(self.before_attention(stream))
        if self.before_network is None:
            return stream + found + self.network(self.before_attention(stream))
        stream = stream + found
        return stream + second * self.network(self.before_network(stream))


class Decoder(nn.Module):
    """`Decoder(cap=30.0, width=3)(ids)` are logits; whatever is not its own goes to its blocks."""

    def __init__(
        self, layers: int = 2, places: bool = True, logit_cap: float | None = None, again: int = 1,
        words: int = WORDS, zeros: bool = False, **blocks: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.read = Words(words, D_MODEL) if places else nn.Embedding(words, D_MODEL)
        self.blocks = nn.ModuleList(Block(**blocks) for _ in range(layers))
        self.norm, self.write = nn.LayerNorm(D_MODEL), nn.Linear(D_MODEL, words, bias=False)
        self.logit_cap, self.again = logit_cap, again
        if zeros:
            for each in self.blocks:
                for layer in (each.attention.write, each.network.narrow):
                    nn.init.zeros_(layer.weight)
                    nn.init.zeros_(layer.bias)

    def forward(self, ids: Tensor) -> Tensor:
        stream = self.read(ids)
        for _ in range(self.again):
            for each in self.blocks:
                stream = each(stream)
        logits = self.write(self.norm(stream))
        return logits if self.logit_cap is None else self.logit_cap * torch.tanh(logits / self.logit_cap)


class Fading(nn.Module):
    """A state that fades, and takes in a key and a value at each step; a query reads it. No positions."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.norm = nn.Embedding(WORDS, D_MODEL), nn.LayerNorm(D_MODEL)
        self.project, self.write = nn.Linear(D_MODEL, 3 * D_MODEL), nn.Linear(D_MODEL, WORDS)
        self.fading = nn.Parameter(torch.linspace(1, 4, D_MODEL))

    def forward(self, ids: Tensor) -> Tensor:
        stream = self.words(ids)
        query, key, value = self.project(self.norm(stream)).chunk(3, -1)
        state, found = stream.new_zeros(len(ids), D_MODEL, D_MODEL), []
        for step in range(ids.shape[1]):
            state = state * self.fading.sigmoid()[:, None] + key[:, step, :, None] * value[:, step, None]
            found.append((query[:, step, None] @ state)[:, 0])
        return self.write(stream + torch.stack(found, 1))


class ThreeWords(nn.Module):
    """A network reads three words side by side, as Bengio's model of 2003 did."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, D_MODEL)
        self.network = nn.Sequential(nn.Linear(3 * D_MODEL, 32), nn.Tanh(), nn.Linear(32, WORDS))

    def forward(self, ids: Tensor) -> Tensor:
        vectors = F.pad(self.words(ids), (0, 0, 2, 0))
        return self.network(vectors.unfold(1, 3, 1).flatten(2))


class Convolutions(nn.Module):
    """Sees to both sides, and fills in: each layer is gated by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.write = Words(WORDS, D_MODEL), nn.Linear(D_MODEL, WORDS)
        self.layers = nn.ModuleList(nn.Conv1d(D_MODEL, 2 * D_MODEL, 5, padding=2) for _ in range(2))

    def forward(self, ids: Tensor) -> Tensor:
        vectors = self.read(ids).mT
        for layer in self.layers:
            vectors = vectors + F.glu(layer(vectors), dim=1)
        return self.write(vectors.mT)


class Highest(nn.Module):
    """Of each number the highest among the words, without padding, says one of four."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.hidden = nn.Embedding(WORDS, D_MODEL), nn.Linear(D_MODEL, D_MODEL)
        self.write = nn.Linear(D_MODEL, 4)

    def forward(self, ids: Tensor) -> Tensor:
        vectors = self.hidden(self.words(ids)).relu().masked_fill((ids == PADDING)[..., None], -torch.inf)
        return self.write(vectors.amax(1))


class FirstWord(nn.Module):
    """What an encoder makes of the first word says one of two: a word that stands for the whole text."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.write = Words(WORDS, D_MODEL), nn.Linear(D_MODEL, 2)
        layer = nn.TransformerEncoderLayer(D_MODEL, 2, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, ids: Tensor) -> Tensor:
        return self.write(self.layers(self.read(ids), src_key_padding_mask=ids == PADDING)[:, 0])


class Adapted(nn.Module):
    """A decoder that is frozen, but for two thin matrices beside one of its own, the second of zeros."""

    def __init__(self) -> None:
        super().__init__()
        self.model = Decoder().requires_grad_(False)
        self.down, self.up = nn.Linear(D_MODEL, 2, bias=False), nn.Linear(2, D_MODEL, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, ids: Tensor) -> Tensor:
        stream = self.model.read(ids)
        for each in self.model.blocks:
            stream = each(stream) + self.up(self.down(stream))
        return self.model.write(self.model.norm(stream))


def normed_weights() -> nn.Module:
    """Its matrices are a direction and a length each."""
    model = Decoder(norm=lambda: nn.LayerNorm(D_MODEL))
    for each in model.blocks:
        for layer in (each.attention.project, each.attention.write, each.network.widen):
            nn.utils.parametrizations.weight_norm(layer)
    return model


def writes(build: Callable[[], nn.Module], words: int = WORDS, length: int = 11, **options: Any) -> Case:
    return build(), drawn(words, 3, length, seed=21, least=1), options


def classifies(build: Callable[[], nn.Module]) -> Case:
    return build(), padded(WORDS, LENGTHS, seed=22), {"kind": "classifies", "padding": PADDING}


SIZES = {"vocab_size": 31, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 4, "max_position_embeddings": 32, "pad_token_id": 0}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}


def named(name: str, settings: dict[str, Any]) -> Case:
    """Of Hugging Face's, untrained: `named("LlamaForCausalLM, with few heads", {…})`."""
    kind = "fills in" if "MaskedLM" in name else "writes"
    text = drawn(31, 2, 9, seed=23, least=4)
    return of_transformers(name.partition(",")[0], settings), {"input_ids": text}, {"kind": kind}


def translator(name: str, settings: dict[str, Any]) -> Case:
    source, target = drawn(31, 2, 8, seed=24, least=4), drawn(31, 2, 6, seed=25, least=4)
    sizes = {"vocab_size": 31, "d_model": 16, "max_position_embeddings": 32, "pad_token_id": 1} | settings
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": 2, f"{side}_attention_heads": 2, f"{side}_ffn_dim": 32}
    model = of_transformers(name.partition(",")[0], sizes)
    return model, {"input_ids": source, "decoder_input_ids": target}, {}


DECODERS: dict[str, dict[str, Any]] = {
    "a window of three in each layer": {"width": 3},
    "a window of two in one layer": {"layers": 1, "width": 2},
    "attention and network side by side": {"parallel": True},
    "scores and logits with a cap": {"cap": 5.0, "logit_cap": 30.0},
    "no positions but what causality tells": {"places": False},
    "queries and keys of length one": {"cosine": True},
    "two networks, and each word to one": {"network": partial(TwoNetworks, True)},
    "two networks in shares": {"network": partial(TwoNetworks, False)},
    "two blocks, gone through three times": {"again": 3},
    "what is added starts at nothing": {"zeros": True},
    "gates that start at nothing": {"gates": True},
}
OTHER_WRITERS: dict[str, Callable[[], nn.Module]] = {
    "weights as directions and lengths": normed_weights,
    "frozen, with a thin matrix beside": Adapted,
    "a state that fades": Fading,
    "three words side by side": ThreeWords,
}
NAMED: dict[str, dict[str, Any]] = {
    "MistralForCausalLM, a window of four": SIZES | {"num_key_value_heads": 4, "sliding_window": 4},
    "MixtralForCausalLM": SIZES | {"num_key_value_heads": 2, "num_local_experts": 3},
    "GemmaForCausalLM": SIZES | {"head_dim": 6, "num_key_value_heads": 1},
    "GPTNeoXForCausalLM": SIZES,
    "BloomForCausalLM": {"vocab_size": 31, "hidden_size": 24, "n_layer": 2, "n_head": 3},
    "MambaForCausalLM": {"vocab_size": 31, "hidden_size": 16, "state_size": 4, "num_hidden_layers": 2},
    "AlbertForMaskedLM": SIZES | {"embedding_size": 12},
    "DebertaV2ForMaskedLM, whose scores are sums of products": SIZES
    | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]},
    "ModernBertForMaskedLM": SIZES | ENDS,
    "Gemma2ForCausalLM": SIZES | {"head_dim": 6, "num_key_value_heads": 2, "sliding_window": 4},
    "Qwen3ForCausalLM": SIZES | {"head_dim": 6, "num_key_value_heads": 2},
    "StableLmForCausalLM, of which a part is turned": SIZES
    | {"hidden_size": 32, "num_key_value_heads": 2, "partial_rotary_factor": 0.5},
    "OPTForCausalLM": {"vocab_size": 31, "hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4}
    | {"max_position_embeddings": 32, "word_embed_proj_dim": 24, "ffn_dim": 40},
    "GPTJForCausalLM": {"vocab_size": 31, "n_embd": 32, "n_layer": 2, "n_head": 4}
    | {"rotary_dim": 4, "n_positions": 32},
}
TRANSLATORS: dict[str, dict[str, Any]] = {
    "BartForConditionalGeneration": {},
    "MarianMTModel, with waves that are weights": {"decoder_start_token_id": 1},
}
FURTHER: dict[str, Callable[[], Case]] = {
    **{name: partial(writes, partial(Decoder, **how)) for name, how in DECODERS.items()},
    **{name: partial(writes, build) for name, build in OTHER_WRITERS.items()},
    "a vocabulary of three": partial(writes, partial(Decoder, words=3), words=3),
    "convolutions that fill in": partial(writes, Convolutions, kind="fills in"),
    "the highest of all words": partial(classifies, Highest),
    "the first word for the whole": partial(classifies, FirstWord),
    **{name: partial(named, name, settings) for name, settings in NAMED.items()},
    **{name: partial(translator, name, settings) for name, settings in TRANSLATORS.items()},
}
