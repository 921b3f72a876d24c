"""Right answers to the exercises, in other words than the book's: each must be accepted."""

import math

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.attention import attend
from attnlab.corpora import agreement
from attnlab.layers import EncoderLayer, LayerNorm, ScaledEmbedding
from attnlab.masks import causal
from attnlab.positions import SinusoidalPositions, sinusoidal
from chapters.the_transformer.exercises import (
    check_assembled_layer,
    check_cached_step,
    check_language_model,
    check_near_the_limit,
    check_next_words,
    check_repaired_model,
)
from chapters.the_transformer.exercises.near_the_limit_parts import _spoken_of
from chapters.the_transformer.exercises.next_words import _chances

# --- shared ---


results = check_near_the_limit.reference


class Mended(nn.Module):
    """Each fault is a method, for the others to change."""

    def __init__(self, words):
        super().__init__()
        self.embedding, self.positions = ScaledEmbedding(words, 32), SinusoidalPositions(32)
        self.layers = self.hold(EncoderLayer(32, heads=4, hidden=64, norm_first=True) for _ in range(2))
        self.norm = LayerNorm(32)
        self.word = nn.Parameter(torch.randn(32, words) / self.loudness())

    def hold(self, layers):
        return nn.ModuleList(layers)

    def loudness(self):
        return math.sqrt(32)

    def mask(self, length):
        return causal(length)

    def forward(self, words):
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x, self.mask(words.shape[1]))
        return self.norm(x) @ self.word


def mended(**methods):
    return type("Mended", (Mended,), methods)


def handed_in(**parts):
    """The reference's three results, with some of them others."""

    def my_results():
        made = dict(zip(("model", "excess", "samples"), results(), strict=True)) | parts
        return made["model"], made["excess"], made["samples"]

    return my_results


# --- assembled_layer ---


def layer_in_steps(x, mask, attention, feed_forward, norm_1, norm_2):
    normal = norm_1(x)
    x = torch.add(x, attention(normal, normal, normal, mask)[0])
    return feed_forward(norm_2(x)) + x


# --- language_model ---


class MyBlock(nn.Module):
    """Each step is a method, for the mistakes to change."""

    def __init__(self, d_model, heads, hidden):
        super().__init__()
        self.heads, self.d_k = heads, d_model // heads
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.norm_1, self.norm_2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.widen, self.narrow = nn.Linear(d_model, hidden), nn.Linear(hidden, d_model)

    def forward(self, x):
        x = x + self.attention(self.norm_1(x))
        return x + self.feed(self.norm_2(x))

    def attention(self, x):
        q, k, v = (self.cut(W(x)) for W in (self.W_Q, self.W_K, self.W_V))
        found = self.weigh(q @ k.transpose(-1, -2) / self.divisor()) @ v
        return self.W_O(self.glue(found))

    def cut(self, x):
        return x.view(*x.shape[:2], self.heads, self.d_k).transpose(1, 2)

    def divisor(self):
        return math.sqrt(self.d_k)

    def weigh(self, scores):
        later = torch.ones(scores.shape[-2:]).triu(1) == 1
        return scores.masked_fill(later, -math.inf).softmax(-1)

    def glue(self, x):
        return x.transpose(1, 2).reshape(len(x), -1, self.heads * self.d_k)

    def feed(self, x):
        return self.narrow(F.relu(self.widen(x)))


class MyModel(nn.Module):
    Block = MyBlock

    def __init__(self, words, d_model, heads, hidden, layers):
        super().__init__()
        self.d_model = d_model
        self.embedding = nn.Embedding(words, d_model)
        self.layers = nn.ModuleList([self.Block(d_model, heads, hidden) for _ in range(layers)])
        self.norm = nn.LayerNorm(d_model)
        self.word = nn.Linear(d_model, words)

    def forward(self, words):
        x = self.begin(words)
        for block in self.layers:
            x = block(x)
        return self.finish(x)

    def begin(self, words):
        return self.embedding(words) * math.sqrt(self.d_model) + self.table(words.shape[1])

    def table(self, length):
        table = torch.zeros(length, self.d_model)
        position = torch.arange(length).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, self.d_model, 2) * (-math.log(10000.0) / self.d_model))
        table[:, 0::2] = torch.sin(position * frequency)
        table[:, 1::2] = torch.cos(position * frequency)
        return table

    def finish(self, x):
        return self.word(self.norm(x))


