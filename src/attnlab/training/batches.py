"""Data in batches: how many there are, in which order, and on which device."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn

from attnlab import require

Batch: TypeAlias = Sequence[Tensor]  # (inputs, …, targets), each with its examples along the first axis
Data: TypeAlias = Iterable[Batch] | tuple[Tensor, ...]  # a tuple of tensors is a single batch


def iterations_per_epoch(examples: int, batch_size: int, drop_last: bool = False, workers: int = 1) -> int:
    """`iterations_per_epoch(2000, 500)` is 4: one pass over the data updates the weights four times.

    batch_size is what each worker reads at a time. Several workers get equal shares, as PyTorch's
    DistributedSampler deals them out: where they don't come out even, some examples are read twice, or left
    out with drop_last. drop_last also leaves out a last batch that is not full.

    >>> [iterations_per_epoch(2000, 500, workers=workers) for workers in (1, 2, 4)]
    [4, 2, 1]
    >>> iterations_per_epoch(2001, 500), iterations_per_epoch(2001, 500, drop_last=True)
    (5, 4)
    """
    require.at_least(1, examples=examples, batch_size=batch_size, workers=workers)
    if drop_last:
        return examples // workers // batch_size
    share = math.ceil(examples / workers)
    return math.ceil(share / batch_size)


class Batches:
    """`Batches(inputs, targets, batch_size=32)` yields (inputs, targets) for 32 examples at a time.

    It can be read again and again, once per epoch. `shuffle` is a generator that orders the examples anew at
    each reading; without one they keep their order. It is a CPU generator, such as `runtime.generator(0)`,
    so that the order is the same on every machine.

    >>> words, labels = torch.tensor([10, 11, 12, 13, 14]), torch.tensor([0, 1, 2, 3, 4])
    >>> [batch_words.tolist() for batch_words, batch_labels in Batches(words, labels, batch_size=2)]
    [[10, 11], [12, 13], [14]]
    """

    def __init__(
        self,
        *tensors: Tensor,
        batch_size: int,
        shuffle: torch.Generator | None = None,
        drop_last: bool = False,
    ) -> None:
        require.one_length(tensors)
        self.tensors = tensors
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.iterations = iterations_per_epoch(len(tensors[0]), batch_size, drop_last)
        if self.iterations == 0:
            most = f"{len(tensors[0])}, the number of examples, with drop_last"
            raise ValueError(f"batch_size must be at most {most}, got {batch_size}")

    def __len__(self) -> int:
        """`len(Batches(torch.arange(5), batch_size=2))` is 3, the batches in one epoch."""
        return self.iterations

    def __iter__(self) -> Iterator[tuple[Tensor, ...]]:
        """`for inputs, targets in Batches(…)` reads the data once."""
        examples = len(self.tensors[0])
        if self.shuffle is None:
            order = torch.arange(examples)
        else:
            order = torch.randperm(examples, generator=self.shuffle)
        for start in range(0, self.iterations * self.batch_size, self.batch_size):
            chosen = order[start : start + self.batch_size]
            yield tuple(tensor[chosen] for tensor in self.tensors)  # (batch_size, …) each


def as_batches(name: str, data: Data, epochs: int) -> Iterable[Any]:
    """`as_batches("data", (inputs, targets), epochs=9)` has one batch, which can be read nine times."""
    if isinstance(data, tuple) and any(isinstance(part, Tensor) for part in data):
        return Batches(*data, batch_size=len(data[0]))
    if isinstance(data, Iterator) and epochs > 1:
        raise TypeError(f"{name} must be readable anew for each of {epochs} epochs, got an iterator")
    return data


def on_device_of(model: nn.Module, batches: Iterable[Any]) -> Iterator[tuple[list[Tensor], Tensor]]:
    """`for inputs, targets in on_device_of(model, batches):` moves each batch to where the model is."""
    device = next((parameter.device for parameter in model.parameters()), None)
    for batch in batches:
        require.batch(batch)
        *inputs, targets = (part.to(device) for part in batch)
        yield inputs, targets
