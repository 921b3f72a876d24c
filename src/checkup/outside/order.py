"""Does the model know the order? Two ids are swapped."""

from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from checkup import sections
from checkup.calling import Slots
from checkup.patient import Patient
from checkup.report import Finding
from checkup.trace import Trace, changed_places, places_first

Result: TypeAlias = tuple[str, list[Finding]]


def order(patient: Patient) -> Result:
    """`order(patient)`: two earlier words swapped must change what the first layer that mixes finds.

    A stack of causal layers can tell the order without: then only a table that has no effect is a fault.
    """
    told, findings = [], []
    for key in patient.calling.all_ids():
        length = patient.slots[key].shape[1]
        if length < 4 or len(patient.pools[key]) < 2:
            continue
        mixing = _first_to_mix(patient, key, length)
        if mixing is None:
            continue
        (given, one), (swapped_given, other) = map(patient.run, _swapped(patient, key))
        first, second = (_given_at_last(trace, mixing, length, patient.rows) for trace in (one, other))
        name = mixing[0]
        told.append(f"first mixed in {name or 'the model itself'}")
        if first is None or second is None or not _close(first, second, patient.tolerance):
            continue
        if _close(given[0, -1], swapped_given[0, -1], patient.tolerance):
            findings.append(
                Finding("positions", name, "two earlier ids can be swapped: the last place says the same",
                        "No layer that mixes can tell the order: no position gets to it.", sections.ORDER)
            )  # fmt: skip
            continue
        # Under a causal mask later layers can count how much a place sees: some models have no positions
        # on purpose. But one that has a table of them should use it.
        table = _table_of_places(patient, key)
        others = [one for one in patient.calling.all_ids() if one != key]
        if table is not None:
            findings.append(
                Finding("positions", table, f"two earlier ids can be swapped: {name or 'what mixes first'} "
                        "finds the same", "There is a table of places, and it does not get to the first "
                        "layer that mixes.", sections.ORDER)
            )  # fmt: skip
        elif others and key == patient.calling.ids and _knows_order(patient, others[0]):
            findings.append(
                Finding("positions", name, "two earlier ids can be swapped: it finds the same, though the "
                        "order of what is read can be told", "Positions get to one side only.",
                        sections.ORDER)
            )  # fmt: skip
    return "; ".join(told) or "not tried: too short", findings


def _knows_order(patient: Patient, key: Any) -> bool:
    """Whether the first layer that mixes what is read can tell its order."""
    length = patient.slots[key].shape[1]
    mixing = _first_to_mix(patient, key, length) if length > 3 and len(patient.pools[key]) > 1 else None
    if mixing is None:
        return False
    one, other = _swapped(patient, key)
    first, second = (
        _given_at_last(patient.run(slots)[1], mixing, length, patient.rows) for slots in (one, other)
    )
    return first is not None and second is not None and not _close(first, second, patient.tolerance)


def _swapped(patient: Patient, key: Any) -> tuple[Slots, Slots]:
    """The batch with two ids that differ at places 1 and 2 of the first row, and with these swapped."""
    ids = patient.slots[key].clone()
    ids[0, 1] = patient.other_id(key, int(ids[0, 2]))
    swapped = ids.clone()
    swapped[0, 1], swapped[0, 2] = ids[0, 2], ids[0, 1]
    return patient.slots | {key: ids}, patient.slots | {key: swapped}


def _table_of_places(patient: Patient, key: Any) -> str | None:
    """The first layer with a table of its own that is no table of words."""
    base, changed = patient.base[1].numbered(), patient.one_changed[key, 1][1].numbered()
    words: str | None = next(
        (
            name
            for (name, number), call in base.items()
            if isinstance(call.module, nn.Embedding) and number == 0 and (name, 0) in changed
            and any(map(_differ, call.outputs, changed[name, 0].outputs))
        ),
        None,
    )  # fmt: skip
    for name, module in patient.exact.named_modules():
        named = "pos" in name.rpartition(".")[2].lower() or "pos" in type(module).__name__.lower()
        rows = [
            len(table)
            for table in [*module.buffers(recurse=False), *module.parameters(recurse=False)]
            if table.dim() == 2 and table.is_floating_point()
        ]
        if not rows or name == words or rows[0] < patient.places or rows[0] == patient.classes:
            continue
        if isinstance(module, nn.Embedding) and _looked_up_elsewhere(patient, key, name):
            continue
        if isinstance(module, nn.Embedding) or named:
            return str(name)
    return None


def _looked_up_elsewhere(patient: Patient, key: Any, name: str) -> bool:
    """Whether it is the table of words of another sequence."""
    base = patient.base[1].numbered().get((name, 0))
    for other in patient.calling.all_ids():
        if other != key and base is not None and (other, 1) in patient.one_changed:
            twin = patient.one_changed[other, 1][1].numbered().get((name, 0))
            if twin is not None and any(map(_differ, base.outputs, twin.outputs)):
                return True
    return False


def _differ(one: Tensor, other: Tensor) -> bool:
    return one.shape == other.shape and not torch.equal(one, other)


def _first_to_mix(patient: Patient, key: Any, length: int) -> tuple[str, int] | None:
    """The first call whose last place notices the second id, though what it was given there did not."""
    trace = patient.one_changed[key, 1][1].numbered()
    for name, call in patient.base[1].numbered().items():
        twin = trace.get(name)
        if twin is None:
            continue
        outputs = _last_changed(patient, call.outputs, twin.outputs, length)
        if outputs and not _last_changed(patient, call.inputs, twin.inputs, length):
            return name
    return None


def _last_changed(
    patient: Patient, ones: tuple[Tensor, ...], others: tuple[Tensor, ...], length: int
) -> bool:
    for one, other in zip(ones, others, strict=False):
        changed = changed_places(one, other, length, 0, patient.rows, patient.tolerance)
        if changed is not None and bool(changed[-1]):
            return True
    return False


def _given_at_last(trace: Trace, key: tuple[str, int], length: int, rows: int) -> Tensor | None:
    call = trace.numbered().get(key)
    for output in call.outputs if call else ():
        places = places_first(output, length, 0, rows)
        if places is not None:
            return places[-1]
    return None


def _close(one: Tensor, other: Tensor, tolerance: float) -> bool:
    return bool((one - other).abs().max() <= tolerance * (one.abs().max() + 1e-30))
