"""Seventeen faults of the small GPT or of its training, each of one line."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.shapes import Vectors
from attnlab.transformer import GPT, Block, SelfAttention
from chapters.the_repair_shop.patients import FILLER, Patient, blocks, next_letter, of_equal_sizes, small

# ---- the attention ----


class StepByStep(SelfAttention):
    """`StepByStep(32, 4)` is `SelfAttention`, in steps that can be mistaken."""

    def forward(self, inputs: Vectors) -> Vectors:
        """`attention(inputs)` has the shape of inputs, (B, T, d_model)."""
        parts = self.project(inputs).unflatten(-1, (3, self.heads, -1))  # (B, T, 3, heads, d_k)
        query, key, value = parts.permute(2, 0, 3, 1, 4)  # (B, heads, T, d_k) each
        later = torch.ones(inputs.shape[1], inputs.shape[1], dtype=torch.bool).triu(1)
        found = self.weights(query @ key.mT, later) @ value
        outputs: Vectors = self.write(found.transpose(1, 2).flatten(2))
        return outputs

    def weights(self, scores: Tensor, later: Tensor) -> Tensor:
        """`attention.weights(scores, later)` are (B, heads, T, T), from products of queries and keys."""
        scaled = scores / math.sqrt(self.write.in_features / self.heads)
        return scaled.masked_fill(later, -torch.inf).softmax(-1)


class Unmasked(StepByStep):
    """`Unmasked(32, 4)(inputs)`: nothing is hidden."""

    def weights(self, scores: Tensor, later: Tensor) -> Tensor:
        """`attention.weights(scores, later)` are (B, heads, T, T), from products of queries and keys."""
        return super().weights(scores, torch.zeros_like(later))


class OffByOne(StepByStep):
    """`OffByOne(32, 4)(inputs)`: each place sees the one after it, too."""

    def weights(self, scores: Tensor, later: Tensor) -> Tensor:
        """`attention.weights(scores, later)` are (B, heads, T, T), from products of queries and keys."""
        return super().weights(scores, later.triu(2))


class Unscaled(StepByStep):
    """`Unscaled(32, 4)(inputs)`: scores are products of queries and keys, and not divided by √d_k."""

    def weights(self, scores: Tensor, later: Tensor) -> Tensor:
        """`attention.weights(scores, later)` are (B, heads, T, T), from products of queries and keys."""
        return scores.masked_fill(later, -torch.inf).softmax(-1)


class OverQueries(StepByStep):
    """`OverQueries(32, 4)(inputs)`: the softmax goes over the queries."""

    def weights(self, scores: Tensor, later: Tensor) -> Tensor:
        """`attention.weights(scores, later)` are (B, heads, T, T), from products of queries and keys."""
        scaled = scores / math.sqrt(self.write.in_features / self.heads)
        return scaled.masked_fill(later, -torch.inf).softmax(-2)


class Billion(StepByStep):
    """`Billion(32, 4)(inputs)`: hidden scores are minus a billion, which half precision does not have."""

    def weights(self, scores: Tensor, later: Tensor) -> Tensor:
        """`attention.weights(scores, later)` are (B, heads, T, T), from products of queries and keys."""
        scaled = scores / math.sqrt(self.write.in_features / self.heads)
        return scaled.masked_fill(later, -1e9).softmax(-1)


def attending(kind: type[SelfAttention], model: GPT) -> GPT:
    """`attending(Unmasked, small())` is the model with other attention and the same weights."""
    for block in blocks(model):
        old = block.attention
        new = kind(old.write.in_features, old.heads)
        new.load_state_dict(old.state_dict())
        block.attention = new
    return model


# ---- the model around it ----


class OffTheRoad(Block):
    """`OffTheRoad(32, 4)(stream)`: nothing is added, each half of the block replaces the stream."""

    def forward(self, stream: Vectors) -> Vectors:
        """`block(stream)` has the shape of stream, (B, T, d_model)."""
        stream = self.dropout(self.attention(self.before_attention(stream)))
        wide = F.gelu(self.widen(self.before_network(stream)), approximate="tanh")
        return self.dropout(self.narrow(wide))  # type: ignore[no-any-return]


def without_road(model: GPT) -> GPT:
    """`without_road(small())` is the model whose blocks add to no stream, with the same weights."""
    for place in range(len(model.blocks)):
        _with_block(model, place, OffTheRoad)
    return model


class AlwaysDrops(nn.Module):
    """`AlwaysDrops()(vectors)` does not ask whether the model trains."""

    def forward(self, vectors: Vectors) -> Vectors:
        """`dropout(vectors)` has the shape of vectors."""
        return F.dropout(vectors, 0.1)


def never_rests(model: GPT) -> GPT:
    """`never_rests(small())` drops while it is asked, too."""
    model.dropout = AlwaysDrops()  # type: ignore[assignment]
    return model


def without_places(model: GPT) -> GPT:
    """`without_places(small())` adds zeros for places, and never learns others."""
    nn.init.zeros_(model.places.weight).requires_grad_(False)
    return model


def in_a_list(model: GPT) -> GPT:
    """`in_a_list(small())` has its blocks in a list of Python's, where PyTorch does not see them."""
    blocks = [*model.blocks]
    del model.blocks
    model.blocks = blocks  # type: ignore[assignment]
    return model


