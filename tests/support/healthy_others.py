"""Healthy models that are not the book's: of PyTorch's own layers, and Hugging Face's."""

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
WORDS = 23
LENGTHS = torch.tensor([9, 4, 6])


class Words(nn.Module):
    """`Words(23, 16, longest=32)(ids)` are vectors (B, T, 16), with where they stand."""

    def __init__(self, words: int, d_model: int, longest: int = 32) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, d_model), nn.Embedding(longest, d_model)

    def forward(self, ids: Tensor) -> Tensor:
        return self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))


class Stack(nn.Module):
    """PyTorch's encoder, which sees all places, or only those before. Padding, if there is any, is hidden."""

    def __init__(self, sees_all: bool, padding: int | None = None, **more: Any) -> None:
        super().__init__()
        settings = {"d_model": 16, "nhead": 4, "dim_feedforward": 32, "batch_first": True} | more
        self.sees_all, self.padding, self.batch_first = sees_all, padding, settings["batch_first"]
        self.read = Words(WORDS, 16)
        self.layers = nn.TransformerEncoder(
            nn.TransformerEncoderLayer(**settings), num_layers=2, enable_nested_tensor=False
        )
        self.norm, self.write = nn.LayerNorm(16), nn.Linear(16, WORDS)

    def forward(self, ids: Tensor) -> Tensor:
        vectors = self.read(ids)
        later = None
        if not self.sees_all:
            later = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool, device=ids.device).triu(1)
        hidden = None if self.padding is None else ids == self.padding
        vectors = vectors if self.batch_first else vectors.transpose(0, 1)
        vectors = self.layers(vectors, later, hidden, is_causal=later is not None)
        return self.write(self.norm(vectors if self.batch_first else vectors.transpose(0, 1)))


class Translator(nn.Module):
    """nn.Transformer, as its documentation uses it: True hides."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.written = Words(WORDS, 16), Words(WORDS, 16)
        self.model = nn.Transformer(16, 4, 2, 2, 32, batch_first=True)
        self.model.encoder.enable_nested_tensor = False
        self.write = nn.Linear(16, WORDS)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        later = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).triu(1)
        hidden = source == PADDING
        found = self.model(
            self.read(source),
            self.written(target),
            tgt_mask=later,
            src_key_padding_mask=hidden,
            memory_key_padding_mask=hidden,
        )
        return self.write(found)


class Captioner(nn.Module):
    """nn.TransformerDecoder, which looks at vectors that come from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.see, self.read = nn.Linear(5, 16), Words(WORDS, 16)
        layer = nn.TransformerDecoderLayer(16, 2, 32, dropout=0.0, batch_first=True, norm_first=True)
        self.decoder, self.write = nn.TransformerDecoder(layer, 2, nn.LayerNorm(16)), nn.Linear(16, WORDS)

    def forward(self, seen: Tensor, ids: Tensor) -> Tensor:
        later = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.write(self.decoder(self.read(ids), self.see(seen), tgt_mask=later, tgt_is_causal=True))


class Recurrent(nn.Module):
    """`Recurrent(nn.LSTM)(ids)`, with one table at both ends or with two."""

    def __init__(self, kind: Callable[..., nn.Module], tied: bool = False, **more: Any) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, 16)
        self.network = kind(16, 16, batch_first=True, **more)
        self.write = nn.Linear(16, WORDS, bias=not tied)
        if tied:
            nn.init.normal_(self.words.weight, std=0.25)
            self.write.weight = self.words.weight

    def forward(self, ids: Tensor) -> Tensor:
        return self.write(self.network(self.words(ids))[0])


class Convolving(nn.Module):
    """Each place sees itself and six before it, by two convolutions that are padded on the left."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.write = nn.Embedding(WORDS, 16), nn.Linear(16, WORDS)
        self.layers = nn.ModuleList(nn.Conv1d(16, 16, 3, dilation=step) for step in (1, 2))

    def forward(self, ids: Tensor) -> Tensor:
        vectors = self.words(ids).mT  # (B, 16, T)
        for layer in self.layers:
            before = 2 * layer.dilation[0]
            vectors = vectors + F.gelu(layer(F.pad(vectors, (before, 0))))
        return self.write(vectors.mT)


class Attentive(nn.Module):
    """Attention written out, and log-probabilities for logits: the loss is the same."""

    def __init__(self) -> None:
        super().__init__()
        self.read, self.write = Words(WORDS, 16), nn.Linear(16, WORDS)
        self.queries, self.keys, self.values = (nn.Linear(16, 16) for _ in range(3))

    def forward(self, ids: Tensor) -> Tensor:
        vectors = self.read(ids)
        scores = self.queries(vectors) @ self.keys(vectors).mT / math.sqrt(16)
        later = torch.ones_like(scores, dtype=torch.bool).triu(1)
        weights = torch.softmax(scores.masked_fill(later, float("-inf")), dim=-1)
        return F.log_softmax(self.write(vectors + weights @ self.values(vectors)), dim=-1)


class Judge(nn.Module):
    """A GRU that reads each row to its end, and says one of three."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, 16, padding_idx=PADDING)
        self.network = nn.GRU(16, 16, batch_first=True)
        self.write = nn.Linear(16, 3)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        packed = pack_padded_sequence(self.words(ids), lengths.cpu(), batch_first=True, enforce_sorted=False)
        return self.write(self.network(packed)[1][-1])


