"""The translators: an encoder that reads English, and decoders that write Lingo with and without attention.

Training one takes longer than the chapter may, so `make models` does it and stores the weights.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from attnlab import masks, scores
from attnlab.attention import Score, masked_softmax
from attnlab.corpora import grammar
from attnlab.corpora.grammar_check import English, Lingo
from attnlab.runtime import generator
from attnlab.shapes import Lengths, Mask, Weights
from attnlab.training.history import History
from attnlab.training.loop import train

PADDING, START, END = range(3)
UNWRITTEN = (PADDING, START)  # a model reads them, and writes neither
MARKS = ["<padding>", "<start>", "<end>"]
ENGLISH_WORDS = [*MARKS, *English.forms]
LINGO_WORDS = [*MARKS, *Lingo.forms]
WIDTH = 96
LONGEST = 60  # words, after which a translation that does not end is cut


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

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.gru = nn.GRU(width, width // 2, batch_first=True, bidirectional=True)

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

    def __init__(self, decoder: nn.Module, width: int = WIDTH) -> None:
        super().__init__()
        self.encoder = Encoder(len(ENGLISH_WORDS), width)
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
def greedy(
    translator: Translator, source: Tensor, lengths: Lengths, weights: Weights | None = None
) -> tuple[Tensor, Weights | None]:
    """`words, weights = greedy(translator, source, lengths)` takes the likeliest word at each step, (B, T).

    Every row goes on behind its <end>, until all have come to theirs. Given weights, (B, T, S), are looked
    with in place of the decoder's own, and T is then theirs.
    """
    translator.eval()
    memory = translator.encoder(source, lengths)
    state = memory.last
    word = torch.full((len(source), 1), START, device=source.device)
    ended = torch.zeros_like(word, dtype=torch.bool)
    words, used = [], []
    for step in range(LONGEST if weights is None else weights.shape[1]):
        given = None if weights is None else weights[:, step : step + 1]
        logits, state, looked = translator.decoder(word, state, memory, given)
        word = logits.argmax(-1)  # (B, 1)
        words.append(word)
        used.append(looked)
        ended |= word == END
        if weights is None and ended.all():
            break
    return torch.cat(words, 1), None if used[0] is None else torch.cat(used, 1)


def exactly_right(words: Tensor, targets: Tensor) -> Tensor:
    """`exactly_right(words, targets)` is whether each row is its target, up to <end>: (B,) booleans."""
    length = targets.shape[1]
    words = F.pad(words, (0, max(0, length - words.shape[1])))[:, :length]
    return ((words == targets) | (targets == PADDING)).all(-1)


# ---- recipes ----


@cache
def training_pairs() -> list[grammar.Pair]:
    """`training_pairs()` are the 4000 that every translator learns from."""
    return grammar.pairs(4000, generator(0))


def unseen_pairs(count: int = 1000) -> list[grammar.Pair]:
    """`unseen_pairs(200)` are sentences to measure with: none is among those learned from."""
    seen = {pair.english for pair in training_pairs()}
    drawn = grammar.pairs(2 * count, generator(1))
    return [pair for pair in drawn if pair.english not in seen][:count]


class ByLength:
    """`ByLength(learned, 64, generator(0))` yields batches of about one length, each time in a new order.

    They hold hardly any padding: batches drawn from all lengths take twice the time.
    """

    def __init__(self, learned: Sentences, batch_size: int, source: torch.Generator) -> None:
        self.source = source
        self.batches = []
        for rows in torch.split(learned.lengths.argsort(stable=True), batch_size):
            words = learned.lengths[rows].max()
            written = (learned.targets[rows] != PADDING).any(0).sum()
            self.batches.append(
                (
                    learned.source[rows, :words],
                    learned.lengths[rows],
                    learned.previous[rows, :written],
                    learned.targets[rows, :written],
                )
            )

    def __len__(self) -> int:
        """`len(batches)` is how many there are."""
        return len(self.batches)

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        """`for source, lengths, previous, targets in batches:` reads each once."""
        for place in torch.randperm(len(self), generator=self.source).tolist():
            yield self.batches[place]


DECODERS: dict[str, Callable[[int], nn.Module]] = {
    "last-state": lambda words: LastState(words, WIDTH),
    "additive": lambda words: Bahdanau(words, WIDTH, scores.Additive(WIDTH, WIDTH, WIDTH)),
    "dot": lambda words: Luong(words, WIDTH, scores.dot),
    "general": lambda words: Luong(words, WIDTH, scores.General(WIDTH, WIDTH)),
    "concat": lambda words: Luong(words, WIDTH, scores.Concat(WIDTH, WIDTH, WIDTH)),
}


def translator(name: str) -> Translator:
    """`translator("additive")` is not trained yet: load its weights, or train it."""
    return Translator(DECODERS[name](len(LINGO_WORDS)))


def train_by_the_recipe(model: Translator, seed: int, pairs: list[grammar.Pair], epochs: int) -> History:
    """`history = train_by_the_recipe(model, 0, training_pairs(), epochs=8)` is how each translator learns."""
    batches = ByLength(sentences(pairs), 64, generator(seed))
    optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
    # In a straight line down to nothing: the last steps settle what the first ones found.
    updates = epochs * len(batches)
    falling = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda update: max(0, 1 - update / updates))
    optimizer.register_step_post_hook(lambda *_: falling.step())
    return train(model, batches, word_loss, optimizer, epochs=epochs)


def trained(name: str, seed: int, pairs: list[grammar.Pair], epochs: int) -> tuple[Translator, History]:
    """`model, history = trained("dot", 0, training_pairs(), epochs=8)` is what the recipe of "dot" does."""
    torch.manual_seed(seed)
    model = translator(name)
    return model, train_by_the_recipe(model, seed, pairs, epochs)


def recipe(name: str) -> Callable[[int], tuple[Translator, History]]:
    """`recipe("dot")(0)` is the trained translator of seed 0, and how it came to it."""
    return lambda seed: trained(name, seed, training_pairs(), epochs=8)


# What `make models` trains.
RECIPES = {name: recipe(name) for name in DECODERS}
