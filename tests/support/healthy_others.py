"""Healthy models that are not the book's: of PyTorch's own layers, of less usual ones, and Hugging Face's."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from faulty_models.families import PADDING, drawn, padded
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence

Case = tuple[nn.Module, Any, dict[str, Any]]
WORDS, D_MODEL, HEADS = 23, 16, 4
LENGTHS = torch.tensor([9, 4, 6])


def later(ids: Tensor) -> Tensor:
    """True hides, as PyTorch's layers have it."""
    return torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=ids.device).triu(1)


class Words(nn.Module):
    """`Words(23)(ids)` are vectors (B, T, 16), with where they stand."""

    def __init__(self, words: int = WORDS) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, D_MODEL), nn.Embedding(32, D_MODEL)

    def forward(self, ids: Tensor) -> Tensor:
        return self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))


class Reader(nn.Module):
    """`Reader(23, Blocks)(ids)`: between the vectors of words and the logits is one of the modules below."""

    def __init__(
        self, words: int, inside: Callable[..., nn.Module], says: int | None = None, places: bool = True,
        tied: bool = False, logarithms: bool = False, cap: float | None = None, **more: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.read = Words(words) if places else nn.Embedding(words, D_MODEL)
        self.inside, self.norm = inside(**more), nn.LayerNorm(D_MODEL)
        self.write = nn.Linear(D_MODEL, says or words)
        self.logarithms, self.cap = logarithms, cap
        if tied:
            nn.init.normal_(self.read.weight, std=0.25)
            self.write.weight = self.read.weight

    def forward(self, ids: Tensor) -> Tensor:
        logits = self.write(self.norm(self.inside(self.read(ids), ids)))
        if self.cap is not None:
            logits = self.cap * torch.tanh(logits / self.cap)
        return logits.log_softmax(-1) if self.logarithms else logits


# ---- PyTorch's layers ----


class Encoder(nn.Module):
    """PyTorch's encoder, which sees all places, or only those before. Padding, if there is any, is hidden."""

    def __init__(self, sees_all: bool = False, hides: bool = False, **more: Any) -> None:
        super().__init__()
        settings = {"nhead": 4, "dim_feedforward": 32, "batch_first": True} | more
        self.sees_all, self.hides, self.batch_first = sees_all, hides, settings["batch_first"]
        layer = nn.TransformerEncoderLayer(D_MODEL, **settings)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, vectors: Tensor, ids: Tensor) -> Tensor:
        mask, hidden = None if self.sees_all else later(ids), ids == PADDING if self.hides else None
        vectors = vectors if self.batch_first else vectors.transpose(0, 1)
        vectors = self.layers(vectors, mask, hidden, is_causal=mask is not None)
        return vectors if self.batch_first else vectors.transpose(0, 1)


class Pooled(nn.Module):
    """One vector for a whole text: the mean or the highest of its words, without padding, or the first."""

    def __init__(self, how: str, encoder: Callable[..., nn.Module] | None = None, **more: Any) -> None:
        super().__init__()
        self.how, self.inside = how, None if encoder is None else encoder(sees_all=True, hides=True, **more)

    def forward(self, vectors: Tensor, ids: Tensor) -> Tensor:
        vectors = vectors if self.inside is None else self.inside(vectors, ids)
        words = (ids != PADDING)[..., None]
        if self.how == "highest":
            return vectors.masked_fill(~words, -torch.inf).amax(1)
        return vectors[:, 0] if self.how == "first" else (vectors * words).sum(1) / words.sum(1)


class Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., nn.Module], **more: Any) -> None:
        super().__init__()
        self.network = kind(D_MODEL, D_MODEL, batch_first=True, **more)

    def forward(self, vectors: Tensor, ids: Tensor) -> Tensor:
        return self.network(vectors)[0]


