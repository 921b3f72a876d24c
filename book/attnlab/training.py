"""One training loop for every chapter: batches, epochs, validation, early stopping, many seeds at once."""

import copy
import itertools
import math
import operator
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import torch
from IPython.core.getipython import get_ipython
from torch import Tensor, nn
from torch.func import functional_call, vmap
from tqdm import tqdm  # type: ignore[import-untyped]

# Set ATTNLAB_QUIET=1 to train without a progress bar.
QUIET_VARIABLE = "ATTNLAB_QUIET"

Batch: TypeAlias = Sequence[Tensor]  # (inputs, …, targets), each with its examples along the first axis
Data: TypeAlias = Iterable[Batch] | tuple[Tensor, ...]  # a tuple of tensors is a single batch
Measure: TypeAlias = Callable[[Any, Tensor], Any]  # (outputs, targets) -> one number


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
    _check_at_least_one(examples=examples, batch_size=batch_size, workers=workers)
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
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            raise TypeError(f"tensors must be tensors, got {_kinds(tensors)}")
        lengths = [len(tensor) for tensor in tensors]
        if len(set(lengths)) != 1 or lengths[0] == 0:
            raise ValueError(f"tensors must have one length, the number of examples, got lengths {lengths}")
        self.tensors = tensors
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.iterations = iterations_per_epoch(lengths[0], batch_size, drop_last)
        if self.iterations == 0:
            raise ValueError(f"batch_size is {batch_size}, and drop_last drops all {lengths[0]} examples")

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


@dataclass
class History:
    """`history.training_losses[-1]` is the last epoch's loss; `train` returns a History.

    iteration_losses: one per weight update, each taken just before it.
    training_losses: one per epoch, the mean of its iterations' losses, each counted by its examples.
    validation_losses, validation_metrics: one per epoch, taken after it.
    """

    iteration_losses: list[float] = field(default_factory=list)
    training_losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    validation_metrics: list[float] = field(default_factory=list)

    @property
    def iterations(self) -> int:
        """`History(iteration_losses=[0.9, 0.8]).iterations` is 2, the weight updates that were made."""
        return len(self.iteration_losses)

    @property
    def epochs(self) -> int:
        """`History(training_losses=[0.9, 0.8]).epochs` is 2, the passes over the data that were made."""
        return len(self.training_losses)

    @property
    def best_epoch(self) -> int:
        """`History(validation_losses=[0.9, 0.4, 0.6]).best_epoch` is 2: the first epoch is number 1."""
        if not self.validation_losses:
            raise ValueError("best_epoch needs validation_losses, and there are none")
        return self.validation_losses.index(min(self.validation_losses)) + 1


def train(
    model: nn.Module,
    data: Data,
    loss: Measure,
    optimizer: torch.optim.Optimizer,
    *,
    epochs: int,
    validation: Data | None = None,
    metric: Measure | None = None,
    patience: int | None = None,
) -> History:
    """`train(model, Batches(x, y, batch_size=32), F.mse_loss, optimizer, epochs=9)` reads x and y nine times.

    data: batches, each a tuple (inputs, …, targets), from a `Batches`, a DataLoader, a list or the like; or
        one such tuple, which is then each epoch's only batch. A batch moves to the model's device; the loss
        is `loss(model(*inputs), targets)`.
    validation: data of the same kind, measured after every epoch by the loss and by the metric, if given.
    patience: stop after so many epochs in a row that don't lower the validation loss, and put the weights of
        the best epoch back. Without it every epoch is run, and the last weights stay.

    The model comes back in eval mode. A person at a terminal or notebook sees a progress bar while it trains.
    What else should happen at an update (clipping gradients, changing the learning rate) hangs on the
    optimizer: `optimizer.register_step_pre_hook`, `optimizer.register_step_post_hook`.

    >>> x = torch.linspace(-1, 1, 20).unsqueeze(1)
    >>> line = nn.Linear(1, 1)
    >>> optimizer = torch.optim.SGD(line.parameters(), lr=0.5)
    >>> history = train(line, (x, 3 * x + 1), nn.functional.mse_loss, optimizer, epochs=100)
    >>> history.iterations, round(line.weight.item(), 2), round(line.bias.item(), 2)
    (100, 3.0, 1.0)
    """
    _check_at_least_one(epochs=epochs)
    if patience is not None:
        _check_at_least_one(patience=patience)
    for name, wish in {"metric": metric, "patience": patience}.items():
        if wish is not None and validation is None:
            raise ValueError(f"{name} needs validation data, and validation is None")
    # Updating another model's weights would raise no error: the loss would just never fall.
    updated = {id(parameter) for group in optimizer.param_groups for parameter in group["params"]}
    if not any(id(parameter) in updated for parameter in model.parameters()):
        raise ValueError("optimizer holds none of model's parameters: make it from model.parameters()")
    training_batches = _as_batches("data", data, epochs)
    validation_batches = None if validation is None else _as_batches("validation", validation, epochs)
    measures = [loss] if metric is None else [loss, metric]

    history = History()
    best_weights: dict[str, Any] = {}
    total = epochs * operator.length_hint(training_batches) or None
    # leave=False wipes the bar when training ends, so that a chapter's output is what its cells print.
    with tqdm(total=total, file=sys.stdout, leave=False, disable=not _someone_watches()) as bar:
        for epoch in range(1, epochs + 1):
            bar.set_description(f"epoch {epoch}/{epochs}", refresh=False)
            _train_epoch(model, training_batches, loss, optimizer, history, bar)
            if validation_batches is None:
                continue
            validation_loss, *metrics = evaluate(model, validation_batches, *measures)
            if not math.isfinite(validation_loss):
                raise FloatingPointError(f"the validation loss is {validation_loss} after epoch {epoch}")
            history.validation_losses.append(validation_loss)
            history.validation_metrics += metrics
            if patience is None:
                continue
            if epoch == history.best_epoch:
                best_weights = copy.deepcopy(model.state_dict())
            elif epoch - history.best_epoch == patience:
                break
    if patience is not None:
        model.load_state_dict(best_weights)
    model.eval()
    return history


