"""A small language model, an encoder and a recurrent one, and a line in each that can be wrong.

`small("no divisor")` is the model with that fault, `Small()` has none that is known.
"""

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: F401 - a fault needs it

WORDS, WIDTH, HEADS, LONGEST = 20, 16, 2, 16
IDS = torch.randint(1, WORDS, (3, 9), generator=torch.Generator().manual_seed(0))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.query, self.key, self.value, self.write = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def split(self, x: Tensor) -> Tensor:
        return x.view(*x.shape[:2], HEADS, -1).transpose(1, 2)

    def forward(self, x: Tensor) -> Tensor:
        length = x.shape[1]
        query, key, value = (self.split(layer(x)) for layer in (self.query, self.key, self.value))
        scores = query @ key.mT / math.sqrt(WIDTH / HEADS)  # (B, heads, T, T)
        later = torch.ones(length, length).triu(1).bool()
        weights = scores.masked_fill(later, -math.inf).softmax(-1)
        found = weights @ value
        return self.write(found.transpose(1, 2).flatten(2))


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.widen, self.narrow = nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Tensor) -> Tensor:
        added = self.narrow(self.widen(x).relu())
        return self.drop(added)


class RootNorm(nn.Module):
    """A norm by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: Tensor) -> Tensor:
        wide = x.to(torch.promote_types(x.dtype, torch.float32))
        root = (wide.square().mean(-1, keepdim=True) + 1e-6).sqrt()
        return self.weight * (wide / root).to(x.dtype)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention, self.network = Attention(), Network()
        self.norm_1, self.norm_2 = RootNorm(), RootNorm()

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.attention(self.norm_1(x))
        return x + self.network(self.norm_2(x))


class Small(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm, self.next = RootNorm(), nn.Linear(WIDTH, WORDS)
        self.calls = 0

    def forward(self, ids: Tensor) -> Tensor:
        rows = torch.arange(ids.shape[1])
        x = self.words(ids) + self.places(rows)
        for block in self.blocks:
            x = block(x)
        logits = self.next(self.norm(x))
        return logits


class Encoder(nn.Module):
    """Reads with a mask."""

    def __init__(self, classes: bool = False) -> None:
        super().__init__()
        self.classes = classes
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.norm, self.next = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, ids: Tensor, attention_mask: Tensor) -> Tensor:
        x = self.norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))
        scores = self.query(x) @ self.key(x).mT / math.sqrt(WIDTH)  # (B, T, T)
        scores = scores.masked_fill(attention_mask[:, None] == 0, -math.inf)
        x = x + scores.softmax(-1) @ self.value(x)
        if not self.classes:
            return self.next(x)
        kept = attention_mask[..., None].to(x.dtype)
        return self.next((x * kept).sum(1) / kept.sum(1))


class Remembering(nn.Module):
    """A GRU that goes on from a cache."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.gru, self.next = nn.GRU(WIDTH, WIDTH, batch_first=True), nn.Linear(WIDTH, WORDS)
        self.kept: list[Tensor] = []

    def caches(self) -> list[Tensor]:
        return []

    def forward(self, ids: Tensor, caches: list[Tensor] | None = None) -> Tensor:
        before = caches[-1] if caches else None
        states, last = self.gru(self.words(ids), before)
        if caches is not None:
            caches.append(last)
        return self.next(states)


