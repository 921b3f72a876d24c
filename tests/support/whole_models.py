"""A language model as a reader writes it, whose methods can be exchanged."""

import math

import torch
from torch import nn
from torch.nn import functional as F


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


def norm(normal):
    return normed(type("MyNorm", (MyNorm,), {"normal": lambda self, x: normal(x)}))
