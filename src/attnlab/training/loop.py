"""The training loop: `one_epoch` is all of it, `train` repeats it, `evaluate` measures without learning."""

import copy
import operator
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from tqdm import tqdm  # type: ignore[import-untyped]

from attnlab import require
from attnlab.training.batches import Data, as_batches, on_device_of
from attnlab.training.history import History
from attnlab.training.progress import progress_bar

Measure: TypeAlias = Callable[[Any, Tensor], Any]  # (outputs, targets) -> one number


def one_epoch(
    model: nn.Module, batches: Iterable[Any], loss: Measure, optimizer: Optimizer, history: History, bar: tqdm
) -> None:
    """`one_epoch(model, batches, F.mse_loss, optimizer, history, bar)` learns from every batch once."""
    model.train()
    examples = []
    for inputs, targets in on_device_of(model, batches):
        batch_loss = loss(model(*inputs), targets)
        # Before the update: what raises here leaves the weights that gave this loss, to be looked at.
        history.add_iteration(_as_number("loss", batch_loss))
        optimizer.zero_grad()
        batch_loss.backward()
        optimizer.step()
        examples.append(len(targets))
        bar.set_postfix_str(f"loss {history.iteration_losses[-1]:.3g}", refresh=False)
        bar.update()
    history.training_losses.append(_mean(history.iteration_losses[-len(examples) :], examples))


def train(
    model: nn.Module,
    data: Data,
    loss: Measure,
    optimizer: Optimizer,
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
    require.at_least(1, epochs=epochs)
    if patience is not None:
        require.at_least(1, patience=patience)
    require.validation_for(validation, metric=metric, patience=patience)
    require.optimizer_of(model, optimizer)
    batches = as_batches("data", data, epochs)
    unseen = None if validation is None else as_batches("validation", validation, epochs)
    measures = [loss] if metric is None else [loss, metric]

    history = History()
    best_weights: dict[str, Any] = {}
    with progress_bar(epochs * operator.length_hint(batches)) as bar:
        for epoch in range(1, epochs + 1):
            bar.set_description(f"epoch {epoch}/{epochs}", refresh=False)
            one_epoch(model, batches, loss, optimizer, history, bar)
            if unseen is not None:
                history.add_validation(*evaluate(model, unseen, *measures))
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
        for inputs, targets in on_device_of(model, as_batches("data", data, epochs=1)):
            outputs = model(*inputs)
            for measured, measure in zip(numbers, measures, strict=True):
                measured.append(_as_number("measure", measure(outputs, targets)))
            examples.append(len(targets))
    return [_mean(measured, examples) for measured in numbers]


def _as_number(name: str, value: Any) -> float:
    if not isinstance(value, Tensor):
        return float(value)
    if value.numel() != 1:
        raise ValueError(f"{name} must give one number, got shape {tuple(value.shape)}")
    return float(value.item())


def _mean(numbers: list[float], examples: list[int]) -> float:
    """`_mean([1.0, 4.0], examples=[2, 1])` is 2: each batch counts by its examples."""
    if not examples:
        raise ValueError("data must give at least one batch, got none")
    total = sum(number * count for number, count in zip(numbers, examples, strict=True))
    return total / sum(examples)
