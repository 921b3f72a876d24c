"""The translators: an encoder that reads English, and decoders that write Lingo with and without attention.

Training one takes longer than the chapter may, so `make models` does it and stores the weights.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from attnlab import grammar, masks, scores
from attnlab.attention import Score, masked_softmax
from attnlab.batches import Batches
from attnlab.grammar_check import English, Lingo
from attnlab.history import History
from attnlab.runtime import generator
from attnlab.shapes import Lengths, Mask, Weights
from attnlab.training import train

PADDING, START, END = range(3)
MARKS = ["<padding>", "<start>", "<end>"]
ENGLISH_WORDS = [*MARKS, *English.forms]
LINGO_WORDS = [*MARKS, *Lingo.forms]
WIDTH = 96
LONGEST = 60  # words, and no sentence of the grammar has more


class Sentences(NamedTuple):
    """`sentences(pairs)` holds them as numbers, with gold weights: each word's, spread over what it says."""

    source: Tensor  # (N, S) English words, then <end>
    lengths: Lengths  # (N,) with that <end>
    previous: Tensor  # (N, T) <start>, then Lingo words
    targets: Tensor  # (N, T) Lingo words, then <end>
    gold: Weights  # (N, T, S)


def sentences(pairs: list[grammar.Pair]) -> Sentences:
    """`sentences(grammar.pairs(4000, generator(0)))` has 4000 rows in each of its tensors."""
    english = {word: number for number, word in enumerate(ENGLISH_WORDS)}
    lingo = {word: number for number, word in enumerate(LINGO_WORDS)}
    source = [torch.tensor([*map(english.__getitem__, pair.english), END]) for pair in pairs]
    written = [torch.tensor([START, *map(lingo.__getitem__, pair.lingo), END]) for pair in pairs]
    pad = partial(pad_sequence, batch_first=True, padding_value=PADDING)
    targets = pad([row[1:] for row in written])
    gold = torch.zeros(len(pairs), targets.shape[1], max(map(len, source)))
    for weights, pair in zip(gold, pairs, strict=True):
        for i, j in (*pair.alignment, (len(pair.english), len(pair.lingo))):
            weights[j, i] = 1
    gold /= gold.sum(-1, keepdim=True).clamp(min=1)
    lengths = torch.tensor([len(row) for row in source])
    return Sentences(pad(source), lengths, pad([row[:-1] for row in written]), targets, gold)


class Memory(NamedTuple):
    """`memory = encoder(source, lengths)` is what decoders read."""

    states: Tensor  # (B, S, width)
    mask: Mask  # (B, 1, S)
    last: Tensor  # (B, width)


class Encoder(nn.Module):
    """`Encoder(words=85, width=96)(source, lengths)` reads (B, S) word numbers from both ends at once."""

    def __init__(self, words: int, width: int, bidirectional: bool = True) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        half = width // 2 if bidirectional else width
        self.gru = nn.GRU(width, half, batch_first=True, bidirectional=bidirectional)

    def forward(self, source: Tensor, lengths: Lengths) -> Memory:
        """`encoder(source, lengths)` is a `Memory`."""
        embedded = self.embedding(source[:, : lengths.max()])  # (B, S, width)
        packed = pack_padded_sequence(embedded, lengths.cpu(), batch_first=True, enforce_sorted=False)
        outputs, last = self.gru(packed)
        states, _ = pad_packed_sequence(outputs, batch_first=True)  # (B, S, width)
        return Memory(states, masks.padding(lengths), last.transpose(0, 1).flatten(1))


