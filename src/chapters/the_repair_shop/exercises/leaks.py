"""Write the leak test: of which places is the id seen from before?"""

from typing import Any

import torch
from torch import Tensor, nn

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts

IDS = 9


class Seeing(nn.Module):
    """`Seeing(visible)(ids)` sums up, at each place, what visible (T, T) shows it of ids (B, T)."""

    def __init__(self, visible: Tensor, dropout: float = 0.0) -> None:
        super().__init__()
        source = torch.Generator(device="cpu").manual_seed(3)
        self.table = nn.Parameter(torch.randn(IDS, IDS, generator=source, device="cpu"))
        self.weights = nn.Parameter(torch.rand(visible.shape, generator=source) + 0.5)
        self.dropout = nn.Dropout(dropout)
        self.visible = visible

    def forward(self, ids: Tensor) -> Tensor:
        """`model(ids)` are logits (B, T, 9)."""
        size = ids.shape[1]
        seen = self.weights[:size, :size] * self.visible[:size, :size].to(self.weights)
        return self.dropout(seen @ self.table[ids])  # type: ignore[no-any-return]


def causal_but(size: int, *pairs: tuple[int, int]) -> Tensor:
    """`causal_but(6, (1, 4), (2, 2))` is causal, but place 1 sees the id at 4, too, and 2 not its own."""
    visible = torch.ones(size, size, dtype=torch.bool, device="cpu").tril()
    for place, later in pairs:
        visible[place, later] = place != later
    return visible


def _faint() -> nn.Module:
    """Place 1 sees the id at 3 by a ten-thousandth, and 2 that at 4 by a billionth. Logits sum up to 0."""
    visible = causal_but(6).double()
    visible[1, 3], visible[2, 4] = 1e-4, 1e-9
    model = Seeing(visible).double()
    model.table.data -= model.table.data.mean(1, keepdim=True)
    return model


def _other(ids: Tensor, place: int, classes: int) -> Tensor:
    changed = ids.clone()
    changed[:, place] = (changed[:, place] + 1) % classes
    return changed


def _found(
    model: nn.Module,
    ids: Tensor,
    *,
    still: Part = lambda model: model.eval(),
    change: Part = _other,
    moves: Part = lambda apart: apart.abs().amax((0, 2)) > 1e-6,
    before: Part = lambda moved, place: moved[:, :place],
    told: Part = lambda table: table.any(0),
) -> Any:
    """For each place, whether a logit before it moves when the id there changes, (T,)."""
    trained = model.training
    still(model)
    with torch.no_grad():
        logits = model(ids)
        rows = []
        for place in range(ids.shape[1]):
            moved = moves(model(change(ids, place, logits.shape[-1])) - logits)  # (T,)
            kept = torch.zeros_like(moved)
            part = before(moved[None], place)[0]
            kept[: len(part)] = part
            rows.append(kept)
    model.train(trained)
    return told(torch.stack(rows, dim=1))  # [place that moves, place that was changed]


def _only(place_of: Any) -> Any:
    """Of the places before, one alone is looked at."""

    def kept(moved: Tensor, place: int) -> Tensor:
        chosen = torch.zeros_like(moved)
        if place:
            chosen[:, place_of(place)] = moved[:, place_of(place)]
        return chosen

    return kept


MISTAKES: Mistakes = in_parts(
    _found,
    still={
        "while it trains": (
            "You ask the model as it comes, and in training mode dropout changes its answer from call to "
            "call: all looks like a leak. Ask in eval mode, and put back the mode that it had.",
            lambda model: None,
        ),
    },
    change={
        "all ids from there on": (
            "You change all ids from a place on. Then a place is accused where a later one is seen. Change "
            "one id at a time.",
            lambda ids, place, classes: torch.cat([ids[:, :place], (ids[:, place:] + 1) % classes], dim=1),
        ),
        "always the id 0": (
            "You write the id 0, and where a 0 stands already, nothing changes. Take an id that differs from "
            "the one that is there: the next one, say, and behind the last the first.",
            lambda ids, place, classes: ids.index_fill(1, torch.tensor([place], device="cpu"), 0),
        ),
    },
    moves={
        "any difference": (
            "You take any difference for a leak, however small. One that counts is more than a millionth: "
            "less may be rounding.",
            lambda apart: apart.abs().amax((0, 2)) > 0,
        ),
    },
    before={
        "behind": (
            "You look at the logits behind the changed place. These may see it. Only those before it count: "
            "`[:, :place]`.",
            lambda moved, place: moved & (torch.arange(moved.shape[1], device="cpu") > place),
        ),
        "all places": (
            "You say True of every id: at its own place or behind it the logits move, as they should. Only "
            "those before it count: `[:, :place]`.",
            lambda moved, place: moved,
        ),
        "its own place": (
            "You also look at the logits of the changed place itself. These may move, and should. Only those "
            "before it count: `[:, :place]`.",
            lambda moved, place: moved[:, : place + 1],
        ),
        "only the one before": (
            "You look only one place back. A leak can reach farther: all logits before the place count.",
            _only(lambda place: place - 1),
        ),
        "only the first": (
            "You look at the first place only. All logits before the changed place count.",
            _only(lambda place: 0),
        ),
    },
    told={
        "who sees instead of what is seen": (
            "You say which places see a later id. Asked is which ids are seen too early: the places that you "
            "changed.",
            lambda table: table.any(1),
        ),
        "one answer for all": (
            "You give one answer for the whole model. Wanted is one for each place, (T,): so one can tell "
            "where.",
            lambda table: table.any(),
        ),
        "the wrong way round": (
            "True and False are swapped: True is for a leak.",
            lambda table: ~table.any(0),
        ),
    },
)


def _case(label: str, *pairs: tuple[int, int], size: int = 6, dropout: float = 0.0, rows: int = 2) -> Case:
    source = torch.Generator(device="cpu").manual_seed(size + rows)
    ids = torch.randint(IDS, (rows, size), generator=source, device="cpu")
    ids[:, -1], ids[:, size // 2] = 0, IDS - 1  # no id may be taken for one that can't stand there
    model = Seeing(causal_but(size, *pairs), dropout)
    return Case(label, model.train(dropout > 0), ids)


check_leaks = Exercise(
    "leaks",
    difficulty=2,
    minutes=20,
    takes=("model", "ids"),
    returns=("leaking",),
    reference=_found,
    cases=(
        _case("accuses no place of a causal model", rows=1),
        _case("finds the id that the place before it sees", (2, 3)),
        _case("finds ids that are seen from far", (1, 5), (0, 3)),
        Case("goes by a millionth", _faint(), torch.tensor([[1, 3, 8, 2, 5, 0]], device="cpu")),
        _case("is not fooled by dropout", (1, 4), dropout=0.5, size=7),
        _case("does all of this", (0, 2), (3, 7), (4, 5), (6, 6), size=8, rows=3),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
