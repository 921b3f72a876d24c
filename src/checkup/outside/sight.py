"""Who sees whom: change one id, and look where something changes."""

from typing import Any, TypeAlias

import torch
from torch import Tensor

from checkup import sections
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import LayerCall, changed_places, first_to_differ

Result: TypeAlias = tuple[str, list[Finding]]


def future(patient: Patient) -> Result:
    """`future(patient)`: of a model that writes, no later id may change what stands before."""
    if patient.kind != "writes" or not patient.can_change:
        return "not asked of this kind of model", []
    patient.report.sight = patient.sees.tolist()
    leaks = [
        (u, t) for u in range(patient.places) for t in range(u + 1, patient.places) if patient.sees[u, t]
    ]
    if not leaks:
        return f"{patient.places} ids changed one by one: nothing before them changed", []
    culprit, base = None, patient.base[1]
    for place in sorted({t for _, t in leaks}, reverse=True):
        trace = patient.one_changed[patient.calling.ids, place][1]

        def before(one: Tensor, other: Tensor, place: int = place) -> bool:
            changed = _changed(patient, one, other)
            return changed is not None and bool(changed[:place].any())

        culprit = culprit or first_to_differ(base, trace, before)
    pairs = len(leaks)
    seen, meaning, section = _mixed_by(patient, culprit)
    return f"in {pairs} pairs of places the first sees a later id", [
        Finding("sight", culprit or "", f"place {leaks[0][0]} changes when the id at place {leaks[0][1]} "
                f"does, and {pairs} pairs in all{seen}", f"A place sees what it is to predict{meaning}: the "
                "loss falls, and the model can't write.", section)
    ]  # fmt: skip


def _mixed_by(patient: Patient, culprit: str | None) -> tuple[str, str, str]:
    """What makes places see ahead: a mask, what stands around it, or no layer by itself."""
    base = patient.base[0]
    if bool((base - base[:, :1]).abs().max() <= patient.tolerance * base.abs().max()):
        return "; all places say the same", " in one answer for the whole text", sections.SIGHT
    if not bool(patient.sees.flip(1).triu(1).any()):
        return "; the first sees only the last ids", ", as if the text ran backwards", sections.SIGHT
    looks = [look for look in patient.looks.found if _is_in(look.where, culprit or "")]
    looks = [look for look in looks if look.weights.shape[-2:] == (patient.places,) * 2 and look.axis == -1]
    if culprit is None or not looks:
        return "", "", sections.LEAK
    ahead = max(float(look.weights.triu(1).abs().max()) for look in looks)
    if ahead > patient.tolerance:
        return "", "", sections.LEAK
    return (
        "; its weights for later places are 0, so that places are mixed before or behind them",
        ", though its mask is right: are heads split or joined by a view without the transpose, or "
        "numbers taken over places?",
        sections.HEADS,
    )


def past(patient: Patient) -> Result:
    """`past(patient)`: each place must depend on its own id, on the one before, and on the first."""
    if not patient.can_change:
        return "not tried: the batch has only one id", []
    if patient.kind == "classifies":
        return _each_counts(patient)
    sees, places = patient.notices, patient.places
    if not bool(sees.any()):
        return "no id changes anything", [
            Finding("sight", _blind(patient), "no id changes any logit",
                    "What is read never gets to the end.", sections.SIGHT)
        ]  # fmt: skip
    findings = []
    unseen = [u for u in range(places) if not sees[u, u]]
    if unseen:
        findings.append(
            Finding("sight", _blind(patient), f"places {_listed(unseen)} do not depend on their own id",
                    "The id that a place is about is hidden from it, or ids and places are off by one.",
                    sections.LEAK)
        )  # fmt: skip
    if patient.kind == "fills in":
        later = bool(sees.triu(1).any())
        if not later and places > 1:
            findings.append(
                Finding("sight", _attention(patient), "no place sees a later one",
                        "A model that fills in should read both sides: a causal mask is left in.",
                        sections.MASKS)
            )  # fmt: skip
    if places > 1 and not unseen:
        findings += _back(patient, sees)
    return f"each of {places} places looked at: {_reach(sees)}", findings


def _back(patient: Patient, sees: Tensor) -> list[Finding]:
    places = len(sees)
    before = [u for u in range(1, places) if not sees[u, u - 1]]
    if not bool(sees.tril(-1).any()):
        what = "no place sees any before it"
    elif before:
        what = f"places {_listed(before)} do not see the one before them"
    else:
        bands = {u - min(t for t in range(u + 1) if sees[u, t]) for u in range(places)}
        widest = max(bands)
        holes = [u for u in range(places) if not bool(sees[u, max(0, u - widest) : u + 1].all())]
        if not holes:  # all see equally far, be it to the start or through a window
            return []
        what = f"places {_listed(holes)} see less far than others, or not all in between"
    meaning = "What came before can't help: attention, a mask or a state that is handed on does not work."
    return [Finding("sight", _attention(patient), what, meaning, sections.SIGHT)]


def source_seen(patient: Patient) -> Result:
    """`source_seen(patient)`: what another sequence says must matter at every place."""
    findings, told = [], []
    for key in patient.calling.sources:
        if len(patient.pools[key]) < 2:
            continue
        length = patient.slots[key].shape[1]
        seen = []
        for place in range(length):
            logits = patient.one_changed[key, place][0]
            if patient.kind == "classifies":
                seen.append(bool((logits[0] != patient.base[0][0]).any()))
            else:
                changed = changed_places(
                    patient.base[0], logits, patient.places, 0, patient.rows, patient.tolerance
                )
                seen.append(changed is not None and bool(changed.all()))
        told.append(f"{sum(seen)} of {length} ids that are read change every place written")
        if not all(seen):
            missing = [place for place, one in enumerate(seen) if not one]
            findings.append(
                Finding("sight", _last_attention(patient), f"the ids read at {_listed(missing)} do not "
                        "matter at every place", "What was read does not get to what is written.",
                        sections.SIGHT)
            )  # fmt: skip
        findings += _reads_back_only(patient, key, length)
    return "; ".join(told) or "nothing else is read", findings


