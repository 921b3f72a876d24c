"""How a model is called: where the ids stand in its batch, what its logits are, and what else it is given."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import torch
from torch import Tensor, nn

Slots: TypeAlias = dict[Any, Any]  # the parts of a batch, by name or number
Adapter: TypeAlias = Callable[[nn.Module, Any], Tensor]
Kind: TypeAlias = Literal["writes", "fills in", "classifies"]
KINDS = ("writes", "fills in", "classifies")
NO_IDS = ("mask", "type", "position", "place", "label", "target", "length", "visible", "cache")


@dataclass
class Calling:
    """`Calling(batch).logits(model, slots)` are the logits, for any batch that is laid out as this one."""

    example: Any
    adapter: Adapter | None = None
    ids: Any = None  # the slot whose next id is predicted
    sources: list[Any] = field(default_factory=list)  # slots of other ids, which are only read
    masks: list[Any] = field(default_factory=list)  # slots that say of each id whether it is real
    lengths: list[Any] = field(default_factory=list)  # slots that say how long each row is
    labels: list[Any] = field(default_factory=list)  # slots of ids that only a loss is computed from

    def slots(self) -> Slots:
        """`calling.slots()` are copies of the parts of the batch: a model may write to what it is given."""
        parts = self.example if isinstance(self.example, dict | tuple) else (self.example,)
        named = parts.items() if isinstance(parts, dict) else enumerate(parts)
        return {key: part.clone() if isinstance(part, Tensor) else part for key, part in named}

    def batch(self, slots: Slots) -> Any:
        """`calling.batch(slots)` is a batch again: a tensor, a tuple or a dict, as the given one was."""
        if isinstance(self.example, Tensor):
            return slots[0]
        if isinstance(self.example, dict):
            return dict(slots)
        parts = [slots[number] for number in range(len(slots))]
        return type(self.example)(*parts) if hasattr(self.example, "_fields") else tuple(parts)

    def raw(self, model: nn.Module, slots: Slots, **options: Any) -> Any:
        """`calling.raw(model, slots)` is whatever the model returns."""
        batch = self.batch(slots)
        if isinstance(batch, dict):
            return model(**batch, **options)
        return model(*(batch if isinstance(batch, tuple) else (batch,)), **options)

    def logits(self, model: nn.Module, slots: Slots, **options: Any) -> Tensor:
        """`calling.logits(model, slots)` are (B, T, V) or (B, C)."""
        if self.adapter is not None and not options:
            return self.adapter(model, self.batch(slots))
        return logits_in(self.raw(model, slots, **options))

    def all_ids(self) -> list[Any]:
        """`calling.all_ids()` are the slots that hold ids: the sources, and last what is predicted."""
        return [*self.sources, self.ids]


def logits_in(output: Any) -> Tensor:
    """`logits_in(output)` are the output itself, its `.logits`, or the first of a tuple."""
    found = getattr(output, "logits", output)
    if not isinstance(found, Tensor) and isinstance(found, list | tuple) and found:
        found = found[0]
    if not isinstance(found, Tensor):
        raise TypeError(
            "model must return logits, a tensor, or something that has them as .logits or first of a tuple "
            f"(or give logits=…), got {type(output).__name__}"
        )
    return found


def integers(slots: Slots, dims: int) -> Iterator[tuple[Any, Tensor]]:
    """`integers(slots, 2)` are those parts of the batch that are whole numbers with so many axes."""
    for key, part in slots.items():
        if not isinstance(part, Tensor) or part.dim() != dims:
            continue
        if not (part.is_floating_point() or part.dtype == torch.bool or part.is_complex()):
            yield key, part


def find_slots(calling: Calling, logits: Tensor, kind: Kind) -> None:
    """`find_slots(calling, logits, "writes")` finds which parts of the batch are ids, masks and lengths."""
    slots = calling.slots()
    candidates = [key for key, _ in integers(slots, 2) if not _named(key, NO_IDS)]
    candidates = [key for key in candidates if key not in calling.labels]
    several = [key for key in candidates if _is_more_than_flags(slots[key])]
    candidates = several or candidates
    fitting = [key for key in candidates if kind == "classifies" or slots[key].shape[1] == logits.shape[1]]
    fitting = [key for key in fitting if slots[key].shape[0] == logits.shape[0]]
    if not fitting:
        shapes = {str(key): tuple(part.shape) for key, part in slots.items() if isinstance(part, Tensor)}
        raise ValueError(
            f"batch must hold whole numbers (B, T) that fit logits {tuple(logits.shape)}, got {shapes}"
        )
    predicted = [key for key in fitting if "decoder" in str(key)]
    calling.ids = predicted[-1] if predicted else fitting[-1] if kind != "classifies" else fitting[0]
    calling.sources = [key for key in candidates if key != calling.ids]
    shapes_of_ids = {slots[key].shape for key in calling.all_ids()}
    calling.masks = [
        key
        for key, part in slots.items()
        if isinstance(part, Tensor)
        and part.shape in shapes_of_ids
        and key not in [*calling.all_ids(), *calling.labels]
        and not _named(key, ("type", "position", "label", "target"))
        and not _is_more_than_flags(part)
    ]
    longest = max(slots[key].shape[1] for key in calling.all_ids())
    calling.lengths = [
        key
        for key, part in integers(slots, 1)
        if part.shape[0] == logits.shape[0] and 1 <= int(part.min()) <= int(part.max()) <= longest
        and not _named(key, ("label", "target"))
    ]  # fmt: skip


def without_labels(calling: Calling, model: nn.Module, logits: Tensor, kind: Kind) -> None:
    """`without_labels(calling, model, logits, "writes")` takes no targets for the ids that are written.

    Of a batch (ids, targets) both parts look alike; but of targets the logits do not depend, and a loss does.
    """
    others = [key for key in calling.sources if kind != "classifies"]
    others = [key for key in others if calling.slots()[key].shape[:2] == logits.shape[:2]]
    if not others or calling.adapter is not None or not _is_only_of_the_loss(calling, model):
        return
    calling.labels.append(calling.ids)
    find_slots(calling, logits, kind)


def _is_only_of_the_loss(calling: Calling, model: nn.Module) -> bool:
    slots = calling.slots()
    rolled = slots | {calling.ids: slots[calling.ids].roll(1, 1).flip(0)}
    with torch.no_grad():
        try:
            outputs = [calling.raw(model, each) for each in (calling.slots(), rolled)]
        except Exception:  # a model may do anything
            return False
    (one, first), (other, second) = ((logits_in(output), _losses(output)) for output in outputs)
    return torch.equal(one, other) and first != second


def _losses(output: Any) -> list[float]:
    """The single numbers in what a model returns."""
    parts = output.values() if isinstance(output, dict) else output
    parts = parts if isinstance(output, dict | list | tuple) else vars(output).values()
    return [float(part) for part in parts if isinstance(part, Tensor) and part.numel() == 1]


def _named(key: Any, words: tuple[str, ...]) -> bool:
    return isinstance(key, str) and any(word in key.lower() for word in words)


def _is_more_than_flags(tensor: Tensor) -> bool:
    return bool(((tensor != 0) & (tensor != 1)).any())


def takes(model: nn.Module, option: str) -> bool:
    """`takes(model, "caches")` is whether the model's forward has an argument of that name."""
    return option in inspect.signature(model.forward).parameters


def with_decoder_ids(model: nn.Module, batch: Any) -> Any:
    """`with_decoder_ids(model, batch)` has `"decoder_input_ids"` where Hugging Face makes them of labels."""
    make = getattr(model, "prepare_decoder_input_ids_from_labels", None)
    if not isinstance(batch, dict) or "labels" not in batch or "decoder_input_ids" in batch or make is None:
        return batch
    return batch | {"decoder_input_ids": make(labels=batch["labels"])}
