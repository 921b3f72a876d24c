"""What takes minutes and is measured once: its rivals, fewer bits, heads taken out, windows."""

import math
import re
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import Cache
from attnlab.corpora import docstrings
from attnlab.corpora.listed import ListedPieces
from attnlab.decoding import chances
from attnlab.masks import causal, window
from attnlab.runtime import generator
from attnlab.shapes import Mask
from attnlab.today import opened
from attnlab.today.gguf import BLOCK, File
from attnlab.today.looks import attentions, without
from attnlab.today.model import Today
from attnlab.training.history import History
from attnlab.training.run import bits_per_byte, losses, row_of
from bookkit import weights
from chapters.a_gpt_of_your_own import models as small
from chapters.a_gpt_of_your_own.rivals import KneserNey, from_memory

SIGHT = 64  # pieces, the window of the chapter
ROW = 512  # pieces of a text
JUDGED = 100  # the first place whose cost counts, where windows are compared
BITS = (8, 4, 3, 2)
KINDS = (
    "attention.query", "attention.key", "attention.value", "attention.write",
    "network.gate", "network.widen", "network.narrow",
)  # fmt: skip


_read: list[tuple[Today, ListedPieces]] = []


def real() -> tuple[Today, ListedPieces]:
    """`model, pieces = real()` is SmolLM2, in memory once for all who ask."""
    if not _read:
        file = File(opened.wheel())
        keep(opened.model(file), opened.pieces(file))
    return _read[0]


def keep(model: Today, pieces: ListedPieces) -> None:
    """`keep(model, pieces)` hands over what the page has read itself: two of them would take a gigabyte."""
    _read[:] = [(model, pieces)]


def nats(model: Today, row: Tensor, visible: Mask | None = None) -> Tensor:
    """`nats(model, row)` is what each of a row's ids but the first costs, (T - 1,)."""
    with torch.no_grad():
        return F.cross_entropy(model(row[None, :-1], visible=visible)[0], row[1:], reduction="none")


def long_rows(
    pieces: ListedPieces,
    length: int,
    count: int,
    seed: int = 0,
    packages: Sequence[str] = docstrings.PACKAGES,
) -> Tensor:
    """`long_rows(pieces, 512, count=16)` are the first 512 pieces of 16 held-out docstrings, (16, 512)."""
    texts = [text for name in packages for text in docstrings.read(name, held_out=True)]
    rows = [pieces.encode(text)[:length] for text in docstrings.without_copies(texts, most=0.1)]
    enough = torch.tensor([row for row in rows if len(row) == length])
    return enough[torch.randperm(len(enough), generator=generator(seed))[:count]]


# ---- how it answers ----

QUESTION = "What is the capital of France?"
TEMPERATURES = (0.3, 1.0, 1.5)
DRAWN = 200  # answers at each


@torch.no_grad()
def drawn(seed: int, count: int = DRAWN) -> dict[str, Tensor]:
    """`drawn(seed=0)["drawn"]` are the shares of 200 answers that name Paris, by TEMPERATURES."""
    model, pieces = real()
    asked = torch.tensor([opened.chat(pieces, [{"role": "user", "content": QUESTION}])])
    named = []
    for temperature in TEMPERATURES:
        source, caches = generator(seed), [Cache() for _ in model.blocks]
        logits = model(asked, caches)[:, -1].expand(count, -1)
        for cache in caches:
            cache.keys, cache.values = (
                each.expand(count, -1, -1, -1) for each in (cache.keys, cache.values) if each is not None
            )
        answers = torch.multinomial(chances(logits, temperature), 1, generator=source)
        while answers.shape[1] < 30:
            logits = model(answers[:, -1:], caches)[:, -1]
            new = torch.multinomial(chances(logits, temperature), 1, generator=source)
            answers = torch.cat([answers, new], dim=1)
        stays = (answers == pieces.special["<|im_end|>"]).cumsum(1) == 0
        texts = [pieces.decode(row[own].tolist()) for row, own in zip(answers, stays, strict=True)]
        named.append(sum("Paris" in text for text in texts) / count)
    return {"drawn": torch.tensor(named)}


