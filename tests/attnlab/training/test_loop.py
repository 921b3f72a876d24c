"""The training loop: what it does to the weights, what it shows, keeps and refuses."""

import math

import pytest
import torch
from tensors import DEVICES
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset
from watched import take_for_a_terminal

from attnlab.runtime import generator
from attnlab.training.batches import Batches
from attnlab.training.history import History
from attnlab.training.loop import evaluate, train


class Slope(nn.Module):
    """x ↦ slope · x. Under the absolute error, each update of SGD moves it by the learning rate."""

    def __init__(self, slope: float = 0.0) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.tensor(slope))

    def forward(self, x: Tensor) -> Tensor:
        return self.slope * x


def slope_data(*slopes: float) -> tuple[Tensor, Tensor]:
    """As many examples as slopes: input 1, target the slope."""
    return torch.ones(len(slopes)), torch.tensor(slopes)


def sgd(model: nn.Module, lr: float = 1.0) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=lr)


def network(seed: int) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 2))


def same_sign(examples: int, seed: int) -> tuple[Tensor, Tensor]:
    """Do two numbers have the same sign? No linear model can tell."""
    x = torch.rand(examples, 2, generator=generator(seed)) * 2 - 1
    return x, (x.prod(dim=1) > 0).long()


def accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
    return (outputs.argmax(dim=-1) == targets).double().mean()


def trained(model: nn.Module, lr: float = 1.0, **changes: object) -> History:
    arguments = {"data": slope_data(9), "loss": F.l1_loss, "optimizer": sgd(model, lr), "epochs": 2}
    return train(model, **arguments | changes)


# ---- the loop ----


def test_the_loop_is_the_one_written_by_hand() -> None:
    x, y = same_sign(50, seed=0)
    model, by_hand = network(0), network(0)
    data = Batches(x, y, batch_size=16, shuffle=generator(3))
    history = train(model, data, F.cross_entropy, torch.optim.Adam(model.parameters(), lr=0.01), epochs=3)

    optimizer = torch.optim.Adam(by_hand.parameters(), lr=0.01)
    draw, losses = generator(3), []
    for _ in range(3):
        for chosen in torch.randperm(50, generator=draw).split(16):
            loss = F.cross_entropy(by_hand(x[chosen]), y[chosen])
            by_hand.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert history.iteration_losses == losses
    # The last batch of 2 counts as 2 examples, not as a whole batch.
    first = losses[:4]
    assert history.training_losses[0] == pytest.approx((16 * sum(first[:3]) + 2 * first[3]) / 50, rel=1e-12)
    for parameter, expected in zip(model.parameters(), by_hand.parameters(), strict=True):
        assert torch.equal(parameter, expected)
    assert (history.iterations, history.epochs) == (12, 3)
    assert history.validation_losses == history.validation_metrics == []


@pytest.mark.parametrize("device", DEVICES)
def test_a_network_learns_and_every_measure_has_its_place(device: str) -> None:
    model = network(0).to(device)
    history = train(
        model,
        Batches(*same_sign(400, seed=0), batch_size=32, shuffle=generator(0)),
        F.cross_entropy,
        torch.optim.Adam(model.parameters(), lr=0.03),
        epochs=15,
        validation=same_sign(200, seed=1),
        metric=accuracy,
    )
    assert history.iterations == 15 * 13
    assert history.epochs == len(history.validation_losses) == len(history.validation_metrics) == 15
    # Ten seeds reached .955 to .995; guessing reaches .5.
    assert history.validation_metrics[-1] > 0.9
    assert history.training_losses[-1] < history.training_losses[0] / 2
    measured = evaluate(model, same_sign(200, seed=1), F.cross_entropy, accuracy)
    assert measured == [history.validation_losses[-1], history.validation_metrics[-1]]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x, y: Batches(x, y, batch_size=4),
        lambda x, y: DataLoader(TensorDataset(x, y), batch_size=4),
        lambda x, y: list(zip(x.split(4), y.split(4), strict=True)),
        lambda x, y: ((x[:4], y[:4]), (x[4:8], y[4:8]), (x[8:], y[8:])),
    ],
    ids=["Batches", "DataLoader", "list", "tuple of batches"],
)
def test_any_iterable_of_batches_will_do_to_the_last_bit(wrap) -> None:
    x, y = same_sign(10, seed=0)
    first, second = network(0), network(0)
    expected = train(first, Batches(x, y, batch_size=4), F.cross_entropy, sgd(first), epochs=2)
    assert train(second, wrap(x, y), F.cross_entropy, sgd(second), epochs=2) == expected


def test_one_epoch_can_come_from_an_iterator_or_a_dataset_without_a_length() -> None:
    class Endless(IterableDataset):
        def __iter__(self):
            return zip(*slope_data(9, 9, 9), strict=True)

    for data in (iter([slope_data(9), slope_data(9), slope_data(9)]), DataLoader(Endless())):
        model = Slope()
        assert trained(model, data=data, epochs=1).iterations == 3
        assert model.slope.item() == 3