class Convolutions(nn.Module):
    """Each place sees itself and six before it, or four to both sides; each layer is gated by itself."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.causal = causal
        self.layers = nn.ModuleList(nn.Conv1d(D_MODEL, 2 * D_MODEL, 3, dilation=step) for step in (1, 2))

    def forward(self, vectors: Tensor, ids: Tensor) -> Tensor:
        vectors = vectors.mT  # (B, 16, T)
        for layer in self.layers:
            step = layer.dilation[0]
            before = F.pad(vectors, (2 * step, 0) if self.causal else (step, step))
            vectors = vectors + F.glu(layer(before), dim=1)
        return vectors.mT


class Translator(nn.Module):
    """nn.Transformer, as its documentation uses it."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.written, self.write = Words(), Words(), nn.Linear(D_MODEL, WORDS)
        self.model = nn.Transformer(D_MODEL, 4, 2, 2, 32, batch_first=True)
        self.model.encoder.enable_nested_tensor = False

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        hidden = source == PADDING
        masks = {"src_key_padding_mask": hidden, "memory_key_padding_mask": hidden, "tgt_mask": later(target)}
        return self.write(self.model(self.read(source), self.written(target), **masks))


class Captioner(nn.Module):
    """nn.TransformerDecoder, which looks at vectors that come from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.see, self.read, self.write = nn.Linear(5, D_MODEL), Words(), nn.Linear(D_MODEL, WORDS)
        layer = nn.TransformerDecoderLayer(D_MODEL, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.decoder = nn.TransformerDecoder(layer, 2, nn.LayerNorm(D_MODEL))

    def forward(self, seen: Tensor, ids: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.write(self.decoder(self.read(ids), self.see(seen), tgt_mask=mask, tgt_is_causal=True))


class Judge(nn.Module):
    """A GRU that reads each row to its end, and says one of three."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, D_MODEL, padding_idx=PADDING)
        self.network, self.write = nn.GRU(D_MODEL, D_MODEL, batch_first=True), nn.Linear(D_MODEL, 3)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.words(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.write(self.network(packed)[1][-1])


# ---- less usual ones ----


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


class Block(nn.Module):
    """`Block(parallel=True)`: attention and network read the same, and are added together."""

    def __init__(
        self, width: int | None = None, cosine: bool = False, score_cap: float | None = None,
        parallel: bool = False, network: Callable[[], nn.Module] = Network, gates: bool = False,
        zeros: bool = False, normed: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.before_attention, self.attention = nn.RMSNorm(D_MODEL), Attention(width, cosine, score_cap)
        self.before_network, self.network = None if parallel else nn.RMSNorm(D_MODEL), network()
        self.gates = nn.Parameter(torch.zeros(2)) if gates else None
        if zeros:
            for weight in [*self.attention.write.parameters(), *self.network.narrow.parameters()]:
                nn.init.zeros_(weight)
        if normed:  # a direction and a length each
            for layer in (self.attention.project, self.attention.write, self.network.widen):
                nn.utils.parametrizations.weight_norm(layer)

    def forward(self, stream: Tensor) -> Tensor:
        first, second = (1.0, 1.0) if self.gates is None else self.gates
        found = first * self.attention(self.before_attention(stream))
        if self.before_network is None:
            return stream + found + self.network(self.before_attention(stream))
        stream = stream + found
        return stream + second * self.network(self.before_network(stream))


class Blocks(nn.Module):
    """Frozen: they learn nothing, but two thin matrices beside each, the second of zeros, do."""

    def __init__(self, layers: int = 2, again: int = 1, frozen: bool = False, **how: Any) -> None:
        super().__init__()
        self.blocks, self.again = nn.ModuleList(Block(**how) for _ in range(layers)), again
        self.beside = None
        if frozen:
            self.blocks.requires_grad_(False)
            thin = nn.Linear(D_MODEL, 2, bias=False), nn.Linear(2, D_MODEL, bias=False)
            nn.init.zeros_(thin[1].weight)
            self.beside = nn.Sequential(*thin)

    def forward(self, stream: Tensor, ids: Tensor) -> Tensor:
        for _ in range(self.again):
            for block in self.blocks:
                stream = block(stream) + (0 if self.beside is None else self.beside(stream))
        return stream


class Fading(nn.Module):
    """A state that fades, and takes in a key and a value at each step; a query reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.norm, self.project = nn.LayerNorm(D_MODEL), nn.Linear(D_MODEL, 3 * D_MODEL)
        self.fading = nn.Parameter(torch.linspace(1, 4, D_MODEL))

    def forward(self, stream: Tensor, ids: Tensor) -> Tensor:
        query, key, value = self.project(self.norm(stream)).chunk(3, -1)
        state, found = stream.new_zeros(len(ids), D_MODEL, D_MODEL), []
        for step in range(ids.shape[1]):
            state = state * self.fading.sigmoid()[:, None] + key[:, step, :, None] * value[:, step, None]
            found.append((query[:, step, None] @ state)[:, 0])
        return stream + torch.stack(found, 1)


class ThreeWords(nn.Module):
    """A network reads three words side by side, as Bengio's model of 2003 did."""

    def __init__(self) -> None:
        super().__init__()
        self.network = nn.Sequential(nn.Linear(3 * D_MODEL, 32), nn.Tanh(), nn.Linear(32, D_MODEL))

    def forward(self, vectors: Tensor, ids: Tensor) -> Tensor:
        return self.network(F.pad(vectors, (0, 0, 2, 0)).unfold(1, 3, 1).flatten(2))


def writes(
    build: Callable[..., nn.Module], words: int = WORDS, rows: int = 3, length: int = 10,
    dtype: torch.dtype = torch.float32, trains: bool = True, told: dict[str, Any] | None = None, **more: Any,
) -> Case:  # fmt: skip
    """`writes(gpt, layers=1, rows=2)`: what is not its own goes to the model; checkup is told the rest."""
    model = build(words, **more).to(dtype).train(trains)
    return model, drawn(words, rows, length, seed=6), told or {}


def with_padding(kind: str, **more: Any) -> Case:
    return Reader(WORDS, **more), padded(WORDS, LENGTHS, seed=12), {"kind": kind, "padding": PADDING}


def translating() -> Case:
    source, target = padded(WORDS, LENGTHS, seed=13), drawn(WORDS, 3, 7, seed=14, least=1)
    return Translator(), (source, target), {"padding": PADDING}


def captioning() -> Case:
    seen = torch.randn(2, 6, 5, generator=torch.Generator().manual_seed(15))
    return Captioner(), (seen, drawn(WORDS, 2, 8, seed=15)), {}


def judging() -> Case:
    batch = padded(WORDS, LENGTHS, seed=20), LENGTHS.clone()
    return Judge(), batch, {"kind": "classifies", "padding": PADDING}


# ---- Hugging Face's ----

GPT2 = {"vocab_size": 31, "n_embd": 24, "n_layer": 2, "n_head": 2, "n_positions": 32}
GPT2 |= {"bos_token_id": 1, "eos_token_id": 2}
SIZES = {"vocab_size": 31, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2}
SIZES |= {"num_attention_heads": 4, "max_position_embeddings": 32, "pad_token_id": 0}
ENDS = {"bos_token_id": 1, "eos_token_id": 2, "cls_token_id": 1, "sep_token_id": 2}
T5 = {"d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0}
SIDES = {"max_position_embeddings": 32, "pad_token_id": 1}
for side in ("encoder", "decoder"):
    SIDES |= {f"{side}_layers": 2, f"{side}_attention_heads": 2, f"{side}_ffn_dim": 32}


def named(name: str, settings: dict[str, Any], with_padding: bool = False) -> Case:
    """`named("LlamaForCausalLM, with few heads", {…})` is new, so that nothing is downloaded."""
    import transformers

    kind = getattr(transformers, name.partition(",")[0].partition(" ")[0])
    model = kind(kind.config_class(**settings)).train()
    options = {"kind": "fills in" if "MaskedLM" in name else "writes"}
    if not with_padding:
        return model, {"input_ids": drawn(31, 2, 9, seed=23, least=4)}, options
    ids = padded(31, LENGTHS, seed=17)  # with a mask as a tokenizer gives it
    batch = {"input_ids": ids, "attention_mask": (ids != PADDING).long()}
    return model, batch, options | {"padding": PADDING}


def translator(name: str, settings: dict[str, Any]) -> Case:
    model, batch, _ = named(name, {"vocab_size": 31, "d_model": 16} | settings)
    target = drawn(31, 2, 6, seed=25, least=4)
    target[:, 0] = 0
    return model, batch | {"decoder_input_ids": target}, {}


NAMED: dict[str, dict[str, Any]] = {
    "GPT2LMHeadModel": GPT2,
    "LlamaForCausalLM": SIZES,
    "LlamaForCausalLM, few heads of keys and one table": SIZES
    | {"num_key_value_heads": 2, "tie_word_embeddings": True},
    "BertForMaskedLM": SIZES,
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
    "OPTForCausalLM": SIZES | {"word_embed_proj_dim": 24, "ffn_dim": 40},
    "GPTJForCausalLM": GPT2 | {"n_embd": 32, "n_head": 4, "rotary_dim": 4},
}
TRANSLATORS: dict[str, dict[str, Any]] = {
    "T5ForConditionalGeneration": T5,
    "BartForConditionalGeneration": SIDES,
    "MarianMTModel, with waves that are weights": SIDES | {"decoder_start_token_id": 1},
}
READERS: dict[str, dict[str, Any]] = {
    "nn.TransformerEncoder": {"inside": Encoder},
    "nn.TransformerEncoder, norms first": {"inside": Encoder, "norm_first": True, "dropout": 0.0},
    "nn.TransformerEncoder, time first": {"inside": Encoder, "batch_first": False},
    "nn.TransformerEncoder, time first, norms first": {"inside": Encoder, "batch_first": False, "length": 5}
    | {"norm_first": True, "activation": "gelu"},
    "nn.LSTM": {"inside": Recurrent, "kind": nn.LSTM, "places": False},
    "nn.LSTM with one table": {
        "inside": Recurrent,
        "kind": nn.LSTM,
        "places": False,
        "tied": True,
        "length": 30,
    },
    "two nn.GRU with dropout": {"inside": Recurrent, "kind": nn.GRU, "places": False}
    | {"num_layers": 2, "dropout": 0.2},
    "convolutions": {"inside": Convolutions, "causal": True, "places": False},
    "convolutions that fill in": {"inside": Convolutions, "causal": False, "told": {"kind": "fills in"}},
    "attention that gives log-probabilities": {"layers": 1, "logarithms": True},
    "a window of three in each layer": {"width": 3},
    "a window of two in one layer": {"layers": 1, "width": 2},
    "attention and network side by side": {"parallel": True},
    "scores and logits with a cap": {"score_cap": 5.0, "cap": 30.0},
    "no positions but what causality tells": {"places": False},
    "queries and keys of length one": {"cosine": True},
    "two networks, and each word to one": {"network": partial(TwoNetworks, True)},
    "two networks in shares": {"network": partial(TwoNetworks, False)},
    "two blocks, gone through three times": {"again": 3},
    "what is added starts at nothing": {"zeros": True},
    "gates that start at nothing": {"gates": True},
    "weights as directions and lengths": {"normed": True},
    "frozen, with a thin matrix beside": {"frozen": True},
    "a vocabulary of three": {"words": 3},
    "a state that fades": {"inside": Fading, "places": False},
    "three words side by side": {"inside": ThreeWords, "places": False},
}
WITH_PADDING: dict[str, dict[str, Any]] = {
    "nn.TransformerEncoder with padding": {"kind": "writes", "inside": Encoder, "hides": True},
    "nn.TransformerEncoder that fills in": {"kind": "fills in", "inside": Encoder}
    | {"hides": True, "sees_all": True},
    "a mean of words that classifies": {"kind": "classifies", "inside": Pooled, "how": "mean", "says": 5},
    "nn.TransformerEncoder that classifies": {"kind": "classifies", "inside": Pooled, "how": "mean"}
    | {"says": 5, "encoder": Encoder, "norm_first": True},
    "the highest of all words": {"kind": "classifies", "inside": Pooled, "how": "highest"}
    | {"says": 4, "places": False},
    "the first word for the whole": {"kind": "classifies", "inside": Pooled, "how": "first"}
    | {"says": 2, "encoder": Encoder},
}
OTHERS: dict[str, Callable[[], Case]] = {
    **{name: partial(writes, Reader, **{"inside": Blocks} | how) for name, how in READERS.items()},
    **{name: partial(with_padding, **how) for name, how in WITH_PADDING.items()},
    "nn.Transformer": translating,
    "nn.TransformerDecoder": captioning,
    "a GRU that classifies": judging,
    **{name: partial(named, name, settings) for name, settings in NAMED.items()},
    "BertForMaskedLM with padding": partial(named, "BertForMaskedLM with padding", SIZES, with_padding=True),
    **{name: partial(translator, name, settings) for name, settings in TRANSLATORS.items()},
}
