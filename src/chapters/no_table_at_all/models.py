"""What this chapter trains, at equal weights: models of today with states in the place of attention."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.today.model import GroupedAttention, Today
from attnlab.today.state import REACH, State, with_states
from attnlab.training.history import History
from bookkit.training.die import Die, die_of
from bookkit.training.learner import Learner, loss_of, rate_at
from bookkit.training.tasks import task_of
from chapters.a_gpt_of_your_own.models import learned
from chapters.fewer_keys_or_none.models import HEADS, after
from chapters.looking_inside.models import LENGTH, SYMBOLS, UNSEEN, repeated, trained
from chapters.no_table_at_all.training import RECALL
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


class Near(nn.Module):
    """`Near(64, 0.24)` mixes each column of (B, T, 64) from four words, as a state does."""

    def __init__(self, width: int, spread: float) -> None:
        super().__init__()
        self.near = nn.Parameter(spread * torch.randn(width, REACH))

    def forward(self, made: Tensor) -> Tensor:
        """`near(queries)` has the shape of queries, (B, T, width)."""
        columns = F.pad(made.mT, (REACH - 1, 0))
        return made + F.conv1d(columns, self.near[:, None], groups=len(self.near)).mT


def exchanged(model: Today) -> None:
    """`exchanged(model)` takes the short convolution from its states, or gives it to attention alone."""
    layers = [block.attention for block in model.blocks]
    alone = all(isinstance(layer, GroupedAttention) for layer in layers)
    for layer in layers:
        if isinstance(layer, State):
            nn.init.zeros_(layer.near).requires_grad_(False)
        elif alone:
            for name in ("query", "key", "value"):
                setattr(layer, name, nn.Sequential(getattr(layer, name), Near(64, spread(64))))


def riddler(layers: Sequence[int], rate: float, seed: int, updates: int = 600, other: bool = False) -> Today:
    """`riddler((0,), 5e-3, seed=0)` learns the riddle of *Looking inside* in as many updates.

    With `other` the short convolution is where it is not else: see `exchanged`.
    """
    torch.manual_seed(seed)
    model = Today(len(SYMBOLS), 64, 4, 4, hidden=128, layers=2, longest=LENGTH, spread=spread(64))
    if layers:
        with_states(model, layers, heads=4, hidden=112, spread=spread(64))
    if other:
        exchanged(model)
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


def others() -> list[list[float]]:
    """`hybrid, states, attention = others()`: the first two without the short convolution, the last with."""
    kinds: tuple[tuple[Sequence[int], float], ...] = ((0,), 5e-3), ((0, 1), 2e-2), ((), 5e-3)
    return [solved(riddler(layers, rate, seed=0, other=True)) for layers, rate in kinds]


def features_of_learned_keys(seed: int) -> list[float]:
    """`start, end, below = features_of_learned_keys(seed=1)` goes the way of the page's own training.

    Start and end are mean cosines of two keys' features; below is the share of keys' numbers under 0 then.
    """
    settings = RECALL.settings("linear")
    training, task, length = settings["training"], task_of(settings["task"]), settings["task"]["length"]
    model, data = Learner(settings["model"], task, seed), die_of("data", seed)
    told = task.draw(Die(0), 64, length).ids[:, : length // 2]
    others = ~torch.eye(length // 2, dtype=torch.bool).expand(len(told), -1, -1)

    @torch.no_grad()
    def keys() -> tuple[Tensor, float]:
        words = F.embedding(told, model.parameters["words"]).sum(2)
        key = model.linear("layers.0.attention.key", words, settings["model"]["queryWidth"])
        each = F.normalize(F.elu(key) + 1, dim=-1)
        return key, (each @ each.mT)[others].mean().item()

    _, start = keys()
    optimizer = torch.optim.Adam(model.numbers(), betas=training["betas"])
    for step in range(training["steps"]):
        batch = task.draw(data, training["rows"], length)
        loss = loss_of(model.forward(batch.ids), batch, training["loss"])
        optimizer.param_groups[0]["lr"] = rate_at(step, training)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
    key, end = keys()
    return [start, end, (key < 0).float().mean().item()]


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
