"""A model of today whose attentions take their scores from a function of one's own."""

import copy
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.masks import causal
from attnlab.today.model import GroupedAttention, Today

Scores = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]  # of query, key, place, turns


class ByScores(nn.Module):
    """`ByScores(block.attention, scores, model.frequencies)` reads whole texts with the same weights."""

    def __init__(self, attention: GroupedAttention, scores: Scores, turns: Tensor) -> None:
        super().__init__()
        self.attention, self.scores, self.turns = attention, scores, turns

    def forward(self, inputs: Tensor, angles: Tensor, visible: object, cache: object) -> Tensor:
        """`layer(inputs, …)` is (B, T, d_model): each place sees itself and all before it."""
        own = self.attention
        query = own.split(own.query(inputs), own.heads)  # (B, heads, T, d_k), not turned yet
        key, value = (
            own.split(part(inputs), own.groups).repeat_interleave(own.heads // own.groups, dim=1)
            for part in (own.key, own.value)
        )
        length, d_k = query.shape[-2:]
        place = torch.arange(length, device=inputs.device)[:, None]
        scores = self.scores(query, key, place, self.turns) / math.sqrt(d_k)  # (B, heads, T, T)
        weights = scores.masked_fill(~causal(length, device=inputs.device), -math.inf).softmax(-1)
        return own.write((weights @ value).transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


def with_scores(model: Today, scores: Scores) -> Today:
    """`with_scores(model, clamped)` is a copy of the model that scores so."""
    changed = copy.deepcopy(model)
    for block in changed.blocks:
        block.attention = ByScores(block.attention, scores, model.frequencies)  # type: ignore[arg-type]
    return changed
