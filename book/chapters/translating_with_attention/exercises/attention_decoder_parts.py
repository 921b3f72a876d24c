"""What `check_attention_decoder` asks with, in parts that can be mistaken."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.shapes import Mask, Scores
from bookkit.checking.mistakes import Part
from chapters.translating_with_attention.exercises.padding import _hidden

_WORDS, _WIDTH = 7, 4


# What it must be made of, and of which sizes.
_MADE_OF: dict[str, Callable[[], nn.Module]] = {
    "embedding": lambda: nn.Embedding(_WORDS, _WIDTH),
    "W": lambda: nn.Linear(_WIDTH, _WIDTH, bias=False),
    "U": lambda: nn.Linear(_WIDTH, _WIDTH, bias=False),
    "v": lambda: nn.Linear(_WIDTH, 1, bias=False),
    "gru": lambda: nn.GRUCell(2 * _WIDTH, _WIDTH),
    "word": lambda: nn.Linear(2 * _WIDTH, _WORDS),
}


def _added(decoder: Any, asks: Tensor, memory: Tensor) -> Scores:
    scores: Tensor = decoder.v((decoder.W(asks)[:, None] + decoder.keys(memory)).tanh())  # (B, S, 1)
    return scores.mT  # (B, 1, S)


def _beside(*parts: Tensor) -> Tensor:
    return torch.cat(parts, dim=-1)


class _Decoder(nn.Module):
    """The whole decoder in parts, each of which can be mistaken."""

    def __init__(
        self,
        words: int,
        width: int,
        *,
        score: Part = _added,
        weigh: Part = _hidden,
        mix: Part = lambda decoder, weights, memory: (weights @ memory)[:, 0],
        ask: Part = lambda decoder, state, first, word: state,
        feed: Part = lambda decoder, word, context, before: _beside(word, context),
        step: Part = lambda decoder, fed, state, first: decoder.gru(fed, state),
        late: bool = False,
        read: Part = lambda state, context, word, before: _beside(state, context),
        follow: Part = lambda decoder, logits, word: word,
        answer: Part = lambda logits, weights: (logits, weights),
    ) -> None:
        super().__init__()
        for name, make in _MADE_OF.items():
            self.add_module(name, make())
        self.parts = score, weigh, mix, ask, feed, step, read, follow, answer
        self.late = late
        self.made: Any = None

    def keys(self, memory: Tensor) -> Tensor:
        """`decoder.keys(memory)` is U's product, which no step changes: made once."""
        if self.made is None:
            self.made = self.U(memory)  # type: ignore[operator]
        made: Tensor = self.made
        return made

    def forward(self, previous: Tensor, state: Tensor, memory: Tensor, mask: Mask) -> Any:
        self.made = None
        score, weigh, mix, ask, feed, step, read, follow, answer = self.parts

        def look(asks: Tensor) -> tuple[Tensor, Tensor]:
            weights = weigh(score(self, asks, memory), mask)  # (B, 1, S)
            return weights, mix(self, weights, memory)

        logits: list[Tensor] = []
        looked: list[Tensor] = []
        first = state
        context = torch.zeros_like(state)
        for given in self.embedding(previous).unbind(1):  # type: ignore[operator]
            word = follow(self, logits, given)  # (B, width)
            before = state
            if self.late:
                state = step(self, feed(self, word, context, before), state, first)
                weights, context = look(state)
            else:
                weights, context = look(ask(self, state, first, word))
                state = step(self, feed(self, word, context, before), state, first)
            logits.append(self.word(read(state, context, word, before)))  # type: ignore[operator]
            looked.append(weights)
        return answer(torch.stack(logits, 1), torch.cat(looked, 1))