def _reads_back_only(patient: Patient, key: Any, length: int) -> list[Finding]:
    """An encoder with attention must see both sides: the whole sequence is there."""
    if length in (patient.places, 1):
        return []
    base = patient.base[1]
    last: LayerCall | None = None
    for call in base.calls:
        sizes = {size for tensor in call.outputs for size in tensor.shape[:2]}
        if length in sizes and patient.places not in sizes and "softmax" in _marks_of(patient, call.name):
            last = call
    if last is None:
        return []
    ahead = False
    for place in range(1, length):
        twin = patient.one_changed[key, place][1].numbered().get((last.name, 0))
        if twin is None or not last.outputs:
            return []
        changed = changed_places(last.outputs[0], twin.outputs[0], length, 0, patient.rows, patient.tolerance)
        ahead = ahead or (changed is not None and bool(changed[:place].any()))
    if ahead:
        return []
    return [
        Finding("sight", last.name, "what is read is seen from left to right only",
                "An encoder has its whole sequence before it: it was given a causal mask.", sections.MASKS)
    ]  # fmt: skip


def _each_counts(patient: Patient) -> Result:
    silent = []
    for place in range(patient.places):
        logits = patient.one_changed[patient.calling.ids, place][0]
        if not bool((logits[0] - patient.base[0][0]).abs().max() > patient.tolerance):
            silent.append(place)
    if not silent:
        return f"each of {patient.places} ids changes the logits", []
    return f"ids at {_listed(silent)} change nothing", [
        Finding("sight", _attention(patient), f"the ids at places {_listed(silent)} change nothing",
                "Part of the text is never read.", sections.SIGHT)
    ]  # fmt: skip


def shorter(patient: Patient) -> Result:
    """`shorter(patient)`: the first ids alone must say what they say when more follow."""
    if patient.kind != "writes" or patient.calling.masks or patient.report.findings:
        return "not asked here", []
    key, keep = patient.calling.ids, patient.places - 2
    if keep < 1 or any(
        _has_axis(part, patient.places) for slot, part in patient.slots.items() if slot != key
    ):
        return "not asked here", []
    short = patient.slots | {key: patient.slots[key][:, :keep].contiguous()}
    try:
        logits, trace = patient.run(short)
    except (RuntimeError, ValueError, IndexError, TypeError, AssertionError):
        return "not asked: it does not take a shorter text", []  # one of one id is asked for later
    whole = patient.base[0][:, :keep]
    if logits.shape == whole.shape and not bool(_far(whole, logits)):
        return f"{keep} ids alone say what they say among {patient.places}", []

    def unlike(one: Tensor, other: Tensor) -> bool:
        first = one.movedim(1, 0) if one.dim() > 1 and one.shape[1] == patient.places else None
        second = other.movedim(1, 0) if other.dim() > 1 and other.shape[1] == keep else None
        if first is None or second is None or first[:keep].shape != second.shape:
            return False
        return _far(first[:keep], second)

    where = first_to_differ(patient.base[1], trace, unlike) or ""
    return "a shorter text says something else", [
        Finding("positions", where, f"the first {keep} ids say something else when 2 more follow",
                "Something is computed from the length of the batch.", sections.LENGTH)
    ]  # fmt: skip


# ---- where ----


def _changed(patient: Patient, one: Tensor, other: Tensor) -> Tensor | None:
    return changed_places(one, other, patient.places, 0, patient.rows, patient.tolerance)


def _far(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() > 1e-4 * (one.abs().max() + 1e-12))


def _has_axis(part: Any, size: int) -> bool:
    return isinstance(part, Tensor) and size in part.shape


def _marks_of(patient: Patient, name: str) -> str:
    """What was called inside a layer: "softmax" where it attends."""
    inside = any(_is_in(look.where, name) for look in patient.looks.found)
    return "softmax" if inside else ""


def _attention(patient: Patient) -> str:
    """The first layer that attends, where one does."""
    return next((look.where for look in patient.looks.found), "")


def _is_in(where: str, name: str) -> bool:
    return where == name or where.startswith(f"{name}.")


def _last_attention(patient: Patient) -> str:
    return next((look.where for look in reversed(patient.looks.found)), "")


def _blind(patient: Patient) -> str:
    """The last layer that still notices a changed id: behind it, it is lost."""
    trace = patient.one_changed[patient.calling.ids, patient.places - 1][1].numbered()
    for key, call in patient.base[1].numbered().items():
        twin = trace.get(key)
        if twin is None or not call.outputs or not twin.outputs:
            continue
        pairs = [*zip(call.inputs, twin.inputs, strict=False)]
        outputs = [*zip(call.outputs, twin.outputs, strict=False)]
        entered = any(one.shape == other.shape and not torch.equal(one, other) for one, other in pairs)
        left = any(one.shape == other.shape and not torch.equal(one, other) for one, other in outputs)
        if entered and not left:
            return call.name
    return ""


def _listed(places: list[int]) -> str:
    return ", ".join(map(str, places[:6])) + (" …" if len(places) > 6 else "")


def _reach(sees: Tensor) -> str:
    widest = max((u - t for u in range(len(sees)) for t in range(u + 1) if sees[u, t]), default=0)
    return f"the farthest that one sees back is {widest} places"
