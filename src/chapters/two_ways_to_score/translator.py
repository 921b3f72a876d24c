"""The kind of model that additive attention was made for."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

WORDS, WIDTH = 1000, 96


class Translator(nn.Module):
    """`Translator(scores.dot)`: a GRU reads, a GRU writes, and asks before each step, as Bahdanau's."""

    def __init__(
        self,
        score: Callable[[Tensor, Tensor], Tensor],
        project: Callable[[], nn.Module] = nn.Identity,
        words: int = WORDS,
    ) -> None:
        super().__init__()
        self.embed = nn.Embedding(words, WIDTH)
        self.encoder = nn.GRU(WIDTH, WIDTH, batch_first=True)
        self.cell = nn.GRUCell(2 * WIDTH, WIDTH)
        self.output = nn.Linear(2 * WIDTH, words)
        self.score, self.project = score, project()

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """`Translator(scores.dot)(source, target)` scores all words at each place that is written."""
        memory, last = self.encoder(self.embed(source))  # (B, m, WIDTH), (1, B, WIDTH)
        keys, state, seen = self.project(memory), last[0], []
        for word in self.embed(target).unbind(1):  # (B, WIDTH)
            weights = self.score(state.unsqueeze(1), keys).softmax(-1)  # (B, 1, m)
            context = (weights @ memory).squeeze(1)
            state = self.cell(torch.cat([word, context], dim=-1), state)
            seen.append(torch.cat([state, context], dim=-1))
        written: Tensor = self.output(torch.stack(seen, dim=1))  # (B, T, words)
        return written
