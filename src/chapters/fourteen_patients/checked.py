"""What `checkup` says of each patient: of the model, and of the loss where that is ill."""

from collections.abc import Callable, Mapping
from html import escape
from typing import NamedTuple

import torch
from IPython.display import display
from torch import Tensor, nn
from torch.nn import functional as F

from chapters.fourteen_patients import ill_models
from chapters.fourteen_patients.patients import PATIENTS
from chapters.fourteen_patients.training import FILLER
from chapters.fourteen_patients.writer import Writer
from checkup import Finding, checkup

LETTERS = 97
Loss = Callable[[nn.Module, Tensor], Tensor]
MODELS: dict[str, type[Writer]] = {
    "off by one": ill_models.MaskOffByOne,
    "wrong axis": ill_models.WrongAxis,
    "no scale": ill_models.NoScale,
    "large start": ill_models.LargeStart,
    "in a list": ill_models.BlocksInAList,
    "half precision": ill_models.HalfPrecision,
    "places begin again": ill_models.PlacesBeginAgain,
}


class Asked(NamedTuple):
    """`Asked("sight", "blocks.0.attention")` is what was found first; both are empty where nothing was."""

    inquiry: str = ""
    where: str = ""
    of_loss: bool = False


def unshifted(model: nn.Module, ids: Tensor) -> Tensor:
    """`unshifted(model, ids)` asks at each place for the letter that stands there."""
    return F.cross_entropy(model(ids).flatten(0, 1), ids.flatten())


def all_places(model: nn.Module, ids: Tensor) -> Tensor:
    """`all_places(model, ids)` is the mean over all places, filler too."""
    return F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())


LOSSES: dict[str, Loss] = {"not shifted": unshifted, "filler counted": all_places}


def findings(name: str) -> list[Finding]:
    """`findings("off by one")` are of the patient's untrained model, with its loss where that is ill."""
    torch.manual_seed(0)
    model, ids = MODELS.get(name, Writer)(LETTERS), torch.randint(1, LETTERS, (4, 32))
    if name == "filler counted":
        ids[0, 10:] = ids[1, 20:] = FILLER
        return checkup(model, ids, loss=LOSSES[name], padding=FILLER).findings
    return checkup(model, ids, loss=LOSSES.get(name)).findings


def asked() -> dict[str, Asked]:
    """`asked()["off by one"]` is what is found first of each of the fourteen, in the page's order."""
    found = {patient.name: findings(patient.name) for patient in PATIENTS}
    return {
        name: Asked(each[0].inquiry, each[0].where, name in LOSSES) if each else Asked()
        for name, each in found.items()
    }


def listed(asked: Mapping[str, Asked]) -> None:
    """`listed(asked())` is a folded table of the fourteen: what `checkup` finds first, and where."""
    rows = [
        (str(number), patient.title, *said(asked[patient.name])) for number, patient in enumerate(PATIENTS, 1)
    ]
    heads = ("", "patient", "first finding", "where")
    page = f"<thead>{row(heads, 'th')}</thead><tbody>{''.join(row(each, 'td') for each in rows)}</tbody>"
    words = "\n".join(f"{number}. {title}: {found}, {where}" for number, title, found, where in rows)
    table = f"<summary>Patient by patient: its first finding</summary><table>{page}</table>"
    folded = f'<div class="stays-folded"><details>{table}</details></div>'
    display({"text/html": folded, "text/plain": words}, raw=True)


def said(found: Asked) -> tuple[str, str]:
    """`said(Asked("sight", "blocks.0.attention"))` is ("sight", "blocks.0.attention")."""
    if not found.inquiry:
        return "nothing", "not in the model"
    if found.of_loss:
        return found.inquiry, "the loss that it was given"
    return found.inquiry, found.where or "the whole model"


def row(words: tuple[str, ...], kind: str) -> str:
    """`row(("1", "targets"), "td")` is a row of a table, in HTML."""
    # Notebooks set the words of a table to the right.
    return (
        "<tr>"
        + "".join(f'<{kind} style="text-align:left">{escape(each)}</{kind}>' for each in words)
        + "</tr>"
    )
