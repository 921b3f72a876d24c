"""What this chapter trains: a small language model in a few variants, each from many seeds.

And what it asks the stored GPT, the LSTM and counted 5-grams: how many bits each held-out text costs.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnlab.corpora import agreement, docstrings
from attnlab.runtime import generator
from attnlab.training.history import History
from attnlab.training.run import losses
from attnlab.transformer import LanguageModel
from bookkit import weights
from chapters.a_gpt_of_your_own import models as gpt_models
from chapters.a_gpt_of_your_own.rivals import KneserNey
from chapters.the_transformer.models import WORDS, Texts, mean_loss, texts, warm_up_and_fall

SENTENCES, BATCH, UPDATES, WARM_UP = 4000, 32, 120, 20
UNSEEN = 1_000_000  # a seed that no training has
MANY, FEW = 1000, 50  # held-out sentences: enough to forget their error, and as few as one might have
SEEDS = 40  # of each variant


class Variant(NamedTuple):
    """`Variant(rate=6e-3)` is the training as it is, but for its rate."""

    rate: float = 5e-3
    heads: int = 4
    hidden: int = 48
    updates: int = UPDATES


VARIANTS = {
    "as it is": Variant(),
    "the same again": Variant(),  # from other seeds
    "rate 10 % higher": Variant(rate=5.5e-3),
    "rate 60 % higher": Variant(rate=8e-3),
    "one head": Variant(heads=1),
    "a wider network": Variant(hidden=64),
}
# The training as it is, with one of its two dice thrown anew.
DICE = ("other weights", "another order")


@cache
def read() -> Texts:
    """`read()` are the sentences that every training draws its batches from."""
    return texts(agreement.sentences(SENTENCES, generator(0)))


@cache
def held_out() -> Texts:
    """`held_out()` are 1,050 sentences that no training draws: 1,000, and 50 that stand for few."""
    return texts(agreement.sentences(MANY + FEW, generator(UNSEEN)))


def trained(variant: Variant, seed: int, order: int | None = None) -> tuple[LanguageModel, list[float]]:
    """`model, losses = trained(Variant(), seed=0)` takes half a second, and ends where its seed leads it.

    The seed decides on the first weights and on the order of the sentences. With `order` the two are apart.
    """
    torch.manual_seed(seed)
    model = LanguageModel(len(WORDS), d_model=24, heads=variant.heads, hidden=variant.hidden, layers=1)
    optimizer = torch.optim.Adam(model.parameters(), lr=variant.rate)
    warm_up_and_fall(optimizer, variant.updates, WARM_UP)
    source = generator(seed if order is None else order)
    noted = []
    for _ in range(variant.updates):
        drawn = torch.randint(SENTENCES, (BATCH,), generator=source)
        loss = mean_loss(model(read().previous[drawn]), read().targets[drawn])
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        noted.append(loss.item())
    return model.eval(), noted


@torch.no_grad()
def judged(model: nn.Module) -> tuple[float, float]:
    """`new, few = judged(model)` are its nats a word on 1,000 held-out sentences, and on 50 others."""
    logits, targets = model(held_out().previous), held_out().targets
    return mean_loss(logits[:MANY], targets[:MANY]).item(), mean_loss(logits[MANY:], targets[MANY:]).item()


# ---- what `make models` trains ----


def bank(seed: int) -> tuple[nn.Module, History]:
    """`_, history = bank(seed=0)` trains every variant from 40 seeds; only what was noted of them is kept.

    The losses on new text are the history's, one for each training: variants and dice in order, 40 of each.
    Noted are those of the variants on few sentences, as so much more.
    """
    first = 1000 * seed
    new, above = [], []
    for name, variant in VARIANTS.items():
        start = first + SEEDS * (name == "the same again")
        for each in range(start, start + SEEDS):
            model, _ = trained(variant, each)
            on_new, on_few = judged(model)
            new.append(on_new)
            above.append(on_few - on_new)
    for number in range(SEEDS):
        model, _ = trained(Variant(), seed=first + 100 + number, order=first + number)
        new.append(judged(model)[0])
    for number in range(SEEDS):
        model, _ = trained(Variant(), seed=first + number, order=first + 100 + number)
        new.append(judged(model)[0])
    history = History(training_losses=new)
    history.notes = {"few above new": torch.tensor(above).view(len(VARIANTS), SEEDS)}
    return nn.Identity(), history


# Four times as many updates, from fewer seeds: do two trainings forget that they began alike?
LONGER_SEEDS = 12
LONGER = {
    "as it is": (Variant(updates=4 * UPDATES), False),
    "rate 10 % higher": (Variant(rate=5.5e-3, updates=4 * UPDATES), False),
    "another order": (Variant(updates=4 * UPDATES), True),
}


def longer(seed: int) -> tuple[nn.Module, History]:
    """`_, history = longer(seed=0)` trains 12 seeds of each of LONGER; the losses are the history's."""
    first, new = 1000 * seed, []
    for variant, other_order in LONGER.values():
        for each in range(first, first + LONGER_SEEDS):
            model, _ = trained(variant, each, order=each + 100 if other_order else None)
            new.append(judged(model)[0])
    return nn.Identity(), History(training_losses=new)


