"""The model under test, its batch cut small, and what several tests need: copies, runs, changed ids."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from checkup import copies
from checkup.calling import Calling, Kind, Slots
from checkup.limits import Deadline, TimeUpError
from checkup.looks import Looks
from checkup.report import Report
from checkup.trace import Trace, changed_places, traced

ROWS, PLACES, SOURCE_PLACES = 3, 7, 6  # three different sizes, so that axes can be told apart


@dataclass
class Patient:
    """`Patient(model, calling, "writes", classes=37)` holds what tests share; none changes the model."""

    model: nn.Module
    calling: Calling
    kind: Kind
    classes: int  # the last axis of its logits
    padding: int | None = None
    loss: Any = None
    report: Report = field(default_factory=Report)
    until: Deadline = field(default_factory=lambda: Deadline(float("inf")))  # by then the tests must be over
    finite: bool = True  # so are the logits of the whole batch that was given
    loose: bool = False  # the model does not run in float64: its own precision has to do

    def ask_time(self) -> None:
        """`patient.ask_time()` raises TimeUpError when the tests have taken all their seconds."""
        if self.until.passed():
            raise TimeUpError

    # ---- copies ----

    @cached_property
    def plain(self) -> nn.Module:
        """`patient.plain` is a copy as it was given, in float32 at least, that does not train."""
        own = next((weight.dtype for weight in self.model.parameters()), torch.float32)
        return copies.in_dtype(self.model, torch.promote_types(own, torch.float32))

    @cached_property
    def exact(self) -> nn.Module:
        """`patient.exact` is a copy in float64 with weights shaken a little, on which most tests are done."""
        model = copies.in_dtype(self.model, torch.float32) if self.loose else copies.exact(self.model)
        return copies.shaken(model, torch.Generator().manual_seed(0))

    @property
    def tolerance(self) -> float:
        """`patient.tolerance` is how much may change, as a share of the largest, where nothing should."""
        return 1e-5 if self.loose else 1e-10

    def forget(self) -> None:
        """`patient.forget()` lets go of copies and runs: whoever asks for them again waits for new ones."""
        for name in ("plain", "exact", "base", "looks", "one_changed", "sees", "notices"):
            vars(self).pop(name, None)

    # ---- the batch ----

    @cached_property
    def pools(self) -> dict[Any, list[int]]:
        """`patient.pools[slot]` are ids that may stand there: those that the batch has, or else any."""
        pools = {}
        for key in self.calling.all_ids():
            seen = sorted(set(self.calling.slots()[key].flatten().tolist()) - {self.padding})
            # 0 is often the filler, which a model may hide from itself.
            unfilled = [number for number in seen if number != 0]
            seen = unfilled if len(unfilled) >= 3 else seen
            if len(seen) < 3:
                predicted = key == self.calling.ids and self.kind != "classifies"
                known = range(1, max(max(seen, default=0) + 1, min(self.classes, 50) if predicted else 0))
                seen = sorted({*seen, *known} - {self.padding})
            pools[key] = seen or [0]
        return pools

    @cached_property
    def slots(self) -> Slots:
        """`patient.slots` is the batch cut to a few rows and places, without padding, with ids drawn anew."""
        for rows, places, others in self._sizes():
            self.ask_time()
            slots = self.filled(self.cut(rows, places, others), seed=1)
            try:
                with torch.no_grad(), self.precision():
                    logits = self.calling.logits(self.exact, self.in_precision_of(self.exact, slots))
            except (RuntimeError, ValueError, IndexError, TypeError, AssertionError):
                continue  # it does not take a batch of this size, or another mask belongs to it
            if self.kind == "classifies" or logits.shape[:2] == slots[self.calling.ids].shape:
                return slots
        return self.filled(self.calling.slots(), seed=1)

    def _sizes(self) -> Iterator[tuple[int, int, int]]:
        ids = self.calling.slots()[self.calling.ids]
        places = min(PLACES, ids.shape[1])
        # Two sequences of one length are hard to tell apart.
        others = SOURCE_PLACES - (places == SOURCE_PLACES)
        yield ROWS, PLACES, SOURCE_PLACES
        yield ROWS, places, others
        yield len(ids), places, others
        yield len(ids), ids.shape[1], 10**6

    def cut(self, rows: int, places: int, others: int = SOURCE_PLACES) -> Slots:
        """`patient.cut(2, 7)` is the batch with 2 rows of 7 ids: cut, or repeated where it has fewer."""
        slots = self.calling.slots()
        ids = slots[self.calling.ids]
        source = max((slots[key].shape[1] for key in self.calling.sources), default=ids.shape[1])
        alone = ids.shape[1] == source
        sizes = {source: places if alone else min(others, source), ids.shape[1]: places}
        cut: Slots = {}
        for key, part in slots.items():
            if not isinstance(part, Tensor):
                cut[key] = part
                continue
            for axis in range(part.dim()):
                size = part.shape[axis]
                # (T, T) is a mask, not a batch: it has no axis for rows.
                if (
                    axis == 0
                    and size == len(ids)
                    and not (part.dim() == 2 and part.shape == (ids.shape[1],) * 2)
                ):
                    part = part.index_select(0, torch.arange(rows, device=part.device) % size)
                elif size in sizes and (axis > 0 or part.shape[0] != len(ids)):
                    part = part.index_select(axis, torch.arange(sizes[size], device=part.device) % size)
            cut[key] = part.clone()
        return cut

    def filled(self, slots: Slots, seed: int) -> Slots:
        """`patient.filled(slots, seed=1)` has real ids drawn anew, and masks and lengths to match."""
        slots = dict(slots)
        source = torch.Generator().manual_seed(seed)
        for key in self.calling.all_ids():
            pool = torch.tensor(self.pools[key])
            drawn = pool[torch.randint(len(pool), slots[key].shape, generator=source)]
            slots[key] = drawn.to(slots[key])
        longest = max(slots[key].shape[1] for key in self.calling.sources or [self.calling.ids])
        for key in self.calling.lengths:
            slots[key] = torch.full_like(slots[key], longest)
        for key in self.calling.masks:
            slots[key] = torch.full_like(slots[key], int(self.real_flag(key)))
        return slots

    def real_flag(self, key: Any) -> bool:
        """`patient.real_flag("attention_mask")` is the flag of real ids: most have it."""
        if isinstance(key, str) and key.endswith("attention_mask"):
            return True
        flags = self.calling.slots()[key].bool()
        fitting = [slot for slot in self.calling.all_ids() if self.calling.slots()[slot].shape == flags.shape]
        if self.padding is not None and fitting:
            real = self.calling.slots()[fitting[-1]] != self.padding
            flags = flags[real] if real.any() else flags
        return bool(flags.float().mean() >= 0.5)

    def other_id(self, key: Any, now: int) -> int:
        """`patient.other_id(slot, 5)` is an id that is not 5."""
        pool = self.pools[key]
        return next((number for number in pool[::-1] if number != now), now)

    def changed(self, key: Any, row: int, place: int, slots: Slots | None = None) -> Slots:
        """`patient.changed(slot, 0, 3)` is the batch with another id at that place."""
        slots = dict(self.slots if slots is None else slots)
        ids = slots[key].clone()
        ids[row, place] = self.other_id(key, int(ids[row, place]))
        return slots | {key: ids}

    # ---- runs ----

    @contextmanager
    def precision(self, dtype: torch.dtype | None = None) -> Iterator[None]:
        """`with patient.precision(): …` makes new tensors float64, as those of the exact copy are."""
        before = torch.get_default_dtype()
        torch.set_default_dtype(dtype or (torch.float32 if self.loose else torch.float64))
        try:
            yield
        finally:
            torch.set_default_dtype(before)

    def run(self, slots: Slots, model: nn.Module | None = None, seed: int = 0) -> tuple[Tensor, Trace]:
        """`logits, trace = patient.run(slots)` runs the exact copy, and keeps what each layer gave."""
        self.ask_time()
        model = self.exact if model is None else model
        inputs = self.in_precision_of(model, slots)
        torch.manual_seed(seed)  # dropout that never rests would hide what a test is about
        with torch.no_grad(), self.precision(_dtype(model)), traced(model) as trace:
            logits = self.calling.logits(model, inputs)
        return logits.detach(), trace

    def in_precision_of(self, model: nn.Module, slots: Slots) -> Slots:
        """`patient.in_precision_of(model, slots)` are copies, real numbers in the dtype of the model."""
        dtype = _dtype(model)
        copied = {key: part.clone() for key, part in slots.items() if isinstance(part, Tensor)}
        real = {key: part.to(dtype) for key, part in copied.items() if part.is_floating_point()}
        return slots | copied | real

    @cached_property
    def base(self) -> tuple[Tensor, Trace]:
        """`logits, trace = patient.base` is one run of the small batch, to compare others with."""
        return self.run(self.slots)

    @cached_property
    def looks(self) -> Looks:
        """`patient.looks.found` are the attentions of one run of the exact copy."""
        return self.looked(self.slots, self.exact)

    def looked(self, slots: Slots, model: nn.Module) -> Looks:
        """`patient.looked(slots, model)` are the `Looks` at one run."""
        self.ask_time()
        known = {id(tensor) for tensor in [*model.parameters(), *model.buffers()]}
        plain = {
            id(thing): (thing, name)
            for name, thing in copies.plain_things(model)
            if isinstance(thing, Tensor) and id(thing) not in known
        }
        inputs = self.in_precision_of(model, slots)
        with torch.no_grad(), self.precision(_dtype(model)), traced(model) as trace:
            looks = Looks(trace, plain=plain)
            with looks:
                self.calling.logits(model, inputs)
        looks.forget()
        return looks

    @cached_property
    def one_changed(self) -> dict[tuple[Any, int], tuple[Tensor, Trace]]:
        """`patient.one_changed[slot, 3]` is a run in which the first row has another id at place 3."""
        return {
            (key, place): self.run(self.changed(key, 0, place))
            for key in self.calling.all_ids()
            if len(self.pools[key]) > 1
            for place in range(self.slots[key].shape[1])
        }

    @cached_property
    def sees(self) -> Tensor:
        """`patient.sees[u, t]` is whether what is said at place u depends on the id at t, (T, T) booleans."""
        return self._seen(self.tolerance)

    @cached_property
    def notices(self) -> Tensor:
        """`patient.notices[u, t]` is the same, however little it depends on that id."""
        return self._seen(0.0)

    def _seen(self, tolerance: float) -> Tensor:
        rows = []
        for place in range(self.places):
            logits, _ = self.one_changed[self.calling.ids, place]
            changed = changed_places(self.base[0], logits, self.places, 0, self.rows, tolerance)
            rows.append(torch.zeros(self.places, dtype=torch.bool) if changed is None else changed)
        return torch.stack(rows, dim=1)

    @property
    def can_change(self) -> bool:
        """`patient.can_change` is whether there is more than one id to write."""
        return len(self.pools[self.calling.ids]) > 1

    @property
    def places(self) -> int:
        """`patient.places` is how many ids stand in a row of the small batch."""
        return int(self.slots[self.calling.ids].shape[1])

    @property
    def rows(self) -> int:
        """`patient.rows` is how many rows the small batch has."""
        return int(self.slots[self.calling.ids].shape[0])


def _dtype(model: nn.Module) -> torch.dtype:
    return next((weight.dtype for weight in model.parameters() if weight.is_floating_point()), torch.float32)