# ---- what it is worth ----


def race(seed: int) -> dict[str, Tensor]:
    """`race(seed=0)["GPT"]` are bits a byte of every eighth held-out text, beside `["kilobytes"]`."""
    training, validation = docstrings.split()
    texts = validation[seed % 8 :: 8]
    kilobytes = torch.tensor([len(text.encode()) / 1000 for text in texts])
    model, pieces = real()
    cut, gpt = small.pieces(), small.gpt()
    weights.load("a_gpt_of_your_own/gpt", gpt)
    ours = row_of(map(cut.encode, texts), cut.end)
    counted = KneserNey(row_of(map(cut.encode, training), cut.end), order=5).chances(ours, len(cut))
    remembering = torch.as_tensor(from_memory(ours, counted))[1:]
    of_gpt = losses(gpt, ours, small.CONTEXT)
    costs = {
        "5-gram": -torch.as_tensor(counted)[1:].log(),
        "5-gram, remembering": -remembering.log(),
        "GPT": of_gpt,
        "half of each": -(remembering / 2 + (-of_gpt).exp() / 2).log(),
    }
    nats = {name: by_text(each, ours, cut.end) for name, each in costs.items()}
    end = pieces.special["<|endoftext|>"]
    theirs = row_of(map(pieces.encode, texts), end)
    for length in (small.CONTEXT, ROW):
        nats[f"SmolLM2, {length}"] = by_text(losses(model, theirs, length, at_once=1), theirs, end)
    bits = {name: each / math.log(2) / kilobytes / 1000 for name, each in nats.items()}
    return {**bits, "kilobytes": kilobytes}


def by_text(costs: Tensor, row: Tensor, end: int) -> Tensor:
    """`by_text(costs, row, end=0)` is what each text in a row costs; its first id costs nothing."""
    text = (row == end).cumsum(0).roll(1)
    text[0] = 0
    return torch.zeros(int(text[-1]) + 1).index_add_(0, text[1:], costs.float())


def bits_a_byte(noted: Mapping[str, Tensor]) -> dict[str, float]:
    """`bits_a_byte(notes)["GPT"]` is over all texts together."""
    sizes = noted["kilobytes"]
    names = ("5-gram", "GPT", "5-gram, remembering", "half of each", "SmolLM2, 128", "SmolLM2, 512")
    return {name: float((noted[name] * sizes).sum() / sizes.sum()) for name in names}


# ---- fewer bits ----


def rounded(matrix: Tensor, bits: int, share: int) -> Tensor:
    """`rounded(matrix, bits=4, share=32)` keeps 16 steps of each 32 numbers in a row."""
    blocks = matrix.reshape(-1, share)  # (blocks, share)
    least = blocks.amin(1, keepdim=True)
    step = (blocks.amax(1, keepdim=True) - least).clamp(min=1e-12) / (2**bits - 1)
    return blocks.sub(least).div_(step).round_().mul_(step).add_(least).reshape(matrix.shape)


def changed(model: Today, change: Callable[[Tensor], Tensor], names: Sequence[str], rows: Tensor) -> float:
    """`changed(model, torch.zeros_like, ["pieces"], rows)` is what a piece costs then; all is put back."""
    parts = [model.get_parameter(f"{name}.weight") for name in names]
    kept = [part.data for part in parts]
    for part in parts:
        part.data = change(part.data)
    cost = torch.stack([nats(model, row) for row in rows]).mean().item()
    for part, weight in zip(parts, kept, strict=True):
        part.data = weight
    return cost


