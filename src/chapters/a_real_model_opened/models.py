"""What the chapter measures once, since it takes minutes: its rivals, fewer bits, heads taken out, windows."""

import re
from collections.abc import Callable, Sequence
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.corpora.listed import ListedPieces
from attnlab.gguf import BLOCK, File
from attnlab.masks import causal, window
from attnlab.runtime import generator
from attnlab.shapes import Mask
from attnlab.today import opened
from attnlab.today.looks import attentions, without
from attnlab.today.model import Today
from attnlab.training.history import History
from attnlab.training.run import losses, row_of
from bookkit import weights
from chapters.a_gpt_of_your_own import models as small
from chapters.a_gpt_of_your_own.rivals import KneserNey, from_memory

SIGHT = 64  # pieces, the window of the chapter
ROW = 512  # pieces of a text
BITS = (8, 4, 3, 2)
KINDS = ("attention.query", "attention.key", "attention.value", "attention.write")
KINDS += ("network.gate", "network.widen", "network.narrow")


@cache
def real() -> tuple[Today, ListedPieces]:
    """`model, pieces = real()` is SmolLM2, read once."""
    file = File(opened.wheel())
    return opened.model(file), opened.pieces(file)


def nats(model: Today, row: Tensor, visible: Mask | None = None) -> Tensor:
    """`nats(model, row)` is what each of a row's ids but the first costs, (T - 1,)."""
    with torch.no_grad():
        return F.cross_entropy(model(row[None, :-1], visible=visible)[0], row[1:], reduction="none")


def long_rows(
    pieces: ListedPieces, length: int, count: int, seed: int = 0, packages: Sequence[str] = docstrings.PACKAGES
) -> Tensor:
    """`long_rows(pieces, 512, count=16)` are the first 512 pieces of 16 held-out docstrings, (16, 512)."""
    texts = [text for name in packages for text in docstrings.read(name, held_out=True)]
    rows = [pieces.encode(text)[:length] for text in docstrings.without_copies(texts, most=0.1)]
    enough = torch.tensor([row for row in rows if len(row) == length])
    return enough[torch.randperm(len(enough), generator=generator(seed))[:count]]


# ---- what it is worth ----


def race(seed: int) -> dict[str, Tensor]:
    """Nats of each of some held-out texts, by each rival, and their bytes."""
    training, validation = docstrings.split()
    texts = validation[seed % 8 :: 8]
    model, pieces = real()
    cut = small.pieces()
    gpt = small.gpt()
    weights.load("a_gpt_of_your_own/gpt", gpt)
    ours = row_of(map(cut.encode, texts), cut.end)
    counted = KneserNey(row_of(map(cut.encode, training), cut.end), order=5).chances(ours, len(cut))
    remembering = torch.as_tensor(from_memory(ours, counted))
    of_gpt = losses(gpt, ours, small.CONTEXT)
    end = pieces.special["<|endoftext|>"]
    theirs = row_of(map(pieces.encode, texts), end)
    found = {
        "5-gram": -torch.as_tensor(counted)[1:].log(),
        "5-gram, remembering": -remembering[1:].log(),
        "GPT": of_gpt,
        "half of each": -(remembering[1:] / 2 + (-of_gpt).exp() / 2).log(),
    }
    by_text = {name: summed(each, ours, cut.end) for name, each in found.items()}
    for length in (small.CONTEXT, ROW):
        by_text[f"SmolLM2, {length}"] = summed(losses(model, theirs, length, at_once=1), theirs, end)
    by_text["kilobytes"] = torch.tensor([len(text.encode()) / 1000 for text in texts])
    return by_text


def summed(each: Tensor, row: Tensor, end: int) -> Tensor:
    """Of each text in a row, what its ids cost; the first text's first id costs nothing."""
    text = (row == end).cumsum(0).roll(1)
    text[0] = 0
    total = torch.zeros(int(text.max()) + 1, dtype=torch.float64)
    return total.index_add_(0, text[1:], each.double())


# ---- fewer bits ----


def rounded(matrix: Tensor, bits: int, share: int) -> Tensor:
    """`rounded(matrix, bits=4, share=32)` keeps 16 steps from least to largest of each 32 numbers of a row."""
    blocks = matrix.reshape(-1, share)  # (blocks, share)
    least = blocks.amin(1, keepdim=True)
    step = (blocks.amax(1, keepdim=True) - least).clamp(min=1e-12) / (2**bits - 1)
    return ((blocks - least).div(step).round_().mul_(step).add_(least)).reshape(matrix.shape)


