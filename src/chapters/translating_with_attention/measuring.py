"""Where translators look, whose weights they are given, and what a search finds."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.corpora.grammar_check import English, Lingo
from chapters.translating_with_attention import models
from chapters.translating_with_attention.models import Memory, Sentences, Translator

Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
Search = Callable[[Step, Tensor, int], tuple[Tensor, Tensor]]


def share_looking(weights: Tensor, test: Sentences, written: str, looked_at: str) -> float:
    """`share_looking(weights, test, "determiner", "noun")` is how many articles look at a noun most."""
    lingo = [Lingo.forms[word][0] if word in Lingo.forms else "" for word in models.LINGO_WORDS]
    english = [English.forms[word][0] if word in English.forms else "" for word in models.ENGLISH_WORDS]
    target = torch.tensor([kind == written for kind in lingo])
    source = torch.tensor([kind == looked_at for kind in english])
    strongest = weights.argmax(-1).cpu()  # (N, T)
    seen = source[test.source.cpu().gather(1, strongest)]
    return seen[target[test.targets.cpu()]].float().mean().item()


def even(test: Sentences) -> Tensor:
    """`even(test)` are weights that are the same for all words of a sentence: (N, T, S)."""
    weights = (test.source != models.PADDING) / test.lengths[:, None]  # (N, S)
    return weights[:, None].expand_as(test.gold)


def of_anothers(weights: Tensor, test: Sentences) -> Tensor:
    """`of_anothers(weights, test)` gives each sentence those of the next by length, on its words."""
    written = ((test.targets != models.PADDING) & (test.targets != models.END)).sum(1)
    by_length = sorted(range(len(written)), key=lambda i: (test.lengths[i].item(), written[i].item()))
    order = torch.tensor(by_length)
    neighbour = torch.empty_like(order)
    neighbour[order] = order.roll(1)
    borrowed = weights[neighbour.to(weights.device)] * (test.source != models.PADDING)[:, None]
    return borrowed / borrowed.sum(-1, keepdim=True).clamp(min=1e-9)


@torch.no_grad()
def searched(beam: Search, model: Translator, test: Sentences, row: int, width: int) -> tuple[Tensor, Tensor]:
    """`searched(beam, model, test, row=0, width=8)` is a sentence's translation, and its log-probability."""
    length = test.lengths[row : row + 1]
    memory = model.encoder(test.source[row : row + 1, : int(length)], length)

    def step(words: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        each = Memory(*(part.expand(len(words), *part.shape[1:]) for part in memory))
        logits, state, _ = model.decoder(words[:, None], state, each)
        return logits[:, 0].log_softmax(-1), state

    words, total = beam(step, memory.last, width)
    return words[1:], total


@torch.no_grad()
def log_probabilities(model: Translator, test: Sentences, words: Tensor) -> Tensor:
    """`log_probabilities(model, test, words)`, (N,), of translations (N, T) of the first N sentences.

    Each counts up to its <end>.
    """
    previous = F.pad(words[:, :-1], (1, 0), value=models.START)
    logits = model(test.source[: len(words)], test.lengths[: len(words)], previous)
    each = logits.log_softmax(-1).gather(-1, words[..., None])[..., 0]  # (N, T)
    ends = words == models.END
    before_end: Tensor = each.masked_fill(ends.cumsum(1) > ends.int(), 0)
    return before_end.sum(1)
