"""The models that faults are planted in, small and untrained, and a batch for each."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

PADDING = 0
TRANSLATORS = "chapters.translating_with_attention.models"


@dataclass(frozen=True)
class Family:
    """`model = family.build()` is called as `model(*family.batch())`.

    Modules are imported when a model is built: they may have been changed.
    """

    build: Callable[[], nn.Module]
    batch: Callable[[], tuple[Tensor, ...]]
    padding: int | None = None
    kind: str = "writes"

    @property
    def options(self) -> dict[str, Any]:
        """What is told of the model to whoever examines it."""
        return {"kind": self.kind, "padding": self.padding}


def drawn(words: int, rows: int, length: int, seed: int, least: int = 0) -> Tensor:
    """`drawn(29, 3, 10, seed=0)` are ids (3, 10) from 0 to 28."""
    return torch.randint(least, words, (rows, length), generator=torch.Generator().manual_seed(seed))


def padded(words: int, lengths: Tensor, seed: int) -> Tensor:
    """`padded(29, torch.tensor([4, 2]), seed=0)` are ids (2, 4), none of them 0 but for the padding."""
    ids = drawn(words, len(lengths), int(lengths.max()), seed, least=3)
    return ids.masked_fill(torch.arange(ids.shape[1]) >= lengths[:, None], PADDING)


def built(module: str, name: str, *sizes: int, **more: float) -> Callable[[], nn.Module]:
    """`built("attnlab.transformer", "GPT", 300, …)` builds one, of the module as it then is."""
    return lambda: getattr(import_module(module), name)(*sizes, **more)


def bahdanau() -> nn.Module:
    models, scores = import_module(TRANSLATORS), import_module("attnlab.scores")
    decoder = models.Bahdanau(len(models.LINGO_WORDS), 16, scores.Additive(16, 16, 16))
    return models.Translator(decoder, 16)


def luong() -> nn.Module:
    models, scores = import_module(TRANSLATORS), import_module("attnlab.scores")
    return models.Translator(models.Luong(len(models.LINGO_WORDS), 16, scores.General(16, 16)), 16)


SOURCE_LENGTHS, TARGET_LENGTHS = torch.tensor([8, 5, 3, 6]), torch.tensor([7, 4, 3, 5])


def for_translating(source_words: int, target_words: int) -> tuple[Tensor, Tensor, Tensor]:
    """Source (4, 8), lengths (4,), previous (4, 7), whose rows end at different places."""
    source = padded(source_words, SOURCE_LENGTHS, seed=1)
    previous = padded(target_words, TARGET_LENGTHS, seed=2)
    previous[:, 0] = 1  # <start>
    return source, SOURCE_LENGTHS.clone(), previous


WHOLE = "attnlab.transformer"
BLOCKS = {"d_model": 24, "layers": 3, "spread": 0.113}
FAMILIES = {
    "LanguageModel": Family(
        built(WHOLE, "LanguageModel", 29, d_model=32, heads=4, hidden=64, layers=3, dropout=0.1),
        lambda: (drawn(29, 3, 10, seed=3),),
    ),
    # More words than a byte can count. The spread is the book's: 0.02 is for vectors of 768 numbers.
    "GPT": Family(
        built(WHOLE, "GPT", 300, heads=3, context=40, dropout=0.1, **BLOCKS),
        lambda: (drawn(300, 4, 12, seed=4),),
    ),
    "Today": Family(
        built("attnlab.today.model", "Today", 29, heads=4, groups=2, hidden=48, longest=64, **BLOCKS),
        lambda: (drawn(29, 3, 11, seed=5),),
    ),
    "Transformer": Family(
        built(WHOLE, "Transformer", 23, 27, d_model=32, heads=4, hidden=64, layers=2, dropout=0.1),
        lambda: for_translating(23, 27),
        PADDING,
    ),
    "Bahdanau": Family(bahdanau, lambda: for_translating(66, 115), PADDING),
    "Luong": Family(luong, lambda: for_translating(66, 115), PADDING),
}