def across(matrix: Tensor, bits: int) -> Tensor:
    """Blocks of 32 down the columns, which the file's own blocks cross."""
    return rounded(matrix.T, bits, BLOCK).T


def changed(model: Today, change: Callable[[Tensor], Tensor], names: Sequence[str], rows: Tensor) -> float:
    """What rows cost on average where the matrices of these names are changed; then they are put back."""
    parts = [model.get_submodule(name) for name in names]
    kept = [part.weight.data for part in parts]
    for part in parts:
        part.weight.data = change(part.weight.data)
    cost = sum(nats(model, row).mean().item() for row in rows) / len(rows)
    for part, weight in zip(parts, kept, strict=True):
        part.weight.data = weight
    return cost


def fewer_bits(seed: int) -> dict[str, Tensor]:
    """Nats a piece by bits, in blocks and in whole rows; by layer and by kind of matrix at 2 bits."""
    model, pieces = real()
    rows = long_rows(pieces, 256, count=8, seed=seed)
    layers = range(len(model.blocks))
    all_of = [f"blocks.{layer}.{kind}" for layer in layers for kind in KINDS]

    def cost(change: Callable[[Tensor], Tensor], names: Sequence[str]) -> float:
        return changed(model, change, names, rows)

    return {
        "as it is": torch.tensor([cost(lambda matrix: matrix, [])]),
        "blocks": torch.tensor([cost(lambda m, b=bits: rounded(m, b, BLOCK), all_of) for bits in BITS]),
        "across": torch.tensor([cost(lambda m, b=bits: across(m, b), all_of) for bits in BITS]),
        "rows": torch.tensor([cost(lambda m, b=bits: rounded(m, b, m.shape[1]), all_of) for bits in BITS]),
        "table": torch.tensor([cost(lambda m, b=bits: rounded(m, b, BLOCK), ["pieces"]) for bits in BITS]),
        "by layer": torch.tensor(
            [cost(lambda m: rounded(m, 2, BLOCK), [f"blocks.{layer}.{kind}" for kind in KINDS]) for layer in layers]
        ),
        "by kind": torch.tensor(
            [cost(lambda m: rounded(m, 2, BLOCK), [f"blocks.{layer}.{kind}" for layer in layers]) for kind in KINDS]
        ),
    }


# ---- heads taken out ----


def heads_removed(seed: int) -> dict[str, Tensor]:
    """Nats a piece that each head's absence adds, (layers, heads), on 1,024 pieces of four texts."""
    model, pieces = real()
    rows = long_rows(pieces, 256, count=4, seed=seed)
    whole = torch.stack([nats(model, row) for row in rows]).mean()
    harm = torch.zeros(len(model.blocks), attentions(model)[0].heads)
    for layer, head in torch.cartesian_prod(*map(torch.arange, harm.shape)).tolist():
        with without(model, [(layer, head)]):
            harm[layer, head] = torch.stack([nats(model, row) for row in rows]).mean() - whole
    return {"harm": harm}


# Countries that are one piece, and whose capital the model names.
CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Germany": "Berlin", "Spain": "Madrid",
    "Russia": "Moscow", "China": "Beijing", "Greece": "Athens", "Norway": "Oslo", "Cuba": "Havana",
    "Ireland": "Dublin", "Austria": "Vienna", "Portugal": "Lisbon", "Sweden": "Stockholm",
    "England": "London",
}  # fmt: skip


def asked_for_capitals(pieces: ListedPieces) -> tuple[Tensor, Tensor]:
    """`ids, answers = asked_for_capitals(pieces)` are a text for each country, (15, 5), and its next piece."""
    ids = torch.tensor([pieces.encode(f"The capital of {country} is") for country in CAPITALS])
    return ids, torch.tensor([pieces.encode(f" {capital}")[0] for capital in CAPITALS.values()])


def of_capitals(model: Today, ids: Tensor, answers: Tensor) -> Tensor:
    """`of_capitals(model, *asked_for_capitals(pieces))` is the log of each capital's chance, (15,)."""
    with torch.no_grad():
        logs = model(ids)[:, -1].log_softmax(-1)
    return logs.gather(1, answers[:, None])[:, 0]


