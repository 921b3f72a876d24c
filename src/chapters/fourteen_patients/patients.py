"""The fourteen: what each is called here, its line that is ill and the line that mends it."""

from typing import NamedTuple

from torch import Tensor

from bookkit import weights

STORED = "fourteen_patients/patients"
EVERY_TRAINING, EVERY_VALIDATION = 10, 20  # updates between two points of a curve
UPDATES = 300


class Patient(NamedTuple):
    """`Patient("not shifted", "targets not shifted", "healthy", ill="…", mended="…")`.

    `of` is the training that it was before, `ill` a line of its code and `mended` what belongs there.
    """

    name: str
    title: str
    of: str
    ill: str
    mended: str


PATIENTS = (
    # ---- before the first update ----
    Patient(
        "not shifted", "targets not shifted", "healthy",
        ill="return crop[:, :-1], crop[:, :-1]",
        mended="return crop[:, :-1], crop[:, 1:]",
    ),
    Patient(
        "off by one", "a mask off by one", "healthy",
        ill="later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(before + 2)",
        mended="later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(before + 1)",
    ),
    Patient(
        "wrong axis", "the softmax over the wrong axis", "healthy",
        ill="return scores.masked_fill(later, -math.inf).softmax(dim=-2)",
        mended="return scores.masked_fill(later, -math.inf).softmax(dim=-1)",
    ),
    Patient(
        "large start", "weights too large at the start", "healthy",
        ill="# nn.Embedding draws with a spread of 1, and so it stays",
        mended="start(self, 0.1, LAYERS)",
    ),
    Patient(
        "in a list", "blocks in a plain list", "healthy",
        ill="return [Block(self.attention(), dropout) for _ in range(LAYERS)]",
        mended="return nn.ModuleList(Block(self.attention(), dropout) for _ in range(LAYERS))",
    ),
    # ---- while it trains ----
    Patient(
        "shuffled", "texts shuffled, targets not", "healthy",
        ill="return ids[order], targets",
        mended="return ids[order], targets[order]",
    ),
    Patient(
        "ten times, unclipped", "a rate ten times too high", "healthy",
        ill="rate = 1e-1",
        mended="rate = 1e-2",
    ),
    Patient(
        "half precision", "−1e9 in half precision", "healthy",
        ill="penalty = torch.tensor(-1e9).to(scores)",
        mended="return scores.masked_fill(later, -math.inf).softmax(dim=-1)",
    ),
    Patient(
        "filler counted", "filler in the mean", "lines",
        ill="return F.cross_entropy(logits.flatten(0, 1), targets.flatten())",
        mended="return F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=FILLER)",
    ),
    Patient(
        "means of parts", "a mean of unequal means", "healthy",
        ill="return 1 / 2",
        mended="return len(some) / len(ids)",
    ),
    # ---- training looks fine ----
    Patient(
        "global seed", "an evaluation that resets the dice", "healthy",
        ill="torch.manual_seed(0)",
        mended="source = torch.Generator().manual_seed(0)",
    ),
    Patient(
        "overlapping", "halves that overlap", "windows",
        ill="return every[order[240:]], every[order[:240]]",
        mended="return windows(training), windows(validation)",
    ),
    Patient(
        "dropout on", "dropout in evaluation", "dropout",
        ill="# eval() is missing",
        mended="self.model.eval()",
    ),
    Patient(
        "places begin again", "places that begin again", "healthy",
        ill="return torch.arange(ids.shape[1])",
        mended="return torch.arange(before, before + ids.shape[1])",
    ),
)  # fmt: skip
BY_NAME = {patient.name: patient for patient in PATIENTS}


class Curves(NamedTuple):
    """`training, validation = curves("healthy")` are losses of three seeds, (3, 30) and (3, 15)."""

    training: Tensor
    validation: Tensor

    def last(self) -> Tensor:
        """`curves("healthy").last()` are the validation losses after 300 updates, (3,)."""
        return self.validation[:, -1]

    def last_training(self) -> Tensor:
        """`curves("healthy").last_training()` are the means of the last fifty updates, (3,)."""
        return self.training[:, -5:].mean(1)


def curves(name: str) -> Curves:
    """`curves("large start")` are stored; what changes no training has the healthy one's."""
    notes = weights.notes(STORED)
    name = name if f"{name}: training" in notes else "healthy"
    return Curves(notes[f"{name}: training"], notes[f"{name}: validation"])


def trains_alike(patient: Patient) -> bool:
    """`trains_alike(BY_NAME["dropout on"])`: is its line of training, if it has one, never 0.1 off?"""
    apart = (curves(patient.name).training - curves(patient.of).training).mean(0)
    return bool(apart.abs().max() < 0.1)


def looks_better(patient: Patient) -> bool:
    """`looks_better(BY_NAME["off by one"])`: does one of its losses end 0.3 below the healthy one's?"""
    sick, well = curves(patient.name), curves(patient.of)
    gains = well.last_training() - sick.last_training(), well.last() - sick.last()
    return any(each.mean().item() >= 0.3 for each in gains)


def sample(name: str) -> str:
    """`sample("off by one")` is what it wrote behind “Returns the shortest path”, always the likeliest."""
    return "".join(chr(int(code)) for code in weights.notes(STORED)[f"{name}: written"])
