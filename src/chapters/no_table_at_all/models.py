"""What this chapter trains, at equal weights: models of today with states in the place of attention."""

from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.today.model import Today
from attnlab.today.state import with_states
from attnlab.training.history import History
from chapters.a_gpt_of_your_own.models import learned
from chapters.fewer_keys_or_none.models import HEADS, after
from chapters.looking_inside.models import LENGTH, SYMBOLS, UNSEEN, repeated, trained
from chapters.the_block_of_today.models import spread, today

# Which layers of the three have a state; of the two that solve riddles, likewise.
KINDS: dict[str, Sequence[int]] = {"attention": (), "states": (0, 1, 2), "hybrid": (0, 1)}
RIDDLERS: dict[str, Sequence[int]] = {"states": (0, 1), "hybrid": (0,)}
# The best of three or more, each twice the last, at seed 0; only states need .011 bits less at 1.6e-2.
RATES = {"attention": 8e-3, "states": 8e-3, "hybrid": 8e-3}
RIDDLE_RATES = {"states": 2e-2, "hybrid": 5e-3}
PERIODS = ((8, 12), (13, 18), (19, 24))


def reader(kind: str) -> Today:
    """`reader("hybrid")` has 547,000 weights, like `today()`: networks beside a state are narrower."""
    layers = KINDS[kind]
    return with_states(today(), layers, HEADS, hidden=269, spread=spread(96)) if layers else today()


def riddler(layers: Sequence[int], rate: float, seed: int, updates: int = 600) -> Today:
    """`riddler((0,), 5e-3, seed=0)` learns the riddle of *Looking inside* in as many updates."""
    torch.manual_seed(seed)
    model = Today(len(SYMBOLS), 64, 4, 4, hidden=128, layers=2, longest=LENGTH, spread=spread(64))
    if layers:
        with_states(model, layers, heads=4, hidden=112, spread=spread(64))
    source = generator(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda update: min((update + 1) / 50, max(0, updates - update) / (updates - 50))
    )
    for _ in range(updates):
        words = repeated(32, source).words
        loss = F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    return model


@torch.no_grad()
def solved(model: nn.Module) -> list[float]:
    """`solved(riddler((0,), 5e-3, seed=0))` is what share is right where it can be known, by PERIODS."""
    read = repeated(64, generator(UNSEEN))
    right = model(read.words)[:, :-1].argmax(-1) == read.words[:, 1:]  # (B, T - 1)
    rows = [(read.periods >= low) & (read.periods <= high) for low, high in PERIODS]  # (B, 1) each
    return [right[read.known[:, :-1] & some].float().mean().item() for some in rows]


def states(seed: int) -> tuple[nn.Module, History]:
    """`_, history = states(seed=0)` trains one of each kind on texts, and one on riddles; notes are kept."""
    texts, _ = learned()
    noted = []
    for kind, rate in RATES.items():
        torch.manual_seed(seed)
        noted.append(after(reader(kind), rate, seed, texts))
    right = [solved(trained(2, seed)[0])]
    right += [solved(riddler(RIDDLERS[kind], rate, seed)) for kind, rate in RIDDLE_RATES.items()]
    history = History(training_losses=[noted[-1][1]])
    history.notes = {"noted": torch.tensor(noted), "right": torch.tensor(right)}
    return nn.Identity(), history


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {"states": states}
