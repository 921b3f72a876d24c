"""Does the model know where words stand? Swap two; and write the same word everywhere."""

from typing import Any, TypeAlias

import torch
from torch import Tensor

from attnlab.checkup import copies, sections
from attnlab.checkup.patient import Patient
from attnlab.checkup.report import Finding
from attnlab.checkup.trace import Trace, changed_places, places_first

Result: TypeAlias = tuple[str, list[Finding]]


def order(patient: Patient) -> Result:
    """`order(patient)`: two earlier words swapped must change what the first layer that mixes finds."""
    told, findings = [], []
    for key in patient.calling.all_ids():
        length = patient.slots[key].shape[1]
        if length < 4 or len(patient.pools[key]) < 2:
            continue
        mixing = _first_to_mix(patient, key, length)
        if mixing is None:
            continue
        ids = patient.slots[key].clone()
        ids[0, 1] = patient.other_id(key, int(ids[0, 2]))  # two that differ
        start = patient.slots | {key: ids}
        swapped = ids.clone()
        swapped[0, 1], swapped[0, 2] = ids[0, 2], ids[0, 1]
        (_, one), (_, other) = patient.run(start), patient.run(start | {key: swapped})
        first, second = (_given_at_last(trace, mixing, length, patient.rows) for trace in (one, other))
        told.append(f"first mixed in {mixing or 'the model itself'}")
        # Sums in another order are rounded in another way: 1e-9, not exactly 0.
        if first is not None and second is not None and _close(first, second):
            findings.append(
                Finding("positions", mixing, "two earlier ids can be swapped: the last place finds the "
                        "same", "The first layer that mixes can't tell the order: no position gets to "
                        "it.", sections.ORDER)
            )  # fmt: skip
    return "; ".join(told) or "not tried: too short", findings


def _first_to_mix(patient: Patient, key: Any, length: int) -> str | None:
    """The first layer whose last place notices the second id, though what it was given there did not."""
    trace = patient.one_changed[key, 1][1].numbered()
    for name, visit in patient.base[1].numbered().items():
        twin = trace.get(name)
        if twin is None:
            continue
        outputs = _last_changed(patient, visit.outputs, twin.outputs, length)
        if outputs and not _last_changed(patient, visit.inputs, twin.inputs, length):
            return name[0]
    return None


def _last_changed(
    patient: Patient, ones: tuple[Tensor, ...], others: tuple[Tensor, ...], length: int
) -> bool:
    for one, other in zip(ones, others, strict=False):
        changed = changed_places(one, other, length, 0, patient.rows, patient.tolerance)
        if changed is not None and bool(changed[-1]):
            return True
    return False


def _given_at_last(trace: Trace, name: str, length: int, rows: int) -> Tensor | None:
    for visit in trace.visits:
        if visit.name == name:
            for output in visit.outputs:
                places = places_first(output, length, 0, rows)
                if places is not None:
                    return places[-1]
    return None


def _close(one: Tensor, other: Tensor) -> bool:
    return bool((one - other).abs().max() <= 1e-6 * (one.abs().max() + 1e-30))


# ---- the same word everywhere ----


def one_word(patient: Patient) -> Result:
    """`one_word(patient)`: with one word everywhere, only places differ, and how they do can be told."""
    if patient.calling.sources or patient.kind == "classifies" or patient.places < 4:
        return "not asked of this kind of model", []
    key = patient.calling.ids
    same = patient.slots | {key: torch.full_like(patient.slots[key], patient.pools[key][0])}
    _, trace = patient.run(same)
    stream = _first_stream(patient, trace)
    if stream is None:
        return "positions come in at the scores, if at all", _turned(patient, same)
    name, vectors = stream  # (T, d)
    findings: list[Finding] = []
    findings += _waves(patient, same, name, vectors)
    findings += _louder(patient, same, key)
    return "positions come in at the words", findings


def _first_stream(patient: Patient, trace: Trace) -> tuple[str, Tensor] | None:
    """The first vectors of one word that differ from place to place, (T, d), before anything was mixed."""
    key = patient.calling.ids
    base, changed = patient.base[1].numbered(), patient.one_changed[key, 1][1].numbered()
    for number, visit in trace.numbered().items():
        if number not in base or number not in changed:
            continue
        one, other = base[number], changed[number]
        if _last_changed(patient, one.inputs, other.inputs, patient.places):
            return None
        for kept in (visit.inputs, visit.outputs):
            for tensor in kept:
                whole = tensor.dim() == 3 and sorted(tensor.shape[:2]) == sorted(
                    (patient.rows, patient.places)
                )
                vectors = places_first(tensor, patient.places, 0, patient.rows) if whole else None
                if vectors is not None and bool(
                    (vectors - vectors[0]).abs().max() > 1e-9 * vectors.abs().max()
                ):
                    name = visit.name
                    return name.rpartition(".")[0] if "dropout" in name.rpartition(".")[2] else name, vectors
            if _last_changed(patient, one.outputs, other.outputs, patient.places):
                return None
    return None


