"""What this chapter trains: a Transformer that translates, and two language models of equal size.

Training takes longer than the chapter may, so `make models` does it and stores the weights.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from attnlab import masks
from attnlab.corpora import agreement
from attnlab.decoding import writable
from attnlab.runtime import generator
from attnlab.shapes import Lengths
from attnlab.training.batches import Batches
from attnlab.training.history import History
from attnlab.training.loop import train
from attnlab.transformer import LanguageModel, Transformer
from chapters.translating_with_attention.models import (
    END,
    ENGLISH_WORDS,
    LINGO_WORDS,
    LONGEST,
    PADDING,
    START,
    UNWRITTEN,
    ByLength,
    sentences,
    training_pairs,
    word_loss,
)

# ---- translating ----


def translator(dropout: float = 0.0) -> Transformer:
    """`translator()` is not trained yet. It has about as many weights as the recurrent ones."""
    words = len(ENGLISH_WORDS), len(LINGO_WORDS)
    return Transformer(*words, d_model=64, heads=4, hidden=128, layers=2, dropout=dropout)


@torch.no_grad()
def greedy(model: Transformer, source: Tensor, lengths: Lengths) -> Tensor:
    """`greedy(model, source, lengths)` takes the likeliest word at each step, (B, T)."""
    model.eval()
    mask = masks.padding(lengths, source.shape[1])
    memory = model.encode(source, mask)
    words = torch.full((len(source), 1), START, device=source.device)
    for _ in range(LONGEST):
        logits = model.decode(words, memory, mask)[:, -1:]
        next_words = writable(logits, UNWRITTEN).argmax(-1)  # (B, 1)
        words = torch.cat([words, next_words], dim=1)
        if (words == END).any(1).all():
            break
    return words[:, 1:]


def warm_up_and_fall(optimizer: torch.optim.Optimizer, updates: int, warm_up: int) -> None:
    """`warm_up_and_fall(optimizer, 1000, 100)`: the learning rate climbs for 100 updates, then falls to 0."""
    rate = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda update: min((update + 1) / warm_up, max(0, updates - update) / (updates - warm_up))
    )
    optimizer.register_step_post_hook(lambda *_: rate.step())


def trained_translator(
    seed: int,
    epochs: int = 24,
    rate: float = 4e-3,
    warm_up: int = 100,
    loss: Callable[[Tensor, Tensor], Tensor] = word_loss,
    dropout: float = 0.0,
) -> tuple[Transformer, History]:
    """`model, history = trained_translator(seed=0)` learns from what the recurrent ones read.

    Batches are half as large as theirs: the updates are then twice as many, and it gains more from these.
    """
    torch.manual_seed(seed)
    model = translator(dropout)
    batches = ByLength(sentences(training_pairs()), 32, generator(seed))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate)
    warm_up_and_fall(optimizer, epochs * len(batches), warm_up)
    return model, train(model, batches, loss, optimizer, epochs=epochs)


# ---- going on with a text ----

WORDS = ["<padding>", agreement.START, *agreement.WORDS]


class Texts(NamedTuple):
    """`texts(sentences)` holds them as numbers: what a model is given, and the word after each."""

    previous: Tensor  # (N, T) <start>, then words
    targets: Tensor  # (N, T) the words, then the full stop


def texts(written: list[list[str]]) -> Texts:
    """`texts(agreement.sentences(20000, generator(0)))` has 20000 rows in both of its tensors."""
    number = {word: place for place, word in enumerate(WORDS)}
    rows = [torch.tensor([START, *map(number.__getitem__, sentence)]) for sentence in written]
    pad = partial(pad_sequence, batch_first=True, padding_value=PADDING)
    return Texts(pad([row[:-1] for row in rows]), pad([row[1:] for row in rows]))


def sentence(row: list[int]) -> list[str]:
    """`sentence([3, 7, 9])` are the words of these numbers, up to the full stop if there is one."""
    words = [WORDS[number] for number in row]
    return words[: words.index(agreement.END) + 1] if agreement.END in words else words


def mean_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """`mean_loss(logits, targets)` is `word_loss`, in a form that repeats on a GPU as well."""
    return nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=PADDING)


class Recurrent(nn.Module):
    """`Recurrent(37, width=..)(previous)` gives logits as `LanguageModel` does, and reads with an LSTM."""

    def __init__(self, words: int, width: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.word = nn.Linear(width, words)

    def forward(self, previous: Tensor) -> Tensor:
        """`model(previous)` are logits (B, T, words)."""
        logits: Tensor = self.word(self.lstm(self.embedding(previous))[0])
        return logits


LANGUAGE_MODELS: dict[str, Callable[[], nn.Module]] = {
    "language-model": lambda: LanguageModel(len(WORDS), d_model=64, heads=4, hidden=256, layers=2),
    "recurrent-language-model": lambda: Recurrent(len(WORDS), width=112),
}
SENTENCES = 20000
RATES = {"language-model": 5e-3, "recurrent-language-model": 6e-3}


def trained_language_model(
    name: str, seed: int, epochs: int = 3, rate: float | None = None
) -> tuple[nn.Module, History]:
    """`model, history = trained_language_model("language-model", seed=0)` reads 20000 sentences so often."""
    torch.manual_seed(seed)
    model = LANGUAGE_MODELS[name]()
    learned = texts(agreement.sentences(SENTENCES, generator(0)))
    batches = Batches(*learned, batch_size=64, shuffle=generator(seed))
    optimizer = torch.optim.Adam(model.parameters(), lr=rate or RATES[name])
    warm_up_and_fall(optimizer, epochs * len(batches), warm_up=100)
    return model, train(model, batches, word_loss, optimizer, epochs=epochs)


# What `make models` trains.
RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {
    "translator": trained_translator,
    **{name: partial(trained_language_model, name) for name in LANGUAGE_MODELS},
}
