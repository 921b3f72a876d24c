"""What this chapter trains: each patient three times, and beside it what it was before it fell ill."""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.training.history import History
from chapters.fourteen_patients import ill_models, ill_trainings
from chapters.fourteen_patients.training import Training, texts
from chapters.fourteen_patients.writer import Writer, written

SEEDS = 3


def of(model_class: type[Writer]) -> type[Training]:
    """`of(LargeStart)` is the training that all have, with another model."""
    return type(model_class.__name__, (Training,), {"model_class": model_class})


TRAININGS: dict[str, type[Training]] = {
    "healthy": Training,
    "not shifted": ill_trainings.NotShifted,
    "off by one": of(ill_models.MaskOffByOne),
    "wrong axis": of(ill_models.WrongAxis),
    "no scale": of(ill_models.NoScale),
    "large start": of(ill_models.LargeStart),
    "in a list": of(ill_models.BlocksInAList),
    "shuffled": ill_trainings.Shuffled,
    "ten times": ill_trainings.TenTimes,
    "ten times, unclipped": ill_trainings.TenTimesUnclipped,
    "filler counted": ill_trainings.FillerCounted,
    "lines": ill_trainings.Lines,
    "means of parts": ill_trainings.MeansOfParts,
    "global seed": ill_trainings.GlobalSeed,
    "overlapping": ill_trainings.Overlapping,
    "windows": ill_trainings.Windows,
    "dropout on": ill_trainings.DropoutInEvaluation,
    "dropout": ill_trainings.Dropout,
}
START, COUNT = "Returns the shortest path", 60
# Who writes a sample: by which training, and as which class of model.
WRITERS: dict[str, tuple[str, type[Writer]]] = {
    "healthy": ("healthy", Writer),
    "not shifted": ("not shifted", Writer),
    "off by one": ("off by one", ill_models.MaskOffByOne),
    "wrong axis": ("wrong axis", ill_models.WrongAxis),
    "places begin again": ("healthy", ill_models.PlacesBeginAgain),
}


def patients(seed: int) -> tuple[nn.Module, History]:
    """`_, history = patients(seed=0)` trains all from three seeds; only what was noted of them is kept."""
    notes: dict[str, Tensor] = {}
    states: dict[str, dict[str, Tensor]] = {}
    for name, training in TRAININGS.items():
        runs = [training(SEEDS * seed + number) for number in range(SEEDS)]
        curves = [run.go() for run in runs]
        notes[f"{name}: training"] = torch.stack([losses for losses, _ in curves])  # (3, 30)
        notes[f"{name}: validation"] = torch.stack([losses for _, losses in curves])  # (3, 15)
        states[name] = runs[0].model.state_dict()
    for name, (trained, model_class) in WRITERS.items():
        model = model_class(len(texts().letters) + 1)
        model.load_state_dict(states[trained])
        codes = [ord(letter) for letter in texts().words(written(model, texts().ids(START)[None], COUNT)[0])]
        notes[f"{name}: written"] = torch.tensor(codes)
    notes["frequencies"] = frequencies(texts().training)
    return nn.Identity(), History([notes["healthy: training"][0, -1].item()], notes=notes)


def frequencies(ids: Tensor) -> Tensor:
    """`frequencies(texts().training)` is how often each letter stands there, as a share."""
    counts = ids.bincount()[1:].float()
    return counts / counts.sum()


RECIPES: dict[str, Callable[[int], tuple[nn.Module, History]]] = {"patients": patients}
