"""Rows of a batch have nothing to do with each other; and any number of rows, of any length, can be read."""

from typing import TypeAlias

import torch
from torch import Tensor

from checkup import sections
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import differ, first_bad, first_to_differ

Result: TypeAlias = tuple[str, list[Finding]]
MIXED = "What a row says depends on the company it is in."


def other_rows(patient: Patient) -> Result:
    """`other_rows(patient)`: what the first row holds may change nothing in the second."""
    if patient.rows < 2 or not patient.can_change:
        return "not tried: the batch has one row", []
    base, plain = patient.base

    def second(one: Tensor, other: Tensor) -> bool:
        pair = [_row(tensor, patient) for tensor in (one, other)]
        return pair[0] is not None and pair[1] is not None and _unlike(pair[0], pair[1], patient.tolerance)

    for key in patient.calling.all_ids():
        length = patient.slots[key].shape[1]
        for place in (0, length - 1):
            if (key, place) not in patient.one_changed:
                continue
            logits, trace = patient.one_changed[key, place]
            if _unlike(base[1:], logits[1:], patient.tolerance):
                where = first_to_differ(plain, trace, second) or ""
                return "another row changes", [
                    Finding("batch", where, "an id changed in one row, and the logits of another row did",
                            MIXED, sections.NORM)
                ]  # fmt: skip
    return "one row changed: the others stayed", []


def _row(tensor: Tensor, patient: Patient) -> Tensor | None:
    """The second row of what a layer gave, be it (B, T, …) or (T, B, …)."""
    if tensor.dim() and tensor.shape[0] == patient.rows:
        return tensor[-1]
    if tensor.dim() > 1 and tensor.shape[1] == patient.rows:
        return tensor[:, -1]
    return None


def _unlike(one: Tensor, other: Tensor, tolerance: float) -> bool:
    return one.shape == other.shape and bool(differ(one, other, tolerance).any())


def alone(patient: Patient) -> Result:
    """`alone(patient)`: a row alone, or in a batch as high as it is wide, says what it says in another."""
    if patient.report.findings:
        return "not asked: what was found already would show here, too", []
    square = patient.places
    told = []
    for rows, mine in ((1, 0), (1, patient.rows - 1), (square, 0)):  # the last: places may be those of rows
        slots = patient.filled(patient.cut(rows, patient.places), seed=2)
        for key in patient.calling.all_ids():
            if slots[key].shape[1] != patient.slots[key].shape[1]:
                return "not tried: the batch can't be cut", []
        for key, part in slots.items():
            own = patient.slots[key]
            whole = isinstance(part, Tensor) and part.dim() and part.shape[1:] == own.shape[1:]
            if whole and (len(part), len(own)) == (rows, patient.rows):
                slots[key] = torch.cat([own[mine : mine + 1], part[1:]])
        wanted = patient.base[0]
        try:
            logits, trace = patient.run(slots)
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError) as error:
            if any(part.dim() and len(part) == 1 for part in _others(patient)):
                return "not tried: the batch can't be cut", []
            return f"{rows} rows: an error", [
                Finding("batch", _raised_in(error), f"a batch of {rows} rows of {patient.places} raises "
                        f"{type(error).__name__}: {_line(error)}", "An axis is taken for another one.",
                        sections.HEADS)
            ]  # fmt: skip
        if logits.shape != (rows, *wanted.shape[1:]):
            return f"{rows} rows: another shape", [
                Finding("batch", "", f"{rows} rows give logits {tuple(logits.shape)}, and {patient.rows} "
                        f"rows {tuple(wanted.shape)}", "An axis of length 1 is dropped, or two are "
                        "mixed up.", sections.HEADS)
            ]  # fmt: skip
        if not bool((logits[0] - wanted[mine]).abs().max() <= 1e-4 * wanted.abs().max() + 1e-12):
            where = first_to_differ(patient.base[1], trace, _row_unlike(patient.rows, rows, mine)) or ""
            return f"among {rows} rows: something else", [
                Finding("batch", where, f"a row says something else among {rows} rows than among "
                        f"{patient.rows}", MIXED, sections.NORM)
            ]  # fmt: skip
        told.append("alone" if rows == 1 else f"among {rows} rows of {rows}")
    return f"a row says the same {' and '.join(dict.fromkeys(told))}", []