class Pooled(nn.Module):
    """The mean of what an encoder makes of the words, without padding, says one of five."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.read, self.write = Words(WORDS, 16), nn.Linear(16, 5)
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False) if layers else None

    def forward(self, ids: Tensor) -> Tensor:
        vectors, words = self.read(ids), (ids != PADDING)[..., None]
        if self.layers is not None:
            vectors = self.layers(vectors, src_key_padding_mask=~words[..., 0])
        return self.write((vectors * words).sum(1) / words.sum(1))


def writes(build: Callable[[], nn.Module], length: int = 10, **options: Any) -> Case:
    return build(), drawn(WORDS, 3, length, seed=11, least=1), options


def with_padding(build: Callable[[], nn.Module], **options: Any) -> Case:
    return build(), padded(WORDS, LENGTHS, seed=12), {"padding": PADDING} | options


def translating() -> Case:
    source, target = padded(WORDS, LENGTHS, seed=13), drawn(WORDS, 3, 7, seed=14, least=1)
    return Translator(), (source, target), {"padding": PADDING}


def captioning() -> Case:
    seen = torch.randn(2, 6, 5, generator=torch.Generator().manual_seed(15))
    return Captioner(), (seen, drawn(WORDS, 2, 8, seed=15)), {}


# ---- Hugging Face's ----


def of_transformers(name: str, settings: dict[str, Any]) -> nn.Module:
    """`of_transformers("GPT2LMHeadModel", {…})` is new, so that nothing is downloaded."""
    import transformers

    kind = getattr(transformers, name)
    return kind(kind.config_class(**settings)).train()


GPT2 = {"vocab_size": 31, "n_embd": 24, "n_layer": 2, "n_head": 2, "n_positions": 32}
GPT2 |= {"bos_token_id": 1, "eos_token_id": 2}
BERT = {"vocab_size": 31, "hidden_size": 24, "intermediate_size": 40, "num_hidden_layers": 2}
BERT |= {"num_attention_heads": 2, "max_position_embeddings": 32}
LLAMA = BERT | {"num_attention_heads": 4}
T5 = {"vocab_size": 31, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2}


def text() -> Tensor:
    return drawn(31, 2, 9, seed=16, least=4)


def told_of_padding() -> dict[str, Tensor]:
    """As a tokenizer gives it, with padding at the end."""
    ids = padded(31, LENGTHS, seed=17)
    return {"input_ids": ids, "attention_mask": (ids != PADDING).long()}


def t5() -> Case:
    source, target = drawn(31, 2, 7, seed=18, least=4), drawn(31, 2, 6, seed=19, least=4)
    target[:, 0] = 0
    model = of_transformers("T5ForConditionalGeneration", T5 | {"decoder_start_token_id": 0})
    return model, {"input_ids": source, "decoder_input_ids": target}, {}


def judging() -> Case:
    batch = padded(WORDS, LENGTHS, seed=20), LENGTHS.clone()
    return Judge(), batch, {"kind": "classifies", "padding": PADDING}


def llama(**more: Any) -> Case:
    return of_transformers("LlamaForCausalLM", LLAMA | more), {"input_ids": text()}, {}


def bert(batch: Callable[[], Any], **options: Any) -> Case:
    return of_transformers("BertForMaskedLM", BERT), batch(), {"kind": "fills in"} | options


OTHERS: dict[str, Callable[[], Case]] = {
    "nn.TransformerEncoder": partial(writes, partial(Stack, False)),
    "nn.TransformerEncoder, norms first": partial(
        writes, partial(Stack, False, norm_first=True, dropout=0.0)
    ),
    "nn.TransformerEncoder, time first": partial(writes, partial(Stack, False, batch_first=False)),
    "nn.TransformerEncoder, time first, norms first": partial(
        writes, partial(Stack, False, batch_first=False, norm_first=True, activation="gelu"), length=5
    ),
    "nn.TransformerEncoder with padding": partial(with_padding, partial(Stack, False, PADDING)),
    "nn.TransformerEncoder that fills in": partial(
        with_padding, partial(Stack, True, PADDING), kind="fills in"
    ),
    "nn.Transformer": translating,
    "nn.TransformerDecoder": captioning,
    "nn.LSTM": partial(writes, partial(Recurrent, nn.LSTM)),
    "nn.LSTM with one table": partial(writes, partial(Recurrent, nn.LSTM, tied=True), length=30),
    "two nn.GRU with dropout": partial(writes, partial(Recurrent, nn.GRU, num_layers=2, dropout=0.2)),
    "convolutions": partial(writes, Convolving),
    "attention that gives log-probabilities": partial(writes, Attentive),
    "a GRU that classifies": judging,
    "a mean of words that classifies": partial(with_padding, partial(Pooled, 0), kind="classifies"),
    "nn.TransformerEncoder that classifies": partial(with_padding, partial(Pooled, 2), kind="classifies"),
    "GPT2LMHeadModel": lambda: (of_transformers("GPT2LMHeadModel", GPT2), text(), {}),
    "LlamaForCausalLM": llama,
    "LlamaForCausalLM, few heads of keys and one table": partial(
        llama, num_key_value_heads=2, tie_word_embeddings=True
    ),
    "BertForMaskedLM": partial(bert, text),
    "BertForMaskedLM with padding": partial(bert, told_of_padding, padding=PADDING),
    "T5ForConditionalGeneration": t5,
}