def model(**methods):
    return type("MyModel", (MyModel,), methods)


def block(**methods):
    """The whole model, of blocks with other methods."""
    return model(Block=type("MyBlock", (MyBlock,), methods))


def normed(norm):
    """The whole model, with a class of its own for all its norms."""

    class Block(MyBlock):
        def __init__(self, d_model, heads, hidden):
            super().__init__(d_model, heads, hidden)
            self.norm_1, self.norm_2 = norm(d_model), norm(d_model)

    def made(self, *sizes):
        MyModel.__init__(self, *sizes)
        self.norm = norm(self.d_model)

    return model(Block=Block, __init__=made)


class MyNorm(nn.Module):
    def __init__(self, d_model):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(d_model)), nn.Parameter(torch.zeros(d_model))

    def forward(self, x):
        return self.normal(x) * self.weight + self.bias

    def normal(self, x):
        centred = x - x.mean(-1, keepdim=True)
        return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5)


class AttnlabParts(nn.Module):
    """Numbers in four matrices, and attention from the library."""

    def __init__(self, words, d_model, heads, hidden, layers):
        super().__init__()
        self.embedding, self.positions = ScaledEmbedding(words, d_model), SinusoidalPositions(d_model)
        self.layers = nn.ModuleList(MyBlockOfParts(d_model, heads, hidden) for _ in range(layers))
        self.norm, self.word = LayerNorm(d_model), nn.Linear(d_model, words)

    def forward(self, words):
        x = self.positions(self.embedding(words))
        for each in self.layers:
            x = each(x)
        return self.word(self.norm(x))


class MyBlockOfParts(MyBlock):
    def attention(self, x):
        q, k, v = (self.cut(W(x)) for W in (self.W_Q, self.W_K, self.W_V))
        return self.W_O(self.glue(attend(q, k, v, mask=causal(x.shape[1])[None])[0]))


class NestedBlock(nn.Module):
    """Attention and feed-forward network are modules of their own."""

    def __init__(self, d_model, heads, hidden):
        super().__init__()
        own = MyBlock(d_model, heads, hidden)
        self.attend, self.think = nn.ModuleDict(), nn.ModuleDict()
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            self.attend[name] = getattr(own, name)
        self.think["widen"], self.think["narrow"] = own.widen, own.narrow
        self.norm_1, self.norm_2, self.heads = own.norm_1, own.norm_2, heads

    def forward(self, x):
        normal, heads = self.norm_1(x), []
        d_k = x.shape[-1] // self.heads
        q, k, v = (self.attend[name](normal) for name in ("W_Q", "W_K", "W_V"))
        for head in range(self.heads):
            own = slice(head * d_k, (head + 1) * d_k)
            heads.append(
                F.scaled_dot_product_attention(q[..., own], k[..., own], v[..., own], is_causal=True)
            )
        x = x + self.attend["W_O"](torch.cat(heads, -1))
        return x + self.think["narrow"](self.think["widen"](self.norm_2(x)).clamp(min=0))


