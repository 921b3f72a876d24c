"""What this chapter trains: a GPT, its rivals, smaller and larger ones, and what was noted of each."""

import math
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.corpora import docstrings
from attnlab.corpora.pieces import Pieces, learn
from attnlab.decoding import chances, written
from attnlab.runtime import generator
from attnlab.training.history import History
from attnlab.training.run import Run, bits_per_byte, losses, row_of
from attnlab.transformer import GPT
from bookkit import weights
from chapters.a_gpt_of_your_own.copies import longest_copy, repeated
from chapters.a_gpt_of_your_own.rivals import KneserNey, Recurrent, from_memory, packed_bits

VOCABULARY, CONTEXT = 2048, 128
LITTLE = ("networkx",)  # a tenth of the text
DIGEST = "0c911be1"  # of its texts, in the version that the book pins
ORDERS = (1, 2, 3, 4, 5)
# Found by the sweep, for a batch of 8 crops.
RATES = {"gpt": 4e-3, "lstm": 2e-2}
SWEPT = {"gpt": (1e-3, 2e-3, 4e-3, 8e-3), "lstm": (5e-3, 1e-2, 2e-2, 4e-2)}
SWEEP_UPDATES = 1000
UPDATES = {"gpt": 9000, "lstm": 10000}  # about as many seconds of the processor


class Reading(NamedTuple):
    """`reading(LITTLE).training` is a row of ids; with `.validation` goes `.bytes`, the size of its text."""

    training: Tensor
    validation: Tensor
    bytes: int


def read(training: Sequence[str], validation: Sequence[str], cut: Pieces) -> Reading:
    """`read(training, validation, pieces())` puts each into one row, every text with its end."""
    row, unseen = (row_of(map(cut.encode, texts), cut.end) for texts in (training, validation))
    return Reading(row, unseen, len("".join(validation).encode()))


@cache
def pieces() -> Pieces:
    """`pieces()` are those of the stored model."""
    return Pieces(weights.notes("a_gpt_of_your_own/gpt")["merges"].long().tolist())