class LastState(nn.Module):
    """`LastState(words=148, width=96)` is Cho's decoder: it reads the encoder's last state at each step."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.gru = nn.GRU(2 * width, width, batch_first=True)
        self.combine = nn.Linear(2 * width, width)
        self.word = nn.Linear(width, words)

    def forward(
        self, previous: Tensor, state: Tensor, memory: Memory, weights: Weights | None = None
    ) -> tuple[Tensor, Tensor, Weights | None]:
        """`decoder(previous, state, memory)` is logits (B, T, words), the next state, and no weights."""
        last = memory.last[:, None].expand(-1, previous.shape[1], -1)  # (B, T, width)
        states, state = self.gru(torch.cat([self.embedding(previous), last], -1), state[None])
        return self.word(self.combine(torch.cat([states, last], -1)).tanh()), state[0], None


class Bahdanau(nn.Module):
    """`Bahdanau(words=148, width=96, score=…)` looks with its state before a step, s_{t-1}, then takes it."""

    def __init__(self, words: int, width: int, score: Score) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.score = score
        self.gru = nn.GRUCell(2 * width, width)
        self.combine = nn.Linear(2 * width, width)
        self.word = nn.Linear(width, words)

    def forward(
        self, previous: Tensor, state: Tensor, memory: Memory, weights: Weights | None = None
    ) -> tuple[Tensor, Tensor, Weights | None]:
        """`decoder(previous, state, memory)` is logits (B, T, words), the next state, and (B, T, S) weights.

        Given weights take the place of its own.
        """
        steps, used = [], []
        for step, word in enumerate(self.embedding(previous).unbind(1)):  # (B, width)
            if weights is None:
                looking = masked_softmax(self.score(state[:, None], memory.states), memory.mask)  # (B, 1, S)
            else:
                looking = weights[:, step : step + 1]
            context = (looking @ memory.states)[:, 0]  # (B, width)
            state = self.gru(torch.cat([word, context], -1), state)
            steps.append(torch.cat([state, context], -1))
            used.append(looking)
        logits = self.word(self.combine(torch.stack(steps, 1)).tanh())
        return logits, state, torch.cat(used, 1)


class Luong(nn.Module):
    """`Luong(words=148, width=96, score=dot)` takes its step first, then looks with s_t."""

    def __init__(self, words: int, width: int, score: Score) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width, batch_first=True)
        self.score = score
        self.combine = nn.Linear(2 * width, width)
        self.word = nn.Linear(width, words)

    def forward(
        self, previous: Tensor, state: Tensor, memory: Memory, weights: Weights | None = None
    ) -> tuple[Tensor, Tensor, Weights | None]:
        """`decoder(previous, state, memory)` is as Bahdanau's; no look changes a state, so all can wait."""
        states, state = self.gru(self.embedding(previous), state[None])  # (B, T, width)
        if weights is None:
            weights = masked_softmax(self.score(states, memory.states), memory.mask)  # (B, T, S)
        context = weights @ memory.states  # (B, T, width)
        return self.word(self.combine(torch.cat([states, context], -1)).tanh()), state[0], weights


class Translator(nn.Module):
    """`Translator(decoder)(source, lengths, previous)` gives logits (B, T, words) for each next word."""

    def __init__(self, decoder: nn.Module, width: int = WIDTH, bidirectional: bool = True) -> None:
        super().__init__()
        self.encoder = Encoder(len(ENGLISH_WORDS), width, bidirectional)
        self.decoder = decoder

    def forward(self, source: Tensor, lengths: Lengths, previous: Tensor) -> Tensor:
        """`translator(source, lengths, previous)` is teacher forcing: the words before are the right ones."""
        memory = self.encoder(source, lengths)
        logits: Tensor = self.decoder(previous, memory.last, memory)[0]
        return logits


def word_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """`word_loss(logits, targets)` is the mean over all words; padding does not count."""
    return F.cross_entropy(logits.transpose(1, 2), targets, ignore_index=PADDING)


@torch.no_grad()
def greedy(translator: Translator, source: Tensor, lengths: Lengths, weights: Weights | None = None):
    memory = translator.encoder(source, lengths)
    state, word = memory.last, torch.full((len(source), 1), START)
    words, used = [], []
    for step in range(LONGEST if weights is None else weights.shape[1]):
        given = None if weights is None else weights[:, step : step + 1]
        logits, state, looked = translator.decoder(word, state, memory, given)
        word = logits.argmax(-1)
        words.append(word)
        used.append(looked)
        if weights is None and (torch.cat(words, 1) == END).any(1).all():
            break
    return torch.cat(words, 1), None if used[0] is None else torch.cat(used, 1)