def with_buffer(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.register_buffer("rows", sinusoidal(100, self.d_model))


def frozen_table(self, *sizes):
    MyModel.__init__(self, *sizes)
    self.rows = nn.Parameter(sinusoidal(100, self.d_model), requires_grad=False)


# --- next_words ---


def gumbel(logits, temperature, source):
    """The largest of logits and noise is drawn by its chance."""
    logits = logits.masked_fill(torch.arange(logits.shape[1]) == 0, -math.inf)
    if not temperature:
        return logits.argmax(-1)
    noise = -torch.log(-torch.log(torch.rand(logits.shape, generator=source)))
    return (logits / temperature + noise).argmax(-1)


def by_cumulated_chances(logits, temperature, source):
    chances = _chances(logits, temperature)
    places = torch.rand(len(logits), 1, generator=source, dtype=chances.dtype)
    return torch.searchsorted(chances.cumsum(-1), places).squeeze(1)


def row_by_row(logits, temperature, source):
    drawn = []
    for row in logits[:, 1:]:
        if temperature == 0:
            drawn.append(int(row.argmax()) + 1)
        else:
            shifted = ((row - row.max()) / temperature).exp()
            drawn.append(int(torch.multinomial(shifted, 1, generator=source)) + 1)
    return torch.tensor(drawn)


# --- cached_step ---


def word_by_word(words, kept, table, w_q, w_k, w_v):
    """No mask is needed where each word is added before it looks."""
    outputs, (keys, values) = [], kept
    for word in words.unbind(1):
        x = (word + table[keys.shape[1]])[:, None]
        keys, values = torch.cat([keys, x @ w_k], 1), torch.cat([values, x @ w_v], 1)
        outputs.append((x @ w_q @ keys.mT / math.sqrt(x.shape[-1])).softmax(-1) @ values)
    return torch.cat(outputs, 1), [keys, values]


def fused_step(words, kept, table, w_q, w_k, w_v):
    before, n = kept[0].shape[1], words.shape[1]
    x = words + table[before : before + n]
    keys, values = torch.cat((kept[0], x @ w_k), 1), torch.cat((kept[1], x @ w_v), 1)
    return attend(x @ w_q, keys, values, mask=causal(n, before + n))[0], (keys, values)


# --- repaired_model ---


class OwnAttention(nn.Module):
    """A layer whose queries, keys and values have matrices of their own."""

    def __init__(self):
        super().__init__()
        self.W_Q, self.W_K, self.W_V, self.W_O = (nn.Linear(32, 32) for _ in range(4))
        self.norm_1, self.norm_2 = nn.LayerNorm(32), nn.LayerNorm(32)
        self.feed = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 32))

    def forward(self, x, mask):
        normal = self.norm_1(x)
        found = attend(self.W_Q(normal), self.W_K(normal), self.W_V(normal), mask=mask)[0]
        x = x + self.W_O(found)
        return x + self.feed(self.norm_2(x))


# --- near_the_limit ---


def over_all_words():
    """The excess over the exact entropy: measured on other sentences than the limit, which is as honest."""
    nats, words = agreement.expected()
    known, excess, samples = results()
    return known, excess + _spoken_of("fresh").limit - nats / words, samples


ACCEPTED = {
    check_assembled_layer: {"in steps": layer_in_steps},
    check_language_model: {
        "step by step": MyModel,
        "of attnlab's parts": AttnlabParts,
        "nested, head by head": model(Block=NestedBlock),
        "by hand": normed(MyNorm),
        "a frozen parameter": model(__init__=frozen_table, table=lambda self, length: self.rows[:length]),
        "a buffer": model(__init__=with_buffer, table=lambda self, length: self.rows[:length]),
        "-1e9": block(
            weigh=lambda self, scores: (scores + torch.full_like(scores, -1e9).triu(1)).softmax(-1)
        ),
        "dropout": model(
            finish=lambda self, x: self.word(F.dropout(self.norm(x), 0.5, training=self.training))
        ),
    },
    check_next_words: {
        "Gumbel": gumbel,
        "cumulated": by_cumulated_chances,
        "row by row": row_by_row,
    },
    check_cached_step: {"word by word": word_by_word, "fused": fused_step},
    check_repaired_model: {
        "attention of one's own": mended(
            hold=lambda self, layers: nn.ModuleList([OwnAttention(), OwnAttention()])
        ),
        "Sequential": mended(hold=lambda self, layers: nn.Sequential(*layers)),
        "mended": Mended,
        "embedding as output": mended(
            forward=lambda self, words: Mended.forward(self, words) + 0 * self.embedding.weight.sum()
        ),
        "quiet start": mended(loudness=lambda self: 100),
        "a start at 0": mended(loudness=lambda self: math.inf),
        "dropout": mended(
            hold=lambda self, layers: nn.ModuleList(
                EncoderLayer(32, heads=4, hidden=64, dropout=0.1, norm_first=True) for _ in layers
            )
        ),
    },
    check_near_the_limit: {
        "a list": lambda: list(results()),
        "as text": handed_in(samples=[" ".join(words) for words in results()[2]]),
        "a tensor": handed_in(excess=torch.tensor(results()[1])),
        "the exact limit": over_all_words,
        "as one writes": handed_in(
            samples=[" ".join(words).capitalize().replace(" .", ".") for words in results()[2]]
        ),
    },
}