def _turned(patient: Patient, same: dict[Any, Any]) -> list[Finding]:
    """Of one word, seen from everywhere, a score must depend on how far only, not on where."""
    looks = patient.looked(same, patient.exact)
    for look in looks.found[:1]:
        scores = look.scores
        n, m = scores.shape[-2:]
        if n != m or n < 3:
            continue
        seen = scores > -1e30  # what a mask hides has no score
        both = seen[..., 1:, 1:] & seen[..., :-1, :-1]
        moved = (scores[..., 1:, 1:] - scores[..., :-1, :-1])[both]
        size = scores[seen].abs().max()
        if moved.numel() and bool(moved.abs().max() > 1e-3 * size):
            return [
                Finding("positions", look.where, "of one word everywhere, the same distance gets "
                        "another score at another place", "Queries and keys are not turned alike, or "
                        "not by a turn at all: a score then depends on where both stand.", sections.ROTARY)
            ]  # fmt: skip
    return _rates(looks.turned)


def _rates(turned: list[tuple[str, Tensor]]) -> list[Finding]:
    """How fast pairs turn: by less than half a turn a place, and not all but one standing still."""
    for where, angles in turned[:1]:
        if angles.dim() < 2 or angles.shape[-2] < 2 or angles.shape[-1] < 2:
            continue
        rates = (
            (angles[..., 1, :] - angles[..., 0, :]).abs().flatten(0, -2)[0]
            if angles.dim() > 2
            else (angles[1] - angles[0]).abs()
        )  # (pairs,)
        if bool((rates > 3.15).any()):
            return [
                Finding("positions", where, f"a pair turns by {float(rates.max()):.3g} radians from "
                        "place to place", "More than half a turn looks like a smaller one the other "
                        "way: such a pair tells nothing.", sections.ROTARY)
            ]  # fmt: skip
        if len(rates) > 2 and int((rates > 1e-6).sum()) <= len(rates) // 2:
            return [
                Finding("positions", where, f"{int((rates <= 1e-6).sum())} of {len(rates)} pairs do not "
                        "turn", "The exponents of the frequencies are off: i / d was meant.",
                        sections.ROTARY)
            ]  # fmt: skip
        if len(rates) > 2 and bool((rates - rates[0]).abs().max() < 1e-9):
            return [
                Finding("positions", where, "all pairs turn equally fast",
                        "With one frequency, places a turn apart look alike.", sections.ROTARY)
            ]  # fmt: skip
    return []


def _waves(patient: Patient, same: dict[Any, Any], name: str, vectors: Tensor) -> list[Finding]:
    """A table that is not learned is one of waves: how far two rows lie apart depends on their distance."""
    distances = torch.cdist(vectors[None], vectors[None])[0]
    equal = [
        (u, t) for u in range(len(vectors)) for t in range(u) if distances[u, t] < 1e-6 * vectors.abs().max()
    ]
    if equal:
        return [
            Finding("positions", name, f"places {equal[0][1]} and {equal[0][0]} get the same vector for "
                    "one word", "These two can't be told apart.", sections.WAVES)
        ]  # fmt: skip
    other = _first_stream(patient, patient.run(same, copies.exact(patient.model))[1])
    if other is None or patient.loose:
        return []
    rows, unshaken = vectors - vectors[0], other[1] - other[1][0]
    if bool((rows - unshaken).abs().max() > 1e-6 * rows.abs().max()):
        return []  # learned: it may be anything
    rank = int(torch.linalg.matrix_rank(rows / rows.abs().max(), rtol=1e-5))
    if rank < min(len(rows) - 1, rows.shape[1]) / 2:
        return [
            Finding("positions", name, f"the fixed rows that are added for {len(rows)} places move in "
                    f"{rank} directions only", "All waves are equally long: the exponents of the "
                    "frequencies are off.", sections.WAVES)
        ]  # fmt: skip
    uneven = max(
        float((line.max() - line.min()) / line.mean())
        for line in (distances.diagonal(offset) for offset in range(1, len(vectors) - 1))
    )
    if uneven > 0.02:
        return [
            Finding("positions", name, "the rows that are added for places are fixed, and how far two "
                    f"of them lie apart depends on where they stand (by {uneven:.0%})",
                    "A sine and its cosine make a wheel, on which equal steps are equally long: here "
                    "something is not paired.", sections.WAVES)
        ]  # fmt: skip
    return []


def _louder(patient: Patient, same: dict[Any, Any], key: Any) -> list[Finding]:
    """At the start, positions should not drown the words."""
    if not copies.is_untrained(patient.model):
        return []
    _, trace = patient.run(same, patient.plain)
    stream = _first_stream(patient, trace)
    words = _words_alone(patient, trace)
    if stream is None or words is None or stream[1].shape != words.shape:
        return []
    name, sums = stream
    loud, quiet = _size(sums - words), _size(words)
    if loud > 1.9 * quiet:
        return [
            Finding("positions", name, "at the start, the vectors of places are "
                    f"{loud / max(quiet, 1e-30):.1f} times as large as those of words",
                    "What stands somewhere is drowned by where it stands: rows are small, and were to "
                    "be multiplied by √d.", sections.LOUDER, "doubtful")
        ]  # fmt: skip
    return []


def _words_alone(patient: Patient, trace: Trace) -> Tensor | None:
    """The last vectors of one word that are the same at all places, before places came in."""
    words = None
    for visit in trace.visits:
        for tensor in visit.outputs:
            if tensor.dim() != 3:
                continue
            vectors = places_first(tensor, patient.places, 0, patient.rows)
            if vectors is not None and vectors.shape[1] == tensor.shape[-1]:
                if bool((vectors - vectors[0]).abs().max() > 1e-9 * vectors.abs().max()):
                    return words
                words = vectors
    return words


def _size(tensor: Tensor) -> float:
    return float(tensor.square().mean().sqrt())