def fewer_bits(seed: int) -> dict[str, Tensor]:
    """`fewer_bits(seed=0)["blocks"]` are nats a piece by BITS; "by block" and "by kind" are of 2 bits."""
    model, pieces = real()
    rows = long_rows(pieces, 256, count=8, seed=seed)
    names = [[f"blocks.{block}.{kind}" for kind in KINDS] for block in range(len(model.blocks))]
    every = [name for of_block in names for name in of_block]
    ways: dict[str, Callable[[Tensor, int], Tensor]] = {
        "blocks": lambda matrix, bits: rounded(matrix, bits, BLOCK),
        "across": lambda matrix, bits: rounded(matrix.T.contiguous(), bits, BLOCK).T.contiguous(),
        "rows": lambda matrix, bits: rounded(matrix, bits, matrix.shape[1]),
    }

    def cost(way: str, bits: int, of: Sequence[str]) -> float:
        return changed(model, lambda matrix: ways[way](matrix, bits), of, rows)

    return {
        "as it is": torch.tensor([cost("blocks", 8, [])]),
        **{way: torch.tensor([cost(way, bits, every) for bits in BITS]) for way in ways},
        "table": torch.tensor([cost("blocks", bits, ["pieces"]) for bits in BITS]),
        "by block": torch.tensor([cost("blocks", 2, of_block) for of_block in names]),
        "by kind": torch.tensor([cost("blocks", 2, of_kind) for of_kind in zip(*names, strict=True)]),
    }


# ---- heads taken out ----

# Countries that are one piece, and whose capital the model names.
CAPITALS = {
    "France": "Paris", "Italy": "Rome", "Japan": "Tokyo", "Germany": "Berlin", "Spain": "Madrid",
    "Russia": "Moscow", "China": "Beijing", "Greece": "Athens", "Norway": "Oslo", "Cuba": "Havana",
    "Ireland": "Dublin", "Austria": "Vienna", "Portugal": "Lisbon", "Sweden": "Stockholm",
    "England": "London",
}  # fmt: skip


def asked_for_capitals(pieces: ListedPieces) -> tuple[Tensor, Tensor]:
    """`ids, answers = asked_for_capitals(pieces)` are 15 texts (15, 5), and what comes next."""
    ids = torch.tensor([pieces.encode(f"The capital of {country} is") for country in CAPITALS])
    return ids, torch.tensor([pieces.encode(f" {capital}")[0] for capital in CAPITALS.values()])


def of_capitals(model: Today, ids: Tensor, answers: Tensor) -> Tensor:
    """`of_capitals(model, *asked_for_capitals(pieces))` is the log of each capital's chance, (15,)."""
    with torch.no_grad():
        logs = model(ids)[:, -1].log_softmax(-1)
    of_each: Tensor = logs.gather(1, answers[:, None])[:, 0]
    return of_each


def twice(seed: int, count: int = 40) -> Tensor:
    """`twice(seed=0)` are 40 pieces at random, and the same again, (1, 80)."""
    once = torch.randint(17, 49152, (1, count), generator=generator(seed))  # 0 to 16 are special
    return torch.cat([once, once], dim=1)