def test_learning_with_dropout_measuring_without() -> None:
    model, modes = Slope(), []
    model.register_forward_hook(lambda *_: modes.append(model.training))
    trained(model, validation=slope_data(9))
    assert modes == [True, False, True, False]
    trained(model, epochs=1)
    assert not model.training
    assert evaluate(Slope(), slope_data(9), lambda outputs, targets: outputs.requires_grad) == [False]


def test_evaluate_counts_each_batch_by_its_examples() -> None:
    data = Batches(*slope_data(1, 1, 1, 5), batch_size=3)  # absolute errors 0 0 0 | 4
    found = evaluate(Slope(1.0), data, F.l1_loss, lambda outputs, targets: len(targets))
    assert found == [1.0, (3 * 3 + 1) / 4]


@pytest.mark.parametrize(
    ("patience", "epochs", "run", "slope"),
    [(1, 10, 4, 3), (2, 10, 5, 3), (4, 10, 7, 3), (100, 5, 5, 3), (100, 2, 2, 2), (None, 10, 10, 10)],
)
def test_early_stopping_waits_and_puts_the_best_weights_back(patience, epochs, run, slope) -> None:
    """The slope becomes 1, 2, 3, 4, 5 …; the validation loss, its distance from 3, is 2, 1, 0, 1, 2 …"""
    model = Slope()
    stop = {"validation": slope_data(3), "patience": patience}
    history = trained(model, data=slope_data(99), epochs=epochs, **stop)
    assert history.best_epoch == min(3, run)
    assert history.epochs == history.iterations == run
    assert history.validation_losses == [abs(epoch - 3) for epoch in range(1, run + 1)]
    assert history.validation_metrics == []
    assert model.slope.item() == slope


def test_an_equal_loss_is_no_better_and_the_first_best_epoch_counts() -> None:
    history = trained(Slope(), lr=0, epochs=9, validation=slope_data(9), patience=2)
    assert (history.best_epoch, history.epochs) == (1, 3)
    with pytest.raises(ValueError, match="best_epoch needs validation_losses"):
        _ = trained(Slope()).best_epoch


def test_a_terminal_shows_epoch_iterations_and_loss(monkeypatch, capsys) -> None:
    take_for_a_terminal(monkeypatch)
    trained(Slope(), data=Batches(*slope_data(9, 9), batch_size=1))
    last = capsys.readouterr().out.split("\r")[-3]  # before it is wiped
    assert last.startswith("epoch 2/2")
    assert "4/4" in last
    assert "loss 6" in last  # the slope is 3 and should be 9


# ---- what bad input gets ----


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"epochs": 0}, ValueError, "epochs must be at least 1, got 0"),
        ({"epochs": 1.5}, TypeError, "epochs must be a whole number, got 1.5"),
        ({"patience": 3}, ValueError, "validation must be given with patience, got None"),
        ({"metric": F.l1_loss}, ValueError, "validation must be given with metric"),
        ({"patience": 0, "validation": slope_data(9)}, ValueError, "patience must be at least 1, got 0"),
        ({"optimizer": sgd(Slope())}, ValueError, "optimizer must hold model's parameters, got others"),
        ({"data": []}, ValueError, "data must give at least one batch"),
        ({"data": torch.ones(3)}, TypeError, r"tuple \(inputs, …, targets\), got Tensor"),
        ({"data": [(torch.ones(3),)]}, TypeError, r"targets\), got \(Tensor\)"),
        ({"data": [(torch.ones(1), [1.0])]}, TypeError, r"targets\), got \(Tensor, list\)"),
        ({"data": iter([slope_data(9)])}, TypeError, "data must be readable anew for each of 2 epochs"),
        ({"validation": iter([slope_data(9)])}, TypeError, "validation must be readable"),
        ({"validation": []}, ValueError, "data must give at least one batch"),
        ({"data": slope_data(9, 9), "loss": torch.sub}, ValueError, r"loss must give one number, got shape"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_in_words(changes, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        trained(Slope(), **changes)
    with pytest.raises(ValueError, match=r"measure must give one number, got shape \(2,\)"):
        evaluate(Slope(), slope_data(9, 9), torch.sub)


@pytest.mark.parametrize("loss", [math.nan, math.inf, -math.inf])
def test_a_loss_that_is_no_finite_number_raises_and_says_where(loss: float) -> None:
    with pytest.raises(FloatingPointError, match=r"the validation loss is (nan|inf) after epoch 1"):
        trained(Slope(), validation=slope_data(loss))
    model, data = Slope(), [slope_data(9), slope_data(9), slope_data(loss)]
    with pytest.raises(FloatingPointError, match=r"the loss is (nan|inf) at iteration 3, in epoch 1"):
        trained(model, data=data)
    assert model.slope.item() == 2, "it did not spoil the weights"
    # The steps grow the slope by a factor of 2e15: squared, it leaves float32 (3e38) at the third update.
    with pytest.raises(FloatingPointError, match="the loss is inf at iteration 3, in epoch 2"):
        trained(Slope(), lr=1e15, data=[slope_data(1), slope_data(1)], loss=F.mse_loss)