def _others(patient: Patient) -> list[Tensor]:
    named = {*patient.calling.all_ids(), *patient.calling.masks, *patient.calling.lengths}
    return [part for key, part in patient.slots.items() if isinstance(part, Tensor) and key not in named]


def _row_unlike(rows: int, others: int, mine: int):  # type: ignore[no-untyped-def]
    def unlike(one: Tensor, other: Tensor) -> bool:
        if one.dim() < 2 or one.dim() != other.dim():
            return False
        for axis in (0, 1):
            if (
                one.shape[axis] == rows
                and other.shape[axis] == others
                and one.shape[axis ^ 1] == other.shape[axis ^ 1]
            ):
                first, second = one.select(axis, mine), other.select(axis, 0)
                return first.shape == second.shape and bool(differ(first, second, 1e-4).any())
        return False

    return unlike


def lengths(patient: Patient) -> Result:
    """`lengths(patient)`: a text of one id can be read, and one of two."""
    if patient.calling.sources or patient.calling.masks or len(patient.slots) > 1:
        return "not tried: the batch has other parts that would have to be cut", []
    key = patient.calling.ids
    for length in (1, 2):
        slots = {key: patient.slots[key][:, :length].contiguous()}
        try:
            logits, trace = patient.run(slots)
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError) as error:
            if _has_one_length(patient):
                return "not asked: it takes texts of one length only", []
            return f"{length} ids: an error", [
                Finding("batch", _raised_in(error), f"a text of length {length} raises "
                        f"{type(error).__name__}: {_line(error)}", "Writing begins with a text as short "
                        "as that.", sections.HEADS)
            ]  # fmt: skip
        wanted = (patient.rows, *(() if patient.kind == "classifies" else (length,)))
        if logits.shape[:-1] != wanted:
            return f"{length} ids: another shape", [
                Finding("batch", "", f"a text of length {length} gives logits {tuple(logits.shape)}",
                        "An axis of length 1 is dropped.", sections.HEADS)
            ]  # fmt: skip
        if bool(logits.isnan().any()):
            return f"{length} ids: NaN", [
                Finding("numbers", first_bad(trace), f"a text of length {length} gives NaN",
                        "Something is divided by what is 0 for one id.", sections.HIDDEN_SCORE)
            ]  # fmt: skip
    return "texts of one and of two ids are read", []


def _has_one_length(patient: Patient) -> bool:
    """Whether it raises at every other length, too, as a model of pictures does."""
    key, places = patient.calling.ids, patient.places
    ids = patient.slots[key]
    for other in (ids[:, : places - 1], torch.cat([ids, ids[:, :1]], dim=1)):
        try:
            patient.run({key: other.contiguous()})
        except (RuntimeError, ValueError, IndexError, TypeError, AssertionError):
            continue
        return False
    return places > 3


def batch_kept(patient: Patient) -> Result:
    """`batch_kept(patient)`: the batch must be afterwards what it was before."""
    slots = patient.in_precision_of(patient.exact, patient.slots)
    before = patient.in_precision_of(patient.exact, patient.slots)
    with torch.no_grad(), patient.precision():
        patient.calling.logits(patient.exact, slots)
    for key, part in slots.items():
        if isinstance(part, Tensor) and not torch.equal(part, before[key]):
            return "the batch was written to", [
                Finding("batch", "", f"the model writes into its own input ({key})",
                        "If the batch is used again, for the loss or in the next epoch, it is another "
                        "one.", sections.SHIFTED)
            ]  # fmt: skip
    return "the batch is as it was", []


def _line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or ["no words"])[0][:200]


def _raised_in(error: BaseException) -> str:
    return getattr(error, "layer", "")