class Translator(nn.Module):
    """Reads one sequence and writes another; id 0 fills up what is read."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.next = nn.Embedding(WORDS, WIDTH), nn.Linear(WIDTH, WORDS)
        self.gru, self.also = (nn.GRU(WIDTH, WIDTH, batch_first=True) for _ in range(2))
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, source: Tensor, ids: Tensor) -> Tensor:
        read, x = self.gru(self.words(source))[0], self.also(self.words(ids))[0]
        scores = self.query(x) @ self.key(read).mT / math.sqrt(WIDTH)
        weights = scores.masked_fill(source[:, None] == 0, -math.inf).softmax(-1)
        return self.next(x + weights @ self.value(read))


# ---- faults ----

HIDDEN, SOFTMAX = "scores.masked_fill(later, -math.inf)", "scores.masked_fill(later, -math.inf).softmax(-1)"
SCORES, ROWS = "(B, heads, T, T)\n", "        rows = torch.arange(ids.shape[1])\n"
SAID, MADE = "        return logits\n", "        self.calls = 0\n"
SUMMED, MASK = "self.words(ids) + self.places(rows)", "attention_mask[:, None] == 0"
ATTENTION, NORM, NETWORK = "blocks.0.attention", "blocks.0.norm_1", "blocks.0.network"
# The line of inquiry that finds it, and where (None: in no one place). In the text above what comes third
# becomes the fourth, which follows it where it begins with "+".
FAULTS = {
    "sees the next": ("sight", ATTENTION, "triu(1)", "triu(2)"),
    "sees only itself": ("sight", ATTENTION, HIDDEN, "scores.masked_fill(torch.eye(length) == 0, -math.inf)"),
    "blind start": ("numbers", ATTENTION, "triu(1)", "triu(0)"),
    "masked late": ("scores", ATTENTION, SOFTMAX, "scores.softmax(-1) * ~later"),
    "sums over queries": ("scores", ATTENTION, SOFTMAX, f"{HIDDEN}.softmax(-2)"),
    "no divisor": ("scores", ATTENTION, " / math.sqrt(WIDTH / HEADS)", ""),
    "queries cancel": ("scores", ATTENTION,
        SCORES, "+        scores = scores.mean(-2, keepdim=True).expand_as(scores)\n"),
    "heads alike": ("scores", ATTENTION, SCORES, "+        scores = scores[:, :1].expand_as(scores)\n"),
    "keys are queries": ("parameters", "blocks.0.attention.key", "query @ key.mT", "query @ query.mT"),
    "weights detached": ("parameters", "blocks.0.attention.query",
        "weights @ value", "weights.detach() @ value"),
    "no activation": ("network", NETWORK, "self.widen(x).relu()", "self.widen(x)"),
    "activation last": ("network", NETWORK, "self.drop(added)", "added.relu()"),
    "norm in half": ("numbers", NORM, "x.to(torch.promote_types(x.dtype, torch.float32))", "x"),
    "norm not cast back": ("numbers", NORM, "(wide / root).to(x.dtype)", "(wide / root)"),
    "norm over places": ("network", NORM, "square().mean(-1,", "square().mean(1,"),
    "norm over rows": ("batch", NORM, "square().mean(-1,", "square().mean(0,"),
    "no root": ("network", NORM, " + 1e-6).sqrt()", " + 1e-6)"),
    "no residual": ("stream", "blocks.0", "x + self.attention(", "self.attention("),
    "doubled": ("stream", "blocks.0", "x + self.attention(", "x + x + self.attention("),
    "unseen": ("parameters", "blocks[0]",
        MADE, "+        del self.blocks\n        self.blocks = [Block() for _ in range(2)]\n"),
    "one block left out": ("parameters", "blocks.1", "in self.blocks:", "in self.blocks[:1]:"),
    "same start": ("start", "blocks.1.attention.query",
        MADE, "+        self.blocks[1].load_state_dict(self.blocks[0].state_dict())\n"),
    "plain table": ("parameters", "places",
        MADE, "+        del self.places\n        self.places = torch.randn(LONGEST, WIDTH)\n",
        "self.places(rows)", "self.places[rows]"),
    "frozen": ("parameters", "blocks.0.network.widen",
        MADE, "+        self.blocks[0].network.widen.requires_grad_(False)\n"),
    "writes to its batch": ("batch", "", ROWS, f"{ROWS}        ids[:, 0] = 1\n"),
    "backwards": ("positions", "",
        "rows = torch.arange(ids.shape[1])", "rows = torch.arange(ids.shape[1]).flip(0)"),
    "squeezes": ("batch", None, SUMMED, f"({SUMMED}).squeeze(0)"),
    "all alike": ("sight", "",
        "self.next(self.norm(x))", "self.next(self.norm(x.mean(1, keepdim=True).expand_as(x)))"),
    "keeps a state": ("evaluation", "",
        "x = block(x)\n", "+        self.calls += 1\n        x = x + self.calls\n"),
    "nan": ("numbers", "", SAID, "        return logits / (ids[..., None] != ids[0, 0])\n"),
    "probabilities": ("output", "", SAID, "        return logits.softmax(-1)\n"),
    "cut at 0": ("output", None, SAID, "        return logits.relu()\n"),
    "heads joined by a view": ("sight", ATTENTION,
        "found.transpose(1, 2).flatten(2)", "found.reshape(x.shape)"),
    "divided by the width": ("scores", ATTENTION, "math.sqrt(WIDTH / HEADS)", "math.sqrt(WIDTH)"),
    "cap not undone": ("scores", ATTENTION, SCORES, "+        scores = (scores / 9).tanh()\n"),
    "groups differ": ("scores", ATTENTION, "HEADS, LONGEST = 20, 16, 2", "HEADS, LONGEST = 20, 16, 4",
        "query @ key.mT", "query @ key[:, [0, 1, 0, 1]].mT",
        "weights @ value", "weights @ value[:, [0, 0, 1, 1]]"),
    "gate shut": ("network", NETWORK, "self.drop(added)", "added * (added - 20).sigmoid()"),
    "rows alike": ("positions", "",
        MADE, "+        self.register_buffer('table', torch.randn(WIDTH).repeat(LONGEST, 1))\n",
        "self.places(rows)", "self.table[rows]"),
    "words for places": ("positions", None, "self.places(rows)", "self.words(rows)"),
    "far preferred": ("positions", ATTENTION, SUMMED, "self.words(ids)",
        SCORES, "+        scores = scores - torch.arange(length)\n"),
    "places of rows": ("batch", None, "self.places(rows)", "self.places(torch.arange(len(ids)))[:, None]"),
    "parts alike": ("start", "", MADE, "+        self.two = nn.Parameter(torch.zeros(2, WIDTH))\n",
        SUMMED, f"{SUMMED} + self.two.sum(0)"),
    "both zero": ("start", "", MADE, "+        self.low = nn.Parameter(torch.zeros(2, 2, WIDTH))\n",
        "self.next(self.norm(x))", "self.next(self.norm(x + x @ self.low[0].mT @ self.low[1]))"),
    "tied by a copy": ("start", "next", MADE, "+        self.next.weight.data.copy_(self.words.weight)\n"),
    "words that can't be said": ("output", "", "self.next = RootNorm(), nn.Linear(WIDTH, WORDS)",
        "self.next = RootNorm(), nn.Linear(WIDTH, WORDS - 3)"),
    "capped at 1": ("output", None, SAID, "        return logits.tanh()\n"),
    "dropout on logits": ("evaluation", None, SAID, "        return F.dropout(logits, 0.2, self.training)\n"),
}  # fmt: skip
OF_READERS = {
    "reads left to right": ("sight", None, MASK, f"({MASK}) | torch.ones(scores.shape[-2:]).triu(1).bool()"),
    "no mask": ("padding", None, MASK, f"False & ({MASK})"),
    "mask of the first row": ("padding", None, MASK, f"({MASK}) | (attention_mask[:1, None] == 0)"),
    "mean with filler": ("padding", None, "(x * kept).sum(1) / kept.sum(1)", "x.mean(1)"),
    "cache shared": ("cache", None, "        return []\n", "        return self.kept\n"),
    "cache forgotten": ("cache", None, "caches[-1] if caches else None", "None"),
    "past": ("", None, "caches: list[Tensor] | None = None) -> Tensor", "past=None)",
        "caches[-1] if caches else None", "past",
        "        if caches is not None:\n            caches.append(last)\n", "",
        "return self.next(states)", "return self.next(states), last"),
    "source unmasked": ("padding", None, "source[:, None] == 0", "source[:, None] < 0"),
    "places by mask": ("", None, "norm(self.words(ids) + self.places(torch.arange(ids.shape[1])))",
        "norm(self.words(ids) + self.places((attention_mask.cumsum(1) - 1).clamp(0)))"),
}  # fmt: skip
OF_READERS["past forgotten"] = ("cache", *OF_READERS["past"][1:], "= self.gru(self.words(ids), before)",
    "= self.gru(self.words(ids))")  # fmt: skip

# ---- no faults: other ways to write the same ----

HALVES = "self.write = (nn.Linear(WIDTH, WIDTH) for _ in range(4))\n"
TURNS = "torch.polar(torch.ones(LONGEST, 4), torch.arange(LONGEST)[:, None] * 0.5 ** torch.arange(4))"
TURNED = (
    "torch.view_as_real(torch.view_as_complex(x.float().unflatten(-1, (-1, 2))) * self.turns[:x.shape[-2]])"
)
STYLES: dict[str, tuple[str, ...]] = {
    "turned by complex numbers": (HALVES, f"+        self.register_buffer('turns', {TURNS})\n",
        "query @ key.mT", "self.turn(query) @ self.turn(key).mT",
        "    def split(self", f"    def turn(self, x):\n        return {TURNED}.flatten(-2).type_as(x)\n\n"
        "    def split(self", SUMMED, "self.words(ids)", MADE, "+        del self.places\n"),
    "added outside": ("x = block(x)\n", "x = x + block(x)\n", "x = x + self.attention(self.norm_1(x))\n",
        "x = self.attention(self.norm_1(x))\n", "return x + self.network(", "return self.network("),
    "weights kept to be shown": ("weights @ value\n", "+        self.kept = weights\n"),
    "places in each row": ("self.places(rows)", "self.places(rows.expand_as(ids))"),
    "a convolution first": (MADE, "+        self.places = nn.Conv1d(WIDTH, WIDTH, 3)\n",
        SUMMED, "self.places(F.pad(self.words(ids).mT, (2, 0))).mT"),
    "one length": (ROWS, f"{ROWS}        assert ids.shape[1] == 9\n"),
    "a learned scale": (HALVES, "+        self.scale = nn.Parameter(torch.ones(HEADS, 1, 1))\n",
        "query @ key.mT / math.sqrt(WIDTH / HEADS)", "query @ key.mT * self.scale.exp()"),
    "queries and keys of one size": ("query @ key.mT / math.sqrt(WIDTH / HEADS)",
        "F.normalize(query, dim=-1) @ F.normalize(key, dim=-1).mT * 5"),
    "weights computed twice": ("weights @ value\n",
        "+        self.kept = scores.masked_fill(later, -math.inf).softmax(-1)\n"),
    "hidden by a number": (HIDDEN, "scores.masked_fill(later, -1e9)"),
    "a loss, too": ("def forward(self, ids: Tensor) -> Tensor:", "def forward(self, ids, targets=None):",
        SAID, "        return logits, targets is not None and F.cross_entropy(logits.mT, targets)\n"),
}  # fmt: skip


def faulty(fault: str) -> dict[str, Any]:
    """`faulty("no mask")["Encoder"]`: the classes above, with that fault in their text."""
    (_, _, *changes), text = (
        (FAULTS | OF_READERS | {name: ("", "", *changes) for name, changes in STYLES.items()})[fault],
        Path(__file__).read_text("utf-8").partition("# ---- faults ----")[0],
    )
    for old, new in zip(changes[::2], changes[1::2], strict=True):
        assert text.count(old) == 1, (fault, old)
        text = text.replace(old, old + new[1:] if new.startswith("+") else new)
    names: dict[str, Any] = {"__name__": f"{__name__}, {fault}"}
    exec(compile(text, f"{__file__}, {fault}", "exec"), names)
    return names


def small(fault: str) -> nn.Module:
    return faulty(fault)["Small"]()
