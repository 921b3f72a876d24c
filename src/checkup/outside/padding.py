"""What fills up short rows: put something else there, add more of it, and nothing real may change."""

from typing import Any, TypeAlias

import torch
from torch import Tensor

from checkup import sections
from checkup.calling import Slots
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import changed_places, first_to_differ

Result: TypeAlias = tuple[str, list[Finding]]
SEEN = (
    "Filler is attended to, counted or averaged over: what a text says depends on the longest of its batch."
)


def filler(patient: Patient) -> Result:
    """`filler(patient)`: other ids in the place of filler change nothing that is real."""
    told, findings = [], []
    for key in patient.calling.all_ids():
        padded = _padded(patient, key)
        if padded is None or len(patient.pools[key]) < 2:
            continue
        slots, real = padded
        finding = _compared(patient, key, slots, real)
        told.append(f"filler behind {real} ids exchanged")
        findings += finding
    if not findings and _has_filler_in_front(patient):
        told.append("2 ids of filler put in front")
        findings += _in_front(patient)
    return "; ".join(told) or "nothing says what is filler: no mask, lengths or padding=…", findings


def _padded(patient: Patient, key: Any) -> tuple[Slots, int] | None:
    """The small batch whose first row has filler at its end, said in all ways that the model knows."""
    slots = dict(patient.slots)
    length = slots[key].shape[1]
    real = length - 2
    if real < 1:
        return None
    said = False
    for mask in patient.calling.masks:
        if slots[mask].shape == slots[key].shape and _belongs(patient, mask, key):
            flags = slots[mask].clone()
            flags[0, real:] = int(not patient.real_flag(mask))
            slots[mask], said = flags, True
    first = (patient.calling.sources or [patient.calling.ids])[0]
    if patient.calling.lengths and key == first:
        for name in patient.calling.lengths[:1]:
            lengths = slots[name].clone()
            lengths[0] = real
            slots[name], said = lengths, True
    if patient.padding is not None and (not said or patient.kind == "writes"):
        causal = patient.kind == "writes" and key == patient.calling.ids
        said = said or causal or not patient.calling.masks
    return (slots, real) if said else None


def _belongs(patient: Patient, mask: Any, key: Any) -> bool:
    """A mask called decoder_… is of the decoder's ids."""
    if len(patient.calling.all_ids()) == 1 or not isinstance(mask, str):
        return True
    return ("decoder" in mask) == ("decoder" in str(key))


def _compared(patient: Patient, key: Any, slots: Slots, real: int) -> list[Finding]:
    one, other = slots[key].clone(), slots[key].clone()
    if patient.padding is not None:
        one[0, real:] = patient.padding
    told_by_id = patient.padding is not None and not (patient.calling.masks or patient.calling.lengths)
    if told_by_id:  # exchanged for other ids, it would be real: it is made longer
        return _longer(patient, key, slots, real)
    for place in range(real, one.shape[1]):
        other[0, place] = patient.other_id(key, int(one[0, place]))
    (before, trace), (after, changed) = patient.run(slots | {key: one}), patient.run(slots | {key: other})
    written = key == patient.calling.ids and patient.kind != "classifies"
    kept = slice(0, real) if written else slice(None)
    if not bool(
        (before[0, kept] - after[0, kept]).abs().max() > patient.tolerance * before[0, kept].abs().max()
    ):
        return []
    length = one.shape[1]

    def at_real_places(left: Tensor, right: Tensor) -> bool:
        places = changed_places(left, right, length, 0, patient.rows, patient.tolerance)
        if places is not None:
            return bool(places[:real].any())
        if left.shape != right.shape:
            return False
        row = (left[:1] != right[:1]) if left.dim() and left.shape[0] == patient.rows else left != right
        return bool(row.any()) and left.shape[-1] > 1

    where = first_to_differ(trace, changed, at_real_places) or ""
    return [
        Finding("padding", where, f"other ids in the place of filler, behind {real} real ones, change "
                "what is said", SEEN, sections.PADDING)
    ]  # fmt: skip


def _longer(patient: Patient, key: Any, slots: Slots, real: int) -> list[Finding]:
    one = slots[key].clone()
    one[:, real:] = patient.padding
    lengths = (real, one.shape[1])
    results = []
    for length in lengths:
        try:
            results.append(patient.run(slots | {key: one[:, :length].contiguous()}))
        except (RuntimeError, ValueError, IndexError, TypeError):
            return []
    (short, _), (long, trace) = results
    if patient.kind != "classifies" and key == patient.calling.ids:
        long = long[:, :real]
    if short.shape == long.shape and bool((short - long).abs().max() > 1e-4 * short.abs().max()):
        attends = next((look.where for look in patient.looks.found), "")
        del trace
        return [
            Finding("padding", attends, f"{lengths[1] - real} ids of filler added behind {real} real "
                    "ones change what is said", SEEN, sections.PADDING)
        ]  # fmt: skip
    return []


# ---- in front ----