def capitals(seed: int) -> dict[str, Tensor]:
    """Nats that a capital loses on average without each head, (layers, heads)."""
    model, pieces = real()
    asked = asked_for_capitals(pieces)
    lost = torch.zeros(len(model.blocks), attentions(model)[0].heads)
    for layer, head in torch.cartesian_prod(*map(torch.arange, lost.shape)).tolist():
        with without(model, [(layer, head)]):
            lost[layer, head] = -of_capitals(model, *asked).mean()
    return {"capitals": lost + of_capitals(model, *asked).mean()}


# ---- windows ----


def alone(place: int, n: int) -> Mask:
    """A window and one more place in sight of all behind it, which itself sees nothing before it."""
    visible = window(n, SIGHT)
    visible[..., place] = causal(n)[..., place]
    visible[:, place] = False
    visible[:, place, place] = True
    return visible


def sights(n: int) -> dict[str, Mask]:
    """What each place sees, under the names of the chapter."""
    another, without_first = window(n, SIGHT), causal(n).clone()
    another[..., 10] = causal(n)[..., 10]
    without_first[..., 0] = torch.eye(n, dtype=torch.bool)[0]
    return {
        "all": causal(n),
        "a window": window(n, SIGHT),
        "and the first": window(n, SIGHT, sinks=1),
        "and the first four": window(n, SIGHT, sinks=4),
        "and the eleventh": another,
        "and the eleventh, alone": alone(10, n),
        "all but the first": without_first,
    }


def by_sight(costs: Tensor) -> dict[str, float]:
    """`by_sight(notes["windows"])` are the means over texts, under the names of a figure."""
    names = [*sights(2), "a window, read anew"]
    return dict(zip(names, costs.mean(1).tolist(), strict=True))


def windows(seed: int) -> dict[str, Tensor]:
    """Nats a piece from place 100 on, (sights, texts), and of a window that is read anew."""
    model, pieces = real()
    rows = long_rows(pieces, ROW, count=16, seed=seed)
    each = [
        torch.stack([nats(model, row, visible)[100:].mean() for row in rows])
        for visible in sights(ROW - 1).values()
    ]
    anew = [losses(model, row, SIGHT, at_once=1)[100:].mean() for row in rows]
    return {"windows": torch.stack([*each, torch.stack(anew)])}


# ---- what it may have read ----

VERSION = re.compile(r"^\.\. versionadded::\s*v?(\d+)\.(\d+)", re.MULTILINE)
# The first versions that came out after SmolLM2 did, in November 2024.
LATER = {"numpy": (2, 2), "pandas": (3, 0), "matplotlib": (3, 10)}


def read_before(seed: int) -> dict[str, Tensor]:
    """Bits a byte of texts by when they came, by SmolLM2 and by our GPT, (texts, 3): later or not, and both."""
    model, pieces = real()
    cut, gpt = small.pieces(), small.gpt()
    weights.load("a_gpt_of_your_own/gpt", gpt)
    found = []
    for package, later in LATER.items():
        texts = [*docstrings.read(package), *docstrings.read(package, held_out=True)]
        for text in docstrings.without_copies(texts):
            version = VERSION.search(text)
            ids = pieces.encode(text)[:256]
            if version is None or len(ids) < 64:
                continue
            start = len(pieces.decode(ids[:1]).encode())
            size = len(pieces.decode(ids).encode()) - start
            ours = torch.tensor(cut.encode(pieces.decode(ids)))
            theirs_cost, our_cost = nats(model, torch.tensor(ids)).sum(), losses(gpt, ours, small.CONTEXT).sum()
            since = tuple(map(int, version.groups())) >= later
            found.append([since, theirs_cost / size / 0.6931, our_cost / size / 0.6931])
    return {"read before": torch.tensor(found)}


def measured(seed: int) -> tuple[nn.Module, History]:
    """All of it, as notes."""
    torch.set_num_threads(1)
    history = History()
    for measure in (race, fewer_bits, heads_removed, capitals, windows, read_before):
        history.notes |= measure(seed)
    return nn.Module(), history


RECIPES = {"measured": measured}