def gpt(d_model: int = 96, dropout: float = 0.0) -> GPT:
    """`gpt()` has 545,000 weights, not trained yet.

    GPT-2's spread of 0.02 is for vectors of 768 numbers. In shorter ones it is larger, as 1/√d_model.
    """
    spread = 0.02 * math.sqrt(768 / d_model)
    return GPT(VOCABULARY, d_model, max(1, d_model // 32), 3, CONTEXT, dropout, spread)


def lstm() -> Recurrent:
    """`lstm()` has as many weights as `gpt()`, to one in a hundred."""
    return Recurrent(VOCABULARY, width=163)


MODELS: dict[str, Callable[[], nn.Module]] = {"gpt": gpt, "lstm": lstm}


def in_bits(model: nn.Module, texts: Reading, context: int = CONTEXT) -> float:
    """`in_bits(model, texts)` are its bits per byte of the validation text, read in windows of `context`."""
    return bits_per_byte(losses(model, texts.validation, context), texts.bytes)


def some_of(texts: Reading, parts: int = 8) -> Reading:
    """`some_of(texts)` is judged on an eighth of the validation row, taken from eight places."""
    share = len(texts.validation) // parts**2
    row = torch.cat([part[:share] for part in texts.validation.chunk(parts)])
    return texts._replace(validation=row, bytes=texts.bytes * len(row) // len(texts.validation))


def judged(texts: Reading) -> Reading:
    """`judged(texts)` is what a training is asked for on its way: of a long validation row some parts.

    Of a short one they would be so short that their first pieces, which see other texts, weighed.
    """
    return some_of(texts) if len(texts.validation) > 100_000 else texts


def followed(run: Run, texts: Reading, notes: int = 20) -> Tensor:
    """`followed(run, texts)` trains to the end. Noted on the way, (20, 4): updates, seconds of the
    processor, bits a byte of what it is `judged` by, and of what was just trained on.
    """
    some, noted = judged(texts), []
    bits = len(texts.validation) / texts.bytes / math.log(2)  # a nat a piece, in bits a byte
    for note in range(1, notes + 1):
        before = run.done
        run.go(run.updates * note // notes - before)
        recent = sum(run.losses[before:]) / (run.done - before) * bits
        noted.append([run.done, run.seconds, in_bits(run.model, some), recent])
    return torch.tensor(noted)


def trained(name: str, texts: Reading, seed: int, **more: Any) -> tuple[nn.Module, Tensor, list[float]]:
    """`model, noted, losses = trained("gpt", texts, seed=0)` reads 8 crops of 128 ids at each update."""
    torch.manual_seed(seed)
    model = MODELS[name]()
    settings = {"updates": UPDATES[name], "rate": RATES[name], "rows": 8, "seed": seed} | more
    run = Run(model, texts.training, **settings)
    return model, followed(run, texts), run.losses


def counted(texts: Reading, orders: Sequence[int] = ORDERS) -> Tensor:
    """`counted(texts)` are the n-grams' seconds and bits per byte, (orders, 2)."""
    noted = []
    for order in orders:
        started = time.process_time()
        chances = KneserNey(texts.training, order).chances(texts.validation, VOCABULARY)
        seconds = time.process_time() - started
        noted.append([seconds, float(-np.log2(chances[1:]).sum()) / texts.bytes])
    return torch.tensor(noted)


def remembered(model: nn.Module, texts: Reading) -> Tensor:
    """`remembered(model, texts)` are bits per byte with a memory: of 5-grams, the model, half of each."""
    grams = KneserNey(texts.training, ORDERS[-1]).chances(texts.validation, VOCABULARY)
    learned = np.ones(len(texts.validation))
    learned[1:] = (-losses(model, texts.validation, CONTEXT)).exp().numpy()
    both = [from_memory(texts.validation, each, CONTEXT) for each in (grams, learned)]
    mixed = (both[0] + learned) / 2
    return torch.tensor([float(-np.log2(each[1:]).sum()) / texts.bytes for each in (*both, mixed)])


# ---- what a model writes ----


def likeliest(logits: Tensor) -> Tensor:
    """`likeliest(logits)` gives all chances to the likeliest piece."""
    return F.one_hot(logits.argmax(-1), logits.shape[-1]).float()


# How the next piece is chosen.
CHOOSING: dict[str, Callable[[Tensor], Tensor]] = {
    "the likeliest": likeliest,
    "temperature 1": chances,
    "temperature 0.8, top-p 0.9": partial(chances, temperature=0.8, top_p=0.9),
}
STARTS, GIVEN, WRITTEN = 24, 16, 96


def starts_of(texts: Reading, end: int) -> Tensor:
    """`starts_of(texts, pieces().end)` are the first 16 pieces of 24 held-out texts, (24, 16)."""
    return torch.stack([ids[:GIVEN] for ids in some_texts(texts, end)])


def behind_starts(texts: Reading, end: int) -> list[list[int]]:
    """`behind_starts(texts, pieces().end)` is what stands there behind those starts, up to 96 pieces each."""
    return [before_end(ids[GIVEN : GIVEN + WRITTEN], end) for ids in some_texts(texts, end)]


def some_texts(texts: Reading, end: int) -> list[Tensor]:
    """`some_texts(texts, pieces().end)` are 24 held-out texts of 16 pieces or more, and what follows them."""
    ends = (texts.validation == end).nonzero()[:, 0].tolist()
    begun = [texts.validation[place + 1 :] for place in ends[:-1]]
    whole = [ids for ids in begun if len(ids) >= GIVEN and end not in ids[:GIVEN].tolist()]
    return whole[:: len(whole) // STARTS][:STARTS]


def before_end(ids: Tensor, end: int) -> list[int]:
    """`before_end(torch.tensor([5, 7, 0, 9]), end=0)` is [5, 7]."""
    row: list[int] = ids.tolist()
    return row[: row.index(end)] if end in row else row


def by_heart(model: GPT, texts: Reading, cut: Pieces, read: str) -> dict[str, Tensor]:
    """`by_heart(model, texts, cut, read)` is what it writes behind 24 starts, and what of it is copied.

    Written by each way of CHOOSING, (3, 24, 112) ids; the longest copy's length in characters, and how often
    it stands in what was read (up to 10,000 times), (3, 24, 2); the share of runs of four ids that repeat;
    the longest copies' lengths in what people wrote behind the same starts, (24,).
    """
    starts, rows, copied, looped = starts_of(texts, cut.end), [], [], []
    of_people = [len(longest_copy(cut.decode(ids), read)) for ids in behind_starts(texts, cut.end)]
    for choose in CHOOSING.values():
        ids = written(model, starts, WRITTEN, generator(0), CONTEXT, choose)
        new = [before_end(row[GIVEN:], cut.end) for row in ids]
        found = [longest_copy(cut.decode(row), read) for row in new]
        rows.append(ids)
        copied.append([[len(each), min(10_000, read.count(each))] for each in found])
        looped.append([repeated(row) for row in new])
    return {
        "written": torch.stack(rows),
        "copied": torch.tensor(copied),
        "looped": torch.tensor(looped),
        "copied by people": torch.tensor(of_people),
    }


# ---- what `make models` trains ----


@cache
def learned(packages: tuple[str, ...] = docstrings.PACKAGES) -> tuple[Reading, Pieces]:
    """`texts, cut = learned()` reads all texts, and learns the merges from those that are trained on."""
    training, validation = docstrings.split(packages)
    cut = Pieces(learn("\n".join(training), VOCABULARY))
    return read(training, validation, cut), cut


@cache
def little() -> Reading:
    """`little()` is a tenth of the text, in the pieces of all of it."""
    return read(*docstrings.split(LITTLE), learned()[1])


def recipe(name: str, seed: int) -> tuple[nn.Module, History]:
    """`model, history = recipe("gpt", seed=0)` trains on all the texts, and once more on a tenth of them."""
    texts, cut = learned()
    model, noted, losses = trained(name, texts, seed)
    of_little, noted_of_little, _ = trained(name, little(), seed, updates=UPDATES[name] // 4)
    history = History(losses, noted[:, 3].tolist())
    history.notes = {"noted": noted, "little": noted_of_little, "swept": swept(name, texts, seed)}
    history.notes |= {"bits": torch.tensor(in_bits(model, texts))}
    history.notes |= {"bits, little": torch.tensor(in_bits(of_little, little()))}
    if isinstance(model, GPT):
        training = "\n".join(docstrings.split()[0])
        history.notes |= {"merges": torch.tensor(cut.merges), "characters": characters()}
        history.notes |= {"counted": counted(texts), "counted, an eighth": counted(judged(texts))}
        history.notes |= {"counted, little": counted(little())}
        history.notes |= {"remembered": remembered(model, texts)}
        history.notes |= {"packed": packed(), **by_heart(model, texts, cut, training)}
    return model, history


def characters() -> Tensor:
    """`characters()` are the thousands of characters of each package, read and kept, (packages, 2)."""
    texts = [docstrings.read(package) for package in docstrings.PACKAGES]
    return torch.tensor(
        [[sum(map(len, some)) / 1000 for some in (each, docstrings.without_copies(each))] for each in texts]
    )


def packed() -> Tensor:
    """`packed()` are the seconds and bits per byte of xz, of all texts and of the tenth, (2, 2)."""
    noted = []
    for packages in (docstrings.PACKAGES, LITTLE):
        training, validation = ("\n".join(texts) for texts in docstrings.split(packages))
        started = time.process_time()
        bits = packed_bits(training, validation)
        noted.append([time.process_time() - started, bits])
    return torch.tensor(noted)


def swept(name: str, texts: Reading, seed: int) -> Tensor:
    """`swept("gpt", texts, seed=0)` are the bits per byte after 1000 updates at each rate of SWEPT."""
    noted = []
    for rate in SWEPT[name]:
        torch.manual_seed(seed)
        run = Run(MODELS[name](), texts.training, updates=SWEEP_UPDATES, rate=rate, rows=8, seed=seed)
        run.go(SWEEP_UPDATES)
        noted.append(in_bits(run.model, some_of(texts)))
    return torch.tensor(noted)


class Trial(NamedTuple):
    """`Trial(d_model=96, updates=1800, texts=1)` is one training of `growth`; texts is a share of them."""

    d_model: int
    updates: int
    texts: float
    dropout: float = 0.0
    decay: float = 0.1


CROP = 64  # ids
WIDTHS, LENGTHS, SHARES = (8, 16, 32, 96), (60, 200, 600, 1800), (1 / 30, 0.1, 0.3)
TRIALS = (
    *(Trial(width, length, 1.0) for width in WIDTHS for length in LENGTHS),
    *(Trial(96, 1800, share) for share in SHARES),
    Trial(96, 1800, 1 / 30, dropout=0.2),
    Trial(96, 1800, 1 / 30, decay=1.0),
)


def growth(seed: int) -> tuple[nn.Module, History]:
    """`model, history = growth(seed=0)` trains by all TRIALS, on crops of 64 ids; kept is the smallest.

    Each is judged in windows as long as its crops, and in windows of 128, half of whose places have learned
    nothing. Each size has a rate of its own: with half of it or twice as much, none came out better by more
    than .05.
    """
    texts, _ = learned()
    noted, kept = [], gpt(WIDTHS[0])
    for trial in TRIALS:
        torch.manual_seed(seed)
        model = gpt(trial.d_model, trial.dropout)
        row = torch.cat([part[: int(trial.texts * len(part))] for part in texts.training.chunk(30)])
        run = Run(
            model, row, updates=trial.updates, rate=RATES["gpt"] * 96 / trial.d_model, rows=8, length=CROP,
            warm_up=min(100, trial.updates // 10), decay=trial.decay, seed=seed,
        )  # fmt: skip
        run.go(trial.updates)
        count = sum(weight.numel() for weight in model.parameters())
        recent = sum(run.losses[-50:]) / len(run.losses[-50:])
        judged_by = (in_bits(model, some_of(texts), context) for context in (CROP, CONTEXT))
        noted.append([count / 1000, len(row) / 1000, run.seconds, *judged_by, recent])
        if trial == TRIALS[len(LENGTHS) - 1]:
            kept = model
    history = History(training_losses=[bits for _, _, _, bits, _, _ in noted])
    history.notes = {"noted": torch.tensor(noted)}
    return kept, history


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {
    **{name: partial(recipe, name) for name in MODELS},
    "growth": growth,
}