class Detached(Block):
    """`Detached(32, 4)(stream)` lets no gradient through to the blocks before it."""

    def forward(self, stream: Vectors) -> Vectors:
        """`block(stream)` has the shape of stream, (B, T, d_model)."""
        return super().forward(stream.detach())


def cut(model: GPT) -> GPT:
    """`cut(small())` has a stray `detach()` in its second block, with the same weights."""
    return _with_block(model, 1, Detached)


def pushed_under(model: GPT) -> GPT:
    """`pushed_under(small())` has biases of −5 where a network widens."""
    for block in blocks(model):
        nn.init.constant_(block.widen.bias, -5.0)
    return model


def _with_block(model: GPT, place: int, kind: type[Block]) -> GPT:
    model.blocks[place] = of_equal_sizes(kind, blocks(model)[place])
    return model


# ---- the loss ----


def unshifted(model: nn.Module, ids: Tensor) -> Tensor:
    """`unshifted(model, ids)` asks each place for the letter that it was given."""
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), ids[:, :-1].flatten(), ignore_index=FILLER)


def filler_counted(model: nn.Module, ids: Tensor) -> Tensor:
    """`filler_counted(model, ids)` wants the filler predicted, too."""
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


def of_chances(model: nn.Module, ids: Tensor) -> Tensor:
    """`of_chances(model, ids)` gives chances to a loss that makes chances of what it is given."""
    chances = model(ids[:, :-1]).softmax(-1)
    return F.cross_entropy(chances.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=FILLER)


def of_other_rows(model: nn.Module, ids: Tensor) -> Tensor:
    """`of_other_rows(model, ids)` has the rows of the targets turned by one: each is another's."""
    logits = model(ids[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), ids.roll(1, 0)[:, 1:].flatten(), ignore_index=FILLER)


# ---- all of them ----


def healthy(seed: int = 0) -> Patient:
    """`healthy(seed=0)` is the patient without a fault."""
    return Patient(small(seed), next_letter)


def brought_in(seed: int = 0) -> Patient:
    """`brought_in(seed=0)` is the patient of the chapter's first case: its name would give it away."""
    return FAULTS["mask off by one"](seed)


def _model(change: Callable[[GPT], GPT], **settings: Any) -> Callable[[int], Patient]:
    return lambda seed: Patient(change(small(seed, **settings)))


def _attention(kind: type[SelfAttention]) -> Callable[[int], Patient]:
    return _model(lambda model: attending(kind, model))


def _loss(loss: Callable[[nn.Module, Tensor], Tensor]) -> Callable[[int], Patient]:
    return lambda seed: Patient(small(seed), loss)


FAULTS: dict[str, Callable[[int], Patient]] = {
    "targets not shifted": _loss(unshifted),
    "no mask": _attention(Unmasked),
    "mask off by one": _attention(OffByOne),
    "softmax over the queries": _attention(OverQueries),
    "no places": _model(without_places),
    "filler in the loss": _loss(filler_counted),
    "weights ten times too large": _model(lambda model: model, spread=1.0),
    "no residual stream": _model(without_road),
    "a stray detach()": _model(cut),
    "blocks in a list": _model(in_a_list),
    "biases of −5": _model(pushed_under),
    "rate thirty times too high": lambda seed: Patient(small(seed), rate=0.1),
    "chances for logits": _loss(of_chances),
    "dropout that never rests": _model(never_rests),
    "−1e9 in half precision": _attention(Billion),
    "scores not divided": _attention(Unscaled),
    "another row’s targets": _loss(of_other_rows),
}