def _train_epoch(
    model: nn.Module,
    data: Iterable[Any],
    loss: Measure,
    optimizer: torch.optim.Optimizer,
    history: History,
    bar: tqdm,
) -> None:
    model.train()
    losses: list[float] = []
    examples: list[int] = []
    for batch in data:
        outputs, targets = _apply(model, batch)
        batch_loss = loss(outputs, targets)
        number = _as_number("loss", batch_loss)
        if not math.isfinite(number):
            # Stopped before the update: the weights are still those that gave this loss, to be looked at.
            iteration, epoch = history.iterations + len(losses) + 1, history.epochs + 1
            raise FloatingPointError(f"the loss is {number} at iteration {iteration}, in epoch {epoch}")
        optimizer.zero_grad()
        batch_loss.backward()
        optimizer.step()
        losses.append(number)
        examples.append(len(targets))
        bar.set_postfix_str(f"loss {number:.3g}", refresh=False)
        bar.update()
    history.iteration_losses += losses
    history.training_losses.append(_mean(losses, examples))


def evaluate(model: nn.Module, data: Data, *measures: Measure) -> list[float]:
    """`[loss] = evaluate(model, (x, y), F.mse_loss)` is the loss without learning and without dropout.

    Each measure makes one number of (outputs, targets); what comes back is its mean over the batches, each
    counted by its examples. The model stays in eval mode.

    >>> half = nn.Linear(1, 1, bias=False)
    >>> _ = nn.init.constant_(half.weight, 0.5)
    >>> evaluate(half, (torch.tensor([[2.0], [4.0]]), torch.tensor([[1.0], [1.0]])), nn.functional.mse_loss)
    [0.5]
    """
    model.eval()
    numbers: list[list[float]] = [[] for _ in measures]
    examples = []
    with torch.no_grad():
        for batch in _as_batches("data", data, epochs=1):
            outputs, targets = _apply(model, batch)
            for measured, measure in zip(numbers, measures, strict=True):
                measured.append(_as_number("measure", measure(outputs, targets)))
            examples.append(len(targets))
    return [_mean(measured, examples) for measured in numbers]