def file_numbers(texts: Sequence[str]) -> Tensor:
    """`file_numbers(validation)` says of each held-out text which file it stands in, (texts,)."""
    file_of: dict[str, int] = {}
    number = 0
    for package in docstrings.PACKAGES:
        spec = find_spec(package)
        folder = Path(((spec and spec.submodule_search_locations) or [""])[0])
        for file in sorted(folder.rglob("*.py")):
            if docstrings.is_held_out(f"{package}/{file.relative_to(folder).as_posix()}"):
                number += 1
                file_of |= dict.fromkeys(docstrings.documented(file), number) | file_of
    return torch.tensor([file_of[text] for text in texts])


def by_text(seed: int) -> tuple[nn.Module, History]:
    """`_, history = by_text(seed=0)` asks the stored models what each held-out text costs, piece by piece.

    Noted for each text: its pieces, its kilobytes, the nats a piece of the GPT, the LSTM and the 5-gram, and
    the number of its file. Also, as means over its pieces, what leftovers are made of: squares of the GPT's
    nats, of LSTM minus GPT and of a piece's bytes, and products of both with these.
    """
    training, validation = docstrings.split()
    cut = gpt_models.pieces()
    everything = gpt_models.read(training, validation, cut)
    row = everything.validation
    columns = []
    for name, make in gpt_models.MODELS.items():
        model = make()
        weights.load(f"a_gpt_of_your_own/{name}", model, weights.STORED)
        columns.append(losses(model, row, gpt_models.CONTEXT))
    chances = KneserNey(everything.training, 5).chances(row, gpt_models.VOCABULARY)[1:]
    columns.append(-torch.as_tensor(chances).log().float())
    gpt, lstm, grams = columns
    # A text goes from behind the last end to its own; nobody is asked for the row's first piece.
    ends = (row == cut.end).nonzero().flatten().tolist()
    text = torch.bucketize(torch.arange(1, len(row)), torch.tensor(ends))
    count = torch.bincount(text).double()
    spelled = torch.tensor([len(cut.bytes[number]) for number in row[1:].tolist()]).double()

    def mean(nats: Tensor) -> Tensor:
        return torch.zeros(len(count)).double().index_add(0, text, nats.double()) / count

    kilobytes = torch.tensor([len(each.encode()) / 1000 for each in validation])
    history = History(training_losses=[float(gpt.mean())])
    history.notes = {
        "pieces": count,
        "kilobytes": kilobytes,
        "GPT": mean(gpt),
        "LSTM": mean(lstm),
        "5-gram": mean(grams),
        "GPT squared": mean(gpt**2),
        "LSTM minus GPT squared": mean((lstm - gpt) ** 2),
        "GPT times bytes": mean(gpt * spelled),
        "LSTM minus GPT times bytes": mean((lstm - gpt) * spelled),
        "bytes squared": mean(spelled**2),
        "file": file_numbers(validation),
    }
    return nn.Identity(), history


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {
    "bank": bank,
    "longer": longer,
    "by-text": by_text,
}