def _has_filler_in_front(patient: Patient) -> bool:
    """Whether some rows of the batch that was given begin with filler, and end with what is real."""
    if patient.calling.sources:
        return False
    slots = patient.calling.slots()
    ids = slots[patient.calling.ids]
    real = [slots[mask] == patient.real_flag(mask) for mask in patient.calling.masks]
    real = [flags for flags in real if flags.shape == ids.shape]
    if patient.padding is not None and not real:
        real = [ids != patient.padding]
    # All rows may begin with one id that is also the filler.
    return any(bool((flags[:, -1] & ~flags[:, 0]).any() & flags[:, 0].any()) for flags in real)


def _in_front(patient: Patient) -> list[Finding]:
    """The first row with filler in front must say what it says without, and any ids may fill it up."""
    key, count = patient.calling.ids, 2
    ids = patient.slots[key]
    written = {key, *patient.calling.masks}
    others = [part for slot, part in patient.slots.items() if slot not in written]
    if patient.places < 5 or any(
        isinstance(part, Tensor) and patient.places in part.shape for part in others
    ):
        return []
    padded = dict(patient.slots)
    for slot in written:
        padded[slot] = padded[slot].clone()
        filler = int(not patient.real_flag(slot)) if slot != key else patient.padding
        padded[slot][0, :count] = int(padded[slot][0, 0]) if filler is None else filler
    alone = {
        slot: part[:, count:].contiguous() if slot in written else part
        for slot, part in patient.slots.items()
    }
    (long, trace), (short, _) = patient.run(padded), patient.run(alone)
    kept = slice(None) if patient.kind == "classifies" else slice(count, None)
    if patient.calling.masks:
        exchanged = padded | {key: padded[key].clone()}
        for place in range(count):
            exchanged[key][0, place] = patient.other_id(key, int(ids[0, place]))
        other, changed = patient.run(exchanged)
        if _differ(long[0, kept], other[0, kept]):

            def at_real_places(left: Tensor, right: Tensor) -> bool:
                places = changed_places(left, right, patient.places, 0, patient.rows, patient.tolerance)
                return places is not None and bool(places[count:].any())

            where = first_to_differ(trace, changed, at_real_places) or ""
            return [
                Finding("padding", where, "other ids in the place of filler, in front of "
                        f"{len(ids[0]) - count} real ones, change what is said", SEEN, sections.PADDING)
            ]  # fmt: skip
    if not _differ(long[0, kept], short[0]):
        return []
    return [
        Finding("padding", "", f"{count} ids of filler put in front change what is said",
                "Places are counted from the filler, or it is seen: a text stands elsewhere in a batch "
                "with a longer one.", sections.PADDING)
    ]  # fmt: skip


def _differ(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and not bool((one - other).abs().max() <= 1e-4 * one.abs().max())


def kept_apart(patient: Patient) -> Result:
    """`kept_apart(patient)`: a row says the same beside a short one and a long one, and nothing is NaN."""
    if not (patient.calling.masks or patient.calling.lengths):
        return "no mask and no lengths", []
    key = patient.calling.all_ids()[0]
    length = int(patient.slots[key].shape[1])
    if length < 4:
        return "not tried: too short", []
    # Beside a long row there is filler behind a short one; beside others as short, some models cut it off.
    for words, mine, others, row in (
        ("whole", length, 1, 0), ("short", length - 2, length - 2, 0), ("whole", 1, length, -1)
    ):  # fmt: skip
        (one, trace) = patient.run(_filled_up(patient, mine if row == 0 else length, length))
        (other, changed) = patient.run(_filled_up(patient, mine, others))
        own = mine if row == 0 else others
        kept = (
            slice(0, own) if patient.calling.sources == [] and patient.kind != "classifies" else slice(None)
        )
        if not bool((one[row, kept] - other[row, kept]).abs().max() <= 1e-6 * one[row, kept].abs().max()):

            def this_row(left: Tensor, right: Tensor, row: int = row, own: int = own) -> bool:
                for size in (length, patient.places):
                    places = changed_places(left, right, size, row, patient.rows, 1e-6)
                    if places is not None:
                        return bool(places[:own].any()) if size == length else bool(places.any())
                return False

            where = first_to_differ(trace, changed, this_row) or ""
            return "the other rows matter", [
                Finding("padding", where, f"other rows are made short, and a {words} row says something "
                        "else", SEEN, sections.PADDING)
            ]  # fmt: skip
        if not bool(torch.isfinite(other[[0, -1], :1]).all()):
            return "NaN", [
                Finding("numbers", "", "a row with much filler gives NaN", "A query sees no key at all.",
                        sections.HIDDEN_SCORE)
            ]  # fmt: skip
    return "how long other rows are changes nothing", []


def _filled_up(patient: Patient, mine: int, others: int) -> Slots:
    """The small batch in which the first row has so many real ids, and the others so many."""
    slots = dict(patient.slots)
    for mask in patient.calling.masks:
        if slots[mask].shape == slots[patient.calling.all_ids()[0]].shape:
            flags = slots[mask].clone()
            filler = int(not patient.real_flag(mask))
            flags[0, mine:], flags[1:, others:] = filler, filler
            slots[mask] = flags
    for name in patient.calling.lengths[:1]:
        lengths = slots[name].clone()
        lengths[0], lengths[1:] = mine, others
        slots[name] = lengths
    return slots