def heads_removed(seed: int) -> dict[str, Tensor]:
    """`heads_removed(seed=0)["copies"]` are nats a piece that each head's absence adds, (layers, heads)."""
    model, pieces = real()
    rows, asked, copy = long_rows(pieces, 256, count=4, seed=seed), asked_for_capitals(pieces), twice(seed)[0]
    measures: dict[str, Callable[[], Tensor]] = {
        "texts": lambda: torch.stack([nats(model, row) for row in rows]).mean(),
        "capitals": lambda: -of_capitals(model, *asked).mean(),
        "copies": lambda: nats(model, copy)[len(copy) // 2 :].mean(),
    }
    added = {name: torch.zeros(len(model.blocks), attentions(model)[0].heads) for name in measures}
    for name, measure in measures.items():
        whole = measure()
        for layer, head in torch.cartesian_prod(*map(torch.arange, added[name].shape)).tolist():
            with without(model, [(layer, head)]):
                added[name][layer, head] = measure() - whole
    return added


# ---- windows ----


def alone(place: int, n: int) -> Mask:
    """`alone(10, n=511)` is a window, and in sight of all behind it a place that sees nothing but itself."""
    visible = window(n, SIGHT)
    visible[..., place] = causal(n)[..., place]
    visible[:, place] = False
    visible[:, place, place] = True
    return visible


def sights(n: int) -> dict[str, Mask]:
    """`sights(511)["the last 64"]` is what each place sees."""
    another, without_first = window(n, SIGHT), causal(n).clone()
    another[..., 10] = causal(n)[..., 10]
    without_first[..., 0] = torch.eye(n, dtype=torch.bool)[0]
    return {
        "all": causal(n),
        "the last 64": window(n, SIGHT),
        "with the first": window(n, SIGHT, sinks=1),
        "with the first four": window(n, SIGHT, sinks=4),
        "with the eleventh": another,
        "with the eleventh, alone": alone(10, n),
        "all but the first": without_first,
    }


def by_sight(costs: Tensor) -> dict[str, float]:
    """`by_sight(notes["windows"])` are the means over texts, under the names of a figure."""
    names = [*sights(ROW), "the last 64, read anew"]
    return dict(zip(names, costs.mean(1).tolist(), strict=True))


def windows(seed: int) -> dict[str, Tensor]:
    """`windows(seed=0)["windows"]` are nats a piece, (sights, texts); the last sight is read anew."""
    model, pieces = real()
    rows = long_rows(pieces, ROW, count=16, seed=seed)
    each = [
        torch.stack([nats(model, row, visible)[JUDGED:].mean() for row in rows])
        for visible in sights(ROW - 1).values()
    ]
    anew = [losses(model, row, SIGHT, at_once=1)[JUDGED:].mean() for row in rows]
    return {"windows": torch.stack([*each, torch.stack(anew)])}


# ---- what it may have read ----

VERSION = re.compile(r"^\.\. versionadded::\s*v?(\d+)\.(\d+)", re.MULTILINE)
# The first versions that came out after SmolLM2 did, in November 2024.
LATER = {"numpy": (2, 2), "pandas": (3, 0), "matplotlib": (3, 10)}


def read_before(seed: int) -> dict[str, Tensor]:
    """`read_before(seed=0)["read before"]` has a row for each text: is it later, and bits a byte of both."""
    model, pieces = real()
    cut, gpt = small.pieces(), small.gpt()
    weights.load("a_gpt_of_your_own/gpt", gpt)
    found = []
    for package, later in LATER.items():
        texts = [*docstrings.read(package), *docstrings.read(package, held_out=True)]
        for text in docstrings.without_copies(texts):
            version, ids = VERSION.search(text), pieces.encode(text)[:256]
            if version is None or len(ids) < 64:
                continue
            ours = cut.encode(pieces.decode(ids))
            theirs = bits_per_byte(nats(model, torch.tensor(ids)), len(pieces.decode(ids[1:]).encode()))
            of_gpt = losses(gpt, torch.tensor(ours), small.CONTEXT)
            is_later = tuple(map(int, version.groups())) >= later
            found.append([is_later, theirs, bits_per_byte(of_gpt, len(cut.decode(ours[1:]).encode()))])
    return {"read before": torch.tensor(found)}


def measured(seed: int) -> tuple[nn.Module, History]:
    """`measured(0)` is all of it, as notes: half an hour of one core."""
    torch.set_num_threads(1)
    history = History()
    for measure in (drawn, race, fewer_bits, heads_removed, windows, read_before):
        history.notes |= measure(seed)
    history.training_losses.append(bits_a_byte(history.notes)["SmolLM2, 512"])  # it was trained by others
    return nn.Module(), history


RECIPES = {"measured": measured}
