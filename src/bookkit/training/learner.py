"""The models of the pages' trainings in plain PyTorch, which follow the same curve from the same start."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.positions import alibi_bias, rotate, sinusoidal
from bookkit.training.die import Die, die_of
from bookkit.training.tasks import Batch, Settings, Task


class Learner:
    """`Learner(settings["model"], task, seed=1)` begins with the weights that it has in the page.

    They stand in `parameters` by the names that they have there.
    """

    def __init__(self, settings: Settings, task: Task, seed: int) -> None:
        self.settings, self.task, self.seed = settings, task, seed
        self.parameters: dict[str, Tensor] = {}
        self.looks: list[Tensor] = []  # of each layer the weights, (B, heads, T, T)
        with torch.no_grad():  # parts are made when they are first asked for
            self.forward(task.draw(Die(0), 1, settings["longest"] or 8).ids)

    def numbers(self) -> list[Tensor]:
        """`learner.numbers()` is all that learns."""
        return list(self.parameters.values())

    # ---- its parts ----

    def drawn(self, name: str, rows: int, columns: int, spread: float) -> Tensor:
        """`learner.drawn("words", 10, 32, spread=1)` is a parameter of (10, 32), from a die of its name."""
        if name not in self.parameters:
            numbers = spread * math.sqrt(3) * (2 * die_of(name, self.seed).numbers(rows * columns) - 1)
            self.parameters[name] = torch.tensor(numbers).float().view(rows, columns).requires_grad_()
        return self.parameters[name]

    def linear(self, name: str, x: Tensor, outputs: int) -> Tensor:
        """`learner.linear("readOut", x, 10)` is x times a matrix, and perhaps a bias."""
        spread = self.settings["loudness"] / math.sqrt(3 * x.shape[-1])
        weight = self.drawn(f"{name}.weight", outputs, x.shape[-1], spread)
        biased = self.settings["biases"]
        return F.linear(x, weight, self.drawn(f"{name}.bias", 1, outputs, 0)[0] if biased else None)

    def norm(self, name: str, x: Tensor) -> Tensor:
        """`learner.norm("norm", x)` is layer norm."""
        gain = self.parameters.setdefault(f"{name}.gain", torch.ones(1, x.shape[-1], requires_grad=True))
        return F.layer_norm(x, x.shape[-1:], gain[0], self.drawn(f"{name}.bias", 1, x.shape[-1], 0)[0])

    # ---- what it computes ----

    def attention(self, name: str, x: Tensor) -> Tensor:
        """`learner.attention("layers.0.attention", x)` is what each place is handed, (B, T, …)."""
        settings, width, length = self.settings, x.shape[-1], x.shape[1]
        heads, matrices = settings["heads"], settings["matrices"]
        asked = heads * (settings["queryWidth"] or settings["width"] // heads)
        query = key = x
        if matrices == "of places":
            query, key = (
                self.drawn(f"{name}.{one}", settings["longest"], asked, 1) for one in ("queries", "keys")
            )
            query, key = (one[:length].expand(len(x), -1, -1) for one in (query, key))
        elif matrices != "only values":
            query = key = self.linear(f"{name}.query", x, asked)
            key = query if matrices == "tied" else self.linear(f"{name}.key", x, asked)
        value = x
        if matrices not in ("no values", "of places"):
            value = self.linear(
                f"{name}.value", x, heads * (settings["valueWidth"] or settings["width"] // heads)
            )
        query, key, value = (split(one, heads) for one in (query, key, value))
        if settings["positions"] == "rotary":
            query, key = rotate(query), rotate(key)
        if settings["attention"] == "linear":
            query, key = F.elu(query) + 1, F.elu(key) + 1
        d_k = query.shape[-1]
        scores = query @ key.mT / {"root": math.sqrt(d_k), "none": 1, "width": d_k}[settings["divisor"]]
        if settings["attention"] == "linear":
            scores = scores.log()  # which a softmax shares out as they are
        if settings["positions"] == "ALiBi":
            scores = scores + alibi_bias(heads, length, length)
        counted, used = self.sight(length)
        weights = scores.masked_fill(~counted, -math.inf).softmax(-1) * used  # (B, heads, T, T)
        self.looks.append(weights)
        mixed = (weights @ value).transpose(1, 2).flatten(2)
        return self.linear(f"{name}.output", mixed, width) if settings["output"] else mixed

    def sight(self, length: int) -> tuple[Tensor, Tensor]:
        """`counted, used = learner.sight(24)`: what the softmax counts, and what is used, (24, 24) each."""
        everything = torch.ones(length, length, dtype=torch.bool)
        so_far, one_more = everything.tril(), everything.tril(1)
        return {
            "so far": (so_far, so_far),
            "all": (everything, everything),
            "one too many": (one_more, one_more),
            "after the softmax": (everything, so_far),
        }[self.settings["sight"]]

    def network(self, name: str, x: Tensor) -> Tensor:
        """`learner.network("layers.0.network", x)` widens each place, drops what is negative, narrows it."""
        wide = self.linear(f"{name}.widen", x, self.settings["hidden"]).relu()
        return self.linear(f"{name}.narrow", wide, x.shape[-1])

    def around(self, name: str, x: Tensor, block: Callable[[str, Tensor], Tensor]) -> Tensor:
        """`learner.around(name, x, learner.network)`: with a road past it, and a norm before or after."""
        norm = self.settings["norm"]
        made = block(name, self.norm(f"{name}.norm", x) if norm == "before" else x)
        total = x + made if self.settings["road"] else made
        return self.norm(f"{name}.norm", total) if norm == "after" else total

    def forward(self, ids: Tensor) -> Tensor:
        """`learner.forward(batch.ids)` are the scores of each answer, (B, T, answers, classes)."""
        settings, self.looks = self.settings, []
        width, length = settings["width"], ids.shape[1]
        if settings["words"] == "ones":
            x = F.one_hot(ids, self.task.ids).sum(2).float()  # (B, T, width)
        else:
            table = self.drawn("words", self.task.ids, width, settings["spread"])
            x = F.embedding(ids, table).sum(2) * (math.sqrt(width) if settings["scaled"] else 1)
        if settings["positions"] == "learned":
            x = x + self.drawn("places", settings["longest"], width, math.sqrt(0.5))[:length]
        if settings["positions"] == "sinusoidal":
            x = x + sinusoidal(length, width)
        for i in range(settings["layers"]):
            x = self.around(f"layers.{i}.attention", x, self.attention)
            if settings["hidden"]:
                x = self.around(f"layers.{i}.network", x, self.network)
        if settings["norm"] == "before":
            x = self.norm("norm", x)
        if settings["readOut"]:
            x = self.linear("readOut", x, self.task.answers * self.task.classes)
        return x.view(*x.shape[:2], self.task.answers, self.task.classes)


def split(vectors: Tensor, heads: int) -> Tensor:
    """`split(query, heads=4)` makes (B, heads, T, d_k) of (B, T, heads · d_k)."""
    return vectors.view(*vectors.shape[:2], heads, -1).transpose(1, 2)


def loss_of(scores: Tensor, batch: Batch, kind: str) -> Tensor:
    """`loss_of(learner.forward(batch.ids), batch, "crossEntropy")` is what is trained to be small."""
    if kind == "squares":
        right = F.one_hot(batch.targets, scores.shape[-1])
        return (scores - right).square().sum(-1).mean()
    return F.cross_entropy(scores.flatten(0, -2), batch.targets.flatten(), ignore_index=-1)


def rate_at(step: int, training: Settings) -> float:
    """`rate_at(0, {"rate": 0.01, "warmUp": 10, "steps": 300, "falls": True})` is the first step's rate.

    >>> rate_at(0, {"rate": 0.01, "warmUp": 10, "steps": 300, "falls": True})
    0.001
    """
    climbed = min(1, (step + 1) / training["warmUp"]) if training["warmUp"] else 1
    left = (
        max(0, training["steps"] - step) / (training["steps"] - training["warmUp"])
        if training["falls"]
        else 1
    )
    rate: float = training["rate"]
    return rate * min(climbed, left)
