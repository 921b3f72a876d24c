"""Counting what follows what, verbs that agree, one neuron's light, and multiplications."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from attnlab.corpora import agreement
from chapters.the_transformer import models

Sentence = Sequence[str]
Row = tuple[str, ...]
VERBS = [*(f"{verb}s" for verb in agreement.VERBS), *agreement.VERBS]  # of one, then of several
ADDITIONS = {"that", *agreement.PREPOSITIONS}  # what begins one
NEXT = "a verb only", "a verb or an addition", "neither"


class Counts:
    """`Counts(sentences).chance("see", ["the", "dogs"], n=3)` looks up what stood behind two words."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.followers: dict[Row, Counter[str]] = defaultdict(Counter)  # what stood behind a row of words
        self.distinct: dict[Row, Counter[str]] = defaultdict(Counter)  # behind how many different words
        for sentence in sentences:
            text = (agreement.START, *sentence)
            for place in range(1, len(text)):
                for length in range(min(6, place + 1)):
                    row, word = text[place - length : place], text[place]
                    if length and not self.followers[row][word]:
                        self.distinct[row[1:]][word] += 1
                    self.followers[row][word] += 1

    def chance(self, word: str, before: Sentence, n: int, discount: float = 0.9) -> float:
        """`counts.chance("see", ["the", "dogs"], n=3)` is how likely it is there, by rows of up to three."""
        text = (agreement.START, *before)
        p, longest = 1 / len(agreement.WORDS), min(n - 1, len(text))
        for length in range(longest + 1):
            row = text[len(text) - length :]
            seen = (self.followers if length == longest else self.distinct)[row]
            if seen:
                kept = max(seen[word] - discount, 0) + discount * len(seen) * p
                p = kept / seen.total()
        return p

    def nats(self, sentences: Sequence[Sentence], n: int) -> float:
        """`counts.nats(unread, n=5)` is its loss: nats a word."""
        logs = [
            math.log(self.chance(word, sentence[:place], n))
            for sentence in sentences
            for place, word in enumerate(sentence)
        ]
        return -sum(logs) / len(logs)


class Verbs:
    """`Verbs(unread).right_number(odds)` is how often the verb's number is the likelier one, by distance."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        places = [agreement.verb_and_subject(sentence) for sentence in sentences]
        self.before = [sentence[:verb] for sentence, (verb, _) in zip(sentences, places, strict=True)]
        self.at = [verb for verb, _ in places]
        self.apart = torch.tensor([verb - subject for verb, subject in places])
        found = [sentence[verb] for sentence, verb in zip(sentences, self.at, strict=True)]
        self.plural = torch.tensor([verb in agreement.VERBS for verb in found])

    def counted(self, counts: Counts, n: int) -> Tensor:
        """`verbs.counted(counts, n=5)`, (sentences, verbs), by an n-gram."""
        return torch.tensor([[counts.chance(verb, before, n) for verb in VERBS] for before in self.before])

    def said(self, logits: Tensor) -> Tensor:
        """`verbs.said(logits)`, (sentences, verbs), by a network's logits (sentences, T, words)."""
        columns = [models.WORDS.index(verb) for verb in VERBS]
        return logits.softmax(-1)[range(len(self.at)), self.at][:, columns]

    def right_number(self, odds: Tensor) -> list[float]:
        """`verbs.right_number(odds)`: 1, 2 to 5, and more words from the subject."""
        singular, several = odds.view(len(odds), 2, -1).sum(-1).unbind(1)
        right = ((several > singular) == self.plural).float()
        ranges = ((1, 1), (2, 5), (6, 99))
        return [right[(self.apart >= a) & (self.apart <= b)].mean().item() for a, b in ranges]


def may_come(sentences: Sequence[Sentence]) -> dict[str, list[tuple[int, int]]]:
    """`may_come(unread)["a verb only"]` are the places, (row, place), at which the grammar wants a verb."""
    places: dict[str, list[tuple[int, int]]] = {name: [] for name in NEXT}
    for row, sentence in enumerate(sentences):
        for place, state in enumerate(agreement.read(sentence)):
            words = {*agreement.following(state)}
            verb, addition = words & {*VERBS}, words & ADDITIONS
            places[NEXT[0 if verb and not addition else 1 if addition else 2]].append((row, place))
    return places


def lights_and_chances(model: Any, neuron: int, words: Tensor, switched_off: bool) -> tuple[Tensor, Tensor]:
    """`lights_and_chances(model, 231, words, switched_off=False)` of a neuron of layer 2 and the next words.

    (B, T) how much it lights at each word, and (B, T, words) how likely each word is to come next.
    """
    lights = []

    def hook(module: nn.Module, inputs: Any, widened: Tensor) -> Tensor | None:
        lights.append(widened[..., neuron].relu().cpu())
        only = torch.tensor([neuron], device=widened.device)
        return widened.index_fill(-1, only, 0.0) if switched_off else None

    handle = model.layers[1].feed_forward.widen.register_forward_hook(hook)
    with torch.no_grad():
        chances = model(words).softmax(-1).cpu()
    handle.remove()
    return lights[0], chances


def millions(model: Callable[..., Tensor], words: Tensor, caches: Any = None) -> float:
    """`millions(model, words)` are the multiplications that it does for these words."""
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), counter:
        model(words, caches)
    return counter.get_total_flops() / 2e6  # it counts additions, too