class ManySeeds(nn.Module):
    """`ManySeeds([build(seed) for seed in range(20)])(inputs)` has shape (20, …): twenty models run as one.

    The models have the same shape and differ in their weights. Here each parameter and buffer is theirs,
    stacked along a leading seed axis, and they share the inputs: one large operation does the work of twenty
    small ones. With `sum_over_seeds` as the loss no seed's gradient depends on another's, so an optimizer
    that treats each weight by itself (SGD, Adam) trains every seed as if alone. Clipping by the norm of all
    gradients would tie them together, and so does early stopping, which looks at the sum. nn.RNN, nn.GRU and
    nn.LSTM can't be stacked: PyTorch's vmap does not know them.

    >>> ManySeeds([nn.Linear(3, 2) for seed in range(20)])(torch.zeros(5, 3)).shape
    torch.Size([20, 5, 2])
    """

    def __init__(self, models: Sequence[nn.Module]) -> None:
        super().__init__()
        if not models:
            raise ValueError("models must hold at least one model, got none")
        shapes = [[tuple(tensor.shape) for tensor in _state(model)] for model in models]
        for number, others in enumerate(shapes):
            if others != shapes[0]:
                raise ValueError(f"models[{number}] has weights of shapes {others}, models[0] {shapes[0]}")
        self.member = copy.deepcopy(models[0])
        for stacked, *tensors in zip(_state(self.member), *map(_state, models), strict=True):
            # .data keeps tied parameters tied.
            stacked.data = torch.stack([tensor.detach() for tensor in tensors])  # (seeds, …)

    def forward(self, *inputs: Tensor) -> Any:
        """`many(inputs)[seed]` is what that seed's model makes of the inputs."""

        def run(*state: Any) -> Any:
            return functional_call(self.member, state, inputs)

        state = dict(self.member.named_parameters()), dict(self.member.named_buffers())
        # "different": each seed draws its own dropout.
        return vmap(run, randomness="different")(*state)


def sum_over_seeds(loss: Measure) -> Measure:
    """`sum_over_seeds(F.mse_loss)` is the loss of a `ManySeeds`: outputs (seeds, batch, …), shared targets.

    >>> outputs, targets = torch.tensor([[1.0, 2.0], [5.0, 6.0]]), torch.tensor([1.0, 2.0])
    >>> sum_over_seeds(nn.functional.mse_loss)(outputs, targets).item()  # 0 and 16
    16.0
    """
    losses = vmap(loss, in_dims=(0, None))  # (outputs, targets) -> (seeds,)
    return lambda outputs, targets: losses(outputs, targets).sum()


def _state(model: nn.Module) -> Iterator[Tensor]:
    return itertools.chain(model.parameters(), model.buffers())


def _as_batches(name: str, data: Data, epochs: int) -> Iterable[Any]:
    if isinstance(data, tuple) and any(isinstance(part, Tensor) for part in data):
        return Batches(*data, batch_size=len(data[0]))
    if isinstance(data, Iterator) and epochs > 1:
        raise TypeError(f"{name} is an iterator, which can be read for one epoch, and epochs = {epochs}")
    return data


def _apply(model: nn.Module, batch: Any) -> tuple[Any, Tensor]:
    if not isinstance(batch, (tuple, list)):
        raise TypeError(f"each batch must be a tuple (inputs, …, targets), got {type(batch).__name__}")
    if len(batch) < 2 or not all(isinstance(part, Tensor) for part in batch):
        raise TypeError(f"each batch must hold tensors (inputs, …, targets), got {_kinds(batch)}")
    device = next((parameter.device for parameter in model.parameters()), None)
    *inputs, targets = (part.to(device) for part in batch)
    return model(*inputs), targets


def _kinds(parts: Sequence[object]) -> str:
    return "(" + ", ".join(type(part).__name__ for part in parts) + ")"


def _as_number(name: str, value: Any) -> float:
    if not isinstance(value, Tensor):
        return float(value)
    if value.numel() != 1:
        raise ValueError(f"{name} must give one number, got shape {tuple(value.shape)}")
    return float(value.item())


def _mean(numbers: list[float], examples: list[int]) -> float:
    if not examples:
        raise ValueError("data gave no batch")
    total = sum(number * count for number, count in zip(numbers, examples, strict=True))
    return total / sum(examples)


def _someone_watches() -> bool:
    """Whether a person would see a progress bar: in a terminal, or in a notebook that could ask for input."""
    if os.environ.get(QUIET_VARIABLE):
        return False
    kernel = getattr(get_ipython(), "kernel", None)
    if kernel is None:
        return sys.stdout.isatty()
    # JupyterLab tells the kernel that somebody can answer `input()`. What runs a notebook by itself, such as
    # nbval and nbconvert, tells it that nobody can.
    return bool(kernel.get_parent("shell")["content"].get("allow_stdin"))


def _check_at_least_one(**numbers: int) -> None:
    for name, number in numbers.items():
        if not isinstance(number, int):
            raise TypeError(f"{name} must be a whole number, got {number!r}")
        if number < 1:
            raise ValueError(f"{name} must be at least 1, got {number}")
