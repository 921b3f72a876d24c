"""Write the leak test: of which places is the id seen from before?"""

import torch

from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from chapters.the_repair_shop.exercises.leaks_mistakes import MISTAKES
from chapters.the_repair_shop.exercises.leaks_parts import IDS, Seeing, _found, causal_but


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
        _case("is not fooled by dropout", (1, 4), dropout=0.5, size=7),
        _case("does all of this", (0, 2), (3, 7), (4, 5), (6, 6), size=8, rows=3),
    ),
    mistakes=MISTAKES,
    trainable=False,
)
