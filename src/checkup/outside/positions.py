"""Does the model know where words stand? The same word is written everywhere."""

from typing import Any, TypeAlias

import torch
from torch import Tensor

from checkup import copies, sections
from checkup.marks import Look
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import Trace, changed_places, places_first

Result: TypeAlias = tuple[str, list[Finding]]


def one_word(patient: Patient) -> Result:
    """`one_word(patient)`: with one word everywhere, only places differ, and how they do can be told."""
    findings = _rows_alike(patient)
    if findings:
        return "a table of places has one row, many times", findings
    if patient.calling.sources or patient.kind == "classifies" or patient.places < 4:
        return "not asked of this kind of model", []
    key = patient.calling.ids
    same = patient.slots | {key: torch.full_like(patient.slots[key], patient.pools[key][0])}
    kinds = [name for name in same if isinstance(name, str) and ("type" in name or "segment" in name)]
    same |= {name: torch.zeros_like(same[name]) for name in kinds if isinstance(same[name], Tensor)}
    _, trace = patient.run(same)
    stream = _first_stream(patient, trace)
    if stream is None:
        return "positions come in at the scores, if at all", _turned(patient, same)
    name, vectors, _ = stream  # (T, d)
    findings = _waves(patient, same, name, vectors) or _words_for_places(patient, key, name)
    findings += _louder(patient, key)
    return "positions come in at the words", findings


def _words_for_places(patient: Patient, key: Any, name: str) -> list[Finding]:
    """Where places have the rows of words, word 1 at place 2 is what word 2 is at place 1."""
    pair = [word for word in patient.pools[key] if 0 <= word < patient.places][:2]
    if len(pair) < 2 or patient.rows < 2:
        return []
    one, other = pair
    ids = patient.slots[key].clone()
    ids[0], ids[1] = one, other
    stream = _first_stream(patient, patient.run(patient.slots | {key: ids})[1])
    if stream is None:
        return []
    first, second = stream[2][0, other], stream[2][1, one]
    if bool((first - second).abs().max() > 1e-9 * first.abs().max()):
        return []
    return [
        Finding("positions", name, f"id {one} at place {other} and id {other} at place {one} have one vector",
                "Places are given the rows of words: two tables are one, or an offset is missing.",
                sections.ORDER)
    ]  # fmt: skip


def _rows_alike(patient: Patient) -> list[Finding]:
    """A table that is computed, as of sines, is not the same in every row. One of zeros may be a cache."""
    for name, module in patient.model.named_modules():
        tables = [*module.named_buffers(recurse=False)]
        tables += [one for one in module.named_parameters(recurse=False) if not one[1].requires_grad]
        for own, table in tables:
            rows = table.detach().squeeze()
            if rows.dim() != 2 or not rows.is_floating_point() or len(rows) < patient.places:
                continue
            varied = bool((rows[0] != rows[0, 0]).any())  # a mask of ones is no table
            if varied and bool((rows == rows[0]).all()):
                return [
                    Finding("positions", name, f"all {len(rows)} rows of {own} are the same",
                            "No place can be told from another by them: was a whole number divided?",
                            sections.WAVES)
                ]  # fmt: skip
    return []


def _first_stream(patient: Patient, trace: Trace) -> tuple[str, Tensor, Tensor] | None:
    """The first vectors of one word that differ from place to place, before anything was mixed.

    That is: the layer, the vectors of the first row (T, d), and those of all rows (B, T, d).
    """
    key = patient.calling.ids
    base, changed = patient.base[1].numbered(), patient.one_changed[key, 1][1].numbered()
    for number, call in trace.numbered().items():
        if number not in base or number not in changed:
            continue
        one, other = base[number], changed[number]
        if _mixed(patient, one.inputs, other.inputs):
            return None
        for kept, before, after in (
            (call.inputs, one.inputs, other.inputs),
            (call.outputs, one.outputs, other.outputs),
        ):
            for tensor, before_it, after_it in zip(kept, before, after, strict=False):
                if before_it.shape != after_it.shape or torch.equal(before_it, after_it):
                    continue  # it has nothing of the ids: rows for places alone, or for kinds
                whole = tensor.dim() == 3 and sorted(tensor.shape[:2]) == sorted(
                    (patient.rows, patient.places)
                )
                vectors = places_first(tensor, patient.places, 0, patient.rows) if whole else None
                if vectors is not None and bool(
                    (vectors - vectors[0]).abs().max() > 1e-9 * vectors.abs().max()
                ):
                    name = call.name
                    name = name.rpartition(".")[0] if "dropout" in name.rpartition(".")[2] else name
                    first = tensor.shape[0] == patient.rows
                    return name, vectors, tensor if first else tensor.transpose(0, 1)
            if _mixed(patient, one.outputs, other.outputs):
                return None
    return None


