"""A small language model that can be wrong in one way at a time, to try `attnlab.checkup` on."""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WORDS, WIDTH, HEADS, LONGEST = 20, 16, 2, 16
IDS = torch.randint(1, WORDS, (3, 9), generator=torch.Generator().manual_seed(0))


class Attention(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        self.query, self.key, self.value, self.write = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        fault, length = self.fault, x.shape[1]
        query, key, value = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
        if fault == "keys are queries":
            key = query
        divisor = {"no divisor": 1.0, "divided by d_k": WIDTH / HEADS}.get(fault, math.sqrt(WIDTH / HEADS))
        scores = query @ key.transpose(-2, -1) / divisor  # (B, heads, T, T)
        later = torch.ones(length, length).triu(2 if fault == "sees the next" else 1).bool()
        if fault == "queries cancel":
            scores = scores.mean(-2, keepdim=True).expand_as(scores)
        if fault == "heads alike":
            scores = scores[:, :1].expand_as(scores)
        if fault == "masked late":
            weights = scores.softmax(-1) * ~later
        elif fault == "sums over queries":
            weights = scores.masked_fill(later, -math.inf).softmax(-2)
        elif fault == "sees only itself":
            weights = scores.masked_fill(torch.eye(length) == 0, -math.inf).softmax(-1)
        elif fault == "blind start":
            weights = scores.masked_fill(torch.ones(length, length).triu(0).bool(), -math.inf).softmax(-1)
        else:
            weights = scores.masked_fill(later, -math.inf).softmax(-1)
        found = weights @ value
        if fault == "weights detached":
            found = weights.detach() @ value
        return self.write(found.transpose(1, 2).flatten(2))


class Network(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        self.widen, self.narrow = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        wide = self.widen(x)
        wide = wide if self.fault == "no activation" else wide.relu()
        added = self.narrow(wide)
        if self.fault == "dropout always":
            return F.dropout(added, 0.1)
        return added.relu() if self.fault == "activation last" else self.drop(added)


class RootNorm(nn.Module):
    """A norm by hand."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault, self.weight = fault, nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        wide = x if self.fault == "norm in half" else x.to(torch.promote_types(x.dtype, torch.float32))
        axes = {"norm over places": 1, "norm over rows": 0}.get(self.fault, -1)
        squares = wide.square().mean(axes, keepdim=True) + 1e-6
        normal = wide / (squares if self.fault == "no root" else squares.sqrt())
        return self.weight * (normal if self.fault == "norm not cast back" else normal.to(x.dtype))


class Block(nn.Module):
    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault
        self.attention, self.network = Attention(fault), Network(fault)
        self.norm_1, self.norm_2 = RootNorm(fault), RootNorm(fault)

    def forward(self, x: Tensor) -> Tensor:
        found = self.attention(self.norm_1(x))
        x = found if self.fault == "no residual" else x + x + found if self.fault == "doubled" else x + found
        return x + self.network(x if self.fault == "norm unused" else self.norm_2(x))


class Small(nn.Module):
    """`Small("no divisor")` has that fault, `Small()` has none that is known."""

    def __init__(self, fault: str = "") -> None:
        super().__init__()
        self.fault = fault
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(Block(fault) for _ in range(2))
        self.norm, self.next = RootNorm(fault), nn.Linear(WIDTH, WORDS)
        if fault == "unseen":
            del self.blocks
            self.blocks = [Block(fault) for _ in range(2)]
        if fault == "one block twice":
            self.blocks = nn.ModuleList([Block(fault)] * 2)
        if fault == "same start":
            self.blocks[1].load_state_dict(self.blocks[0].state_dict())
        if fault == "plain table":
            del self.places
            self.places = torch.randn(LONGEST, WIDTH)
        if fault == "large":
            for weight in self.parameters():
                weight.data.mul_(30 if weight.dim() > 1 else 1)
        if fault == "zero gains":
            self.blocks[0].norm_1.weight.data.zero_()
        if fault == "frozen":
            self.blocks[0].network.widen.requires_grad_(False)
        self.calls = 0

    def forward(self, ids: Tensor) -> Tensor:
        fault = self.fault
        if fault == "writes to its batch":
            ids[:, 0] = 1
        rows = torch.arange(ids.shape[1])
        if fault == "backwards":
            rows = rows.flip(0)
        places = self.places[rows] if fault == "plain table" else self.places(rows)
        x = self.words(ids) + (0 if fault == "no places" else places)
        if fault == "squeezes":
            x = x.squeeze(0)
        for block in self.blocks[:1] if fault == "one block left out" else self.blocks:
            x = block(x.detach() if fault == "detached" else x)
        if fault == "all alike":
            x = x.mean(1, keepdim=True).expand_as(x)
        if fault == "keeps a state":
            self.calls += 1
            x = x + self.calls
        logits = self.next(self.norm(x))
        if fault == "nan":
            logits = logits / (ids[..., None] != ids[0, 0])
        outputs = {
            "probabilities": lambda: logits.softmax(-1),
            "logarithms": lambda: logits.log_softmax(-1),
            "cut at 0": lambda: logits.relu(),
        }
        return outputs.get(fault, lambda: logits)()


class Encoder(nn.Module):
    """Reads with a mask; with a fault, without it."""

    def __init__(self, fault: str = "", classes: bool = False) -> None:
        super().__init__()
        self.fault, self.classes = fault, classes
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.norm, self.next = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, ids: Tensor, attention_mask: Tensor) -> Tensor:
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / math.sqrt(WIDTH)  # (B, T, T)
        if self.fault == "reads left to right":
            scores = scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -math.inf)
        if self.fault != "no mask":
            scores = scores.masked_fill(attention_mask[:, None] == 0, -math.inf)
        if self.fault == "mask of the first row":
            scores = scores.masked_fill(attention_mask[:1, None] == 0, -math.inf)
        x = x + scores.softmax(-1) @ self.value(x)
        if not self.classes:
            return self.next(x)
        kept = attention_mask[..., None].to(x.dtype)
        if self.fault == "mean with filler":
            return self.next(x.mean(1))
        return self.next((x * kept).sum(1) / kept.sum(1))


class Remembering(nn.Module):
    """A GRU that goes on from a cache."""

    def __init__(self, fault: str = "") -> None:
        super().__init__()
        self.fault = fault
        self.words = nn.Embedding(WORDS, WIDTH)
        self.gru, self.next = nn.GRU(WIDTH, WIDTH, batch_first=True), nn.Linear(WIDTH, WORDS)
        self.kept: list[Tensor] = []

    def caches(self) -> list[Tensor]:
        return self.kept if self.fault == "cache shared" else []

    def forward(self, ids: Tensor, caches: list[Tensor] | None = None) -> Tensor:
        before = caches[-1] if caches and self.fault != "cache forgotten" else None
        states, last = self.gru(self.words(ids), before)
        if caches is not None:
            caches.append(last)
        return self.next(states)
