"""What this chapter trains: a model of today, and each change by itself."""

import math
from collections.abc import Callable

import torch
from torch import nn

from attnlab.today.model import Today
from attnlab.training.history import History
from attnlab.training.run import Run, bits_per_byte, losses
from chapters.a_gpt_of_your_own.models import CONTEXT, VOCABULARY, Reading, in_bits, learned, some_of
from chapters.the_block_of_today.mixed import KINDS, Mixed, fitted

# After 500 updates of `today` from one start: 2.23 bits a byte at 2e-3, 2.13 at 4e-3, 2.11 at 8e-3. The
# higher one was not tried at full length.
RATE, UPDATES = 4e-3, 4000


def today() -> Today:
    """`today()` has 547,000 weights, as many as the GPT of *A GPT of your own*, not trained yet."""
    return Today(
        VOCABULARY, d_model=96, heads=6, groups=2, hidden=320, layers=3, longest=CONTEXT, spread=spread(96)
    )


def spread(d_model: int) -> float:
    """`spread(768)` is GPT-2's 0.02; in shorter vectors it is larger."""
    return 0.02 * math.sqrt(768 / d_model)


def trained(model: Today, updates: int, rate: float, seed: int) -> tuple[nn.Module, History]:
    """`model, history = trained(today(), 4000, 4e-3, seed=0)` reads 8 crops of 128 ids at a time."""
    texts, _ = learned()
    run = Run(model, texts.training, updates=updates, rate=rate, rows=8, seed=seed)
    run.go(updates)
    bits = in_bits(run.model, texts)
    history = History(run.losses, training_losses=[bits])
    history.notes = {"bits": torch.tensor(bits)}
    return run.model, history


def recipe(seed: int) -> tuple[nn.Module, History]:
    """`model, history = recipe(seed=0)` is the model of today, which later chapters open."""
    torch.manual_seed(seed)
    return trained(today(), UPDATES, RATE, seed)


# ---- each change by itself ----

LENGTH = 64  # ids of a crop
# How many updates take each kind as many seconds of the processor as 600 take the block of 2017. An untied
# model is quick: its networks, narrow enough to pay for a second table, cost less than a table does.
UPDATES_OF = {
    "2017": 600, "norm first": 610, "RMSNorm": 620, "SwiGLU": 580, "rotary": 580, "2 groups": 610,
    "no biases": 605, "untied": 790, "today": 575, "today, norm behind": 575, "today, untied": 745,
}  # fmt: skip
# The best for each kind of three or more, each twice the last, at seed 0.
RATES_OF = dict.fromkeys(KINDS, 4e-3) | {"norm first": 8e-3}


def changed(name: str, rate: float, seed: int, texts: Reading) -> float:
    """`changed("rotary", 2e-3, seed=0, texts=texts)` are the bits per byte of one such training."""
    torch.manual_seed(seed)
    model = fitted(KINDS[name], VOCABULARY, d_model=96, heads=6, layers=3, spread=spread(96))
    return after(model, UPDATES_OF[name], rate, seed, texts)


def narrow(seed: int, texts: Reading) -> float:
    """`narrow(seed=0, texts=texts)` has one table, and else the widths and updates of the untied one."""
    torch.manual_seed(seed)
    model = Mixed(VOCABULARY, d_model=96, heads=6, hidden=44, layers=3, kind=KINDS["2017"], spread=spread(96))
    return after(model, UPDATES_OF["untied"], RATES_OF["2017"], seed, texts)


def after(model: nn.Module, updates: int, rate: float, seed: int, texts: Reading) -> float:
    """`after(model, 600, 4e-3, seed=0, texts=texts)` are its bits per byte after that many updates."""
    run = Run(model, texts.training, updates=updates, rate=rate, rows=8, length=LENGTH, seed=seed)
    run.go(updates)
    some = some_of(texts)
    return bits_per_byte(losses(model, some.validation, LENGTH), some.bytes)


def changes(seed: int) -> tuple[nn.Module, History]:
    """`_, history = changes(seed=0)` trains one of each kind. What is kept of them is what they came to."""
    texts, _ = learned()
    bits = [changed(name, RATES_OF[name], seed, texts) for name in KINDS]
    history = History(training_losses=bits)
    history.notes = {"bits": torch.tensor(bits)}
    return nn.Module(), history


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {"today": recipe, "changes": changes}