def _mixed(patient: Patient, ones: tuple[Tensor, ...], others: tuple[Tensor, ...]) -> bool:
    """Whether any place but the second, whose id was changed, differs."""
    for one, other in zip(ones, others, strict=False):
        changed = changed_places(one, other, patient.places, 0, patient.rows, patient.tolerance)
        if changed is not None and bool(changed[0] | changed[2:].any()):
            return True
    return False


def _turned(patient: Patient, same: dict[Any, Any]) -> list[Finding]:
    """Of one word, seen from everywhere, a score must depend on how far only, not on where."""
    looks = patient.looked(same, patient.exact)
    for look in looks.found[:1]:
        scores = look.scores
        n, m = scores.shape[-2:]
        if not n == m == patient.places or n < 3:
            continue
        first = _first_alike(patient, look)
        scores = scores[..., first:, first:]
        if scores.shape[-1] > 2 and _depends_on_where(scores):
            return [
                Finding("positions", look.where, "of one word everywhere, the same distance gets "
                        "another score at another place", "Queries and keys are not turned alike, or "
                        "not by a turn at all: a score then depends on where both stand.", sections.ROTARY)
            ]  # fmt: skip
        if patient.kind == "writes" and scores.shape[-1] > 2 and _prefers_the_farthest(scores):
            return [
                Finding("positions", look.where, "of one word everywhere, each step farther away adds the "
                        "same to a score, in all heads", "What is added by distance has the wrong sign: "
                        "the farthest word gets most.", sections.ORDER)
            ]  # fmt: skip
    return _rates(looks.turned)


def _prefers_the_farthest(scores: Tensor) -> bool:
    """Whether the last row, which sees all, falls from key to key, by one step in each head."""
    last = scores.flatten(0, -3)[:, -1]  # (B · heads, T)
    steps = last[:, 1:] - last[:, :-1]
    if not bool(steps.isfinite().all()) or not bool((last > -1e30).all()):
        return False
    even = (steps - steps[:, :1]).abs().amax() <= 1e-3 * steps.abs().amax()
    return bool(even) and bool((steps < -1e-6 * last.abs().amax()).all())


def _first_alike(patient: Patient, look: Look) -> int:
    """The place from which on queries and keys are made of the same: a convolution sees the start before."""
    first = 0
    for source in look.sources:
        places = places_first(source, patient.places, 0, patient.rows)
        if places is not None:
            other = ((places - places[-1]).abs() > 1e-6 * places.abs().max()).any(-1).nonzero()
            first = max(first, int(other.max()) + 1 if len(other) else 0)
    return first


def _depends_on_where(scores: Tensor) -> bool:
    """Whether steps from key to key differ along a diagonal, or rows though there are no steps at all."""
    seen = scores > -1e30  # what a mask hides has no score
    size = scores[seen].abs().max()
    # A softmax does not see what is added to a whole row: ALiBi may count from the start.
    steps, known = scores[..., 1:] - scores[..., :-1], seen[..., 1:] & seen[..., :-1]
    moved = (steps[..., 1:, 1:] - steps[..., :-1, :-1])[known[..., 1:, 1:] & known[..., :-1, :-1]]
    if moved.numel() and bool(moved.abs().max() > 1e-3 * size):
        return True
    rows = (scores[..., 1:, 0] - scores[..., :-1, 0])[seen[..., 1:, 0] & seen[..., :-1, 0]]
    flat = not steps[known].numel() or bool(steps[known].abs().max() <= 1e-3 * size)
    return flat and bool(rows.numel()) and bool(rows.abs().max() > 1e-3 * size)


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


def _louder(patient: Patient, key: Any) -> list[Finding]:
    """At the start, positions should not drown the words."""
    if not copies.is_untrained(patient.model) or patient.rows < 2:
        return []
    pool = patient.pools[key]
    words = torch.tensor([pool[row % len(pool)] for row in range(patient.rows)])  # another one in each row
    ids = words[:, None].expand(-1, patient.places).to(patient.slots[key]).contiguous()
    _, trace = patient.run(patient.slots | {key: ids}, patient.plain)
    stream = _first_stream(patient, trace)
    if stream is None:
        return []
    name, vectors = stream[0], stream[2]  # (B, T, d)
    loud, quiet = _spread(vectors, 1), _spread(vectors, 0)
    if quiet > 0 and loud > 2.2 * quiet:
        return [
            Finding("positions", name, "at the start, vectors differ from place to place "
                    f"{loud / quiet:.1f} times as much as from word to word",
                    "What stands somewhere is drowned by where it stands: rows are small, and were to "
                    "be multiplied by √d.", sections.LOUDER, "doubtful")
        ]  # fmt: skip
    return []


def _spread(vectors: Tensor, axis: int) -> float:
    return float(vectors.double().var(axis).mean().sqrt())
