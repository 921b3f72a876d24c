"""The training loop: what it does to the weights, what it shows, and what it refuses."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset
from watched import take_for_a_terminal

from attnlab.runtime import generator
from attnlab.training.batches import Batches
from attnlab.training.history import History
from attnlab.training.loop import evaluate, train

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


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


def test_two_runs_are_equal_to_the_last_bit() -> None:
    def run() -> History:
        model = nn.Sequential(network(0), nn.Dropout(0.5))
        data = Batches(*same_sign(40, seed=0), batch_size=8, shuffle=generator(0))
        return train(model, data, F.cross_entropy, torch.optim.Adam(model.parameters()), epochs=2)

    assert run() == run()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda x, y: DataLoader(TensorDataset(x, y), batch_size=4),
        lambda x, y: list(zip(x.split(4), y.split(4), strict=True)),
        lambda x, y: ((x[:4], y[:4]), (x[4:8], y[4:8]), (x[8:], y[8:])),
    ],
    ids=["DataLoader", "list", "tuple of batches"],
)
def test_any_iterable_of_batches_will_do(wrap) -> None:
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
        assert train(model, data, F.l1_loss, sgd(model), epochs=1).iterations == 3
        assert model.slope.item() == 3


def test_a_model_may_take_several_inputs() -> None:
    model = nn.Bilinear(2, 3, 1)
    data = (torch.ones(5, 2), torch.ones(5, 3), torch.ones(5, 1))
    history = train(model, data, F.mse_loss, sgd(model, lr=0.05), epochs=40)
    assert history.training_losses[-1] < 1e-6


def test_learning_with_dropout_measuring_without() -> None:
    model, modes = Slope(), []
    model.register_forward_hook(lambda *_: modes.append(model.training))
    train(model, slope_data(9), F.l1_loss, sgd(model), epochs=2, validation=slope_data(9))
    assert modes == [True, False, True, False]
    train(model, slope_data(9), F.l1_loss, sgd(model), epochs=1)
    assert not model.training


def test_hooks_of_the_optimizer_clip_gradients_and_change_the_learning_rate() -> None:
    model = Slope()
    optimizer = sgd(model)
    halve = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)

    def clip(*_) -> None:
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)

    optimizer.register_step_pre_hook(clip)
    optimizer.register_step_post_hook(lambda *_: halve.step())
    train(model, slope_data(9), F.mse_loss, optimizer, epochs=3)
    # Each gradient is far longer than 0.25. The clipping adds 1e-6 to the norm that it divides by.
    assert model.slope.item() == pytest.approx(0.25 * (1 + 0.5 + 0.25), rel=1e-5)


# ---- early stopping ----


def stopping(patience: int | None, epochs: int = 10) -> tuple[Slope, History]:
    """The slope becomes 1, 2, 3, 4, 5 …; the validation loss, its distance from 3, is 2, 1, 0, 1, 2 …"""
    model = Slope()
    stop = {"validation": slope_data(3), "patience": patience}
    return model, train(model, slope_data(99), F.l1_loss, sgd(model), epochs=epochs, **stop)


@pytest.mark.parametrize("patience", [1, 2, 4])
def test_early_stopping_waits_and_puts_the_best_weights_back(patience: int) -> None:
    model, history = stopping(patience)
    assert history.best_epoch == 3
    assert history.epochs == history.iterations == 3 + patience
    assert history.validation_losses == [abs(epoch - 3) for epoch in range(1, 4 + patience)]
    assert history.validation_metrics == []
    assert model.slope.item() == 3


def test_the_best_weights_come_back_when_patience_outlasts_the_epochs() -> None:
    model, history = stopping(patience=100, epochs=5)
    assert (history.best_epoch, history.epochs, model.slope.item()) == (3, 5, 3)
    model, history = stopping(patience=100, epochs=2)
    assert (history.best_epoch, history.epochs, model.slope.item()) == (2, 2, 2)


def test_without_patience_every_epoch_is_run_and_the_last_weights_stay() -> None:
    model, history = stopping(patience=None)
    assert (history.best_epoch, history.epochs, model.slope.item()) == (3, 10, 10)


def test_an_equal_loss_is_no_better_and_the_first_best_epoch_counts() -> None:
    model = Slope()
    stop = {"validation": slope_data(9), "patience": 2}
    history = train(model, slope_data(9), F.l1_loss, sgd(model, lr=0), epochs=9, **stop)
    assert (history.best_epoch, history.epochs) == (1, 3)


def test_evaluate_counts_each_batch_by_its_examples() -> None:
    model = Slope(1.0)
    data = Batches(*slope_data(1, 1, 1, 5), batch_size=3)  # absolute errors 0 0 0 | 4
    assert evaluate(model, data, F.l1_loss, lambda outputs, targets: len(targets)) == [1.0, (3 * 3 + 1) / 4]


def test_evaluate_keeps_nothing_for_a_backward_pass() -> None:
    assert evaluate(Slope(), slope_data(9), lambda outputs, targets: outputs.requires_grad) == [False]


# ---- the progress bar ----


def test_a_terminal_shows_epoch_iterations_and_loss(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    take_for_a_terminal(monkeypatch)
    model = Slope()
    train(model, Batches(*slope_data(9, 9), batch_size=1), F.l1_loss, sgd(model), epochs=2)
    last = capsys.readouterr().out.split("\r")[-3]  # before it is wiped
    assert last.startswith("epoch 2/2")
    assert "4/4" in last
    assert "loss 6" in last  # the slope is 3 and should be 9


# ---- what bad input gets ----


def training_with(**changes):
    model = Slope()
    arguments = {"data": slope_data(9), "loss": F.l1_loss, "optimizer": sgd(model), "epochs": 2} | changes
    return train(model, **arguments)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: training_with(epochs=0), ValueError, "epochs must be at least 1, got 0"),
        (lambda: training_with(epochs=1.5), TypeError, "epochs must be a whole number, got 1.5"),
        (lambda: training_with(patience=3), ValueError, "validation must be given with patience, got None"),
        (
            lambda: training_with(metric=F.l1_loss),
            ValueError,
            "validation must be given with metric",
        ),
        (
            lambda: training_with(patience=0, validation=slope_data(9)),
            ValueError,
            "patience must be at least 1, got 0",
        ),
        (lambda: training_with(optimizer=sgd(Slope())), ValueError, "optimizer must hold model's parameters"),
        (lambda: training_with(data=[]), ValueError, "data must give at least one batch"),
        (lambda: training_with(data=()), ValueError, "data must give at least one batch"),
        (lambda: training_with(data=(torch.ones(3), torch.ones(4))), ValueError, r"\[3, 4\]"),
        (lambda: training_with(data=(torch.ones(0), torch.ones(0))), ValueError, r"\[0, 0\]"),
        (lambda: training_with(data=torch.ones(3)), TypeError, r"tuple \(inputs, …, targets\), got Tensor"),
        (lambda: training_with(data=[(torch.ones(3),)]), TypeError, r"targets\), got \(Tensor\)"),
        (lambda: training_with(data=[(torch.ones(1), [1.0])]), TypeError, r"targets\), got \(Tensor, list\)"),
        (lambda: training_with(data=iter([slope_data(9)])), TypeError, "data must be readable anew"),
        (lambda: training_with(validation=iter([slope_data(9)])), TypeError, "validation must be readable"),
        (lambda: training_with(validation=[]), ValueError, "data must give at least one batch"),
        (
            lambda: training_with(data=slope_data(9, 9), loss=lambda outputs, targets: outputs - targets),
            ValueError,
            r"loss must give one number, got shape \(2,\)",
        ),
        (
            lambda: evaluate(Slope(), slope_data(9, 9), torch.sub),
            ValueError,
            r"measure must give one number, got shape \(2,\)",
        ),
    ],
)
def test_what_cannot_work_is_refused_in_words(call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()


def test_a_loss_that_is_no_number_stops_training_before_it_spoils_the_weights() -> None:
    model = Slope()
    data = [slope_data(9), slope_data(9), slope_data(float("nan"))]
    with pytest.raises(FloatingPointError, match="the loss is nan at iteration 3, in epoch 1"):
        train(model, data, F.l1_loss, sgd(model), epochs=2)
    assert model.slope.item() == 2


def test_a_loss_that_diverges_names_the_iteration_counted_from_the_first_epoch() -> None:
    model = Slope()
    data = [slope_data(1), slope_data(1)]
    # The steps grow the slope by a factor of 2e15: squared, it leaves float32 (3e38) at the third update.
    with pytest.raises(FloatingPointError, match="the loss is inf at iteration 3, in epoch 2"):
        train(model, data, F.mse_loss, sgd(model, lr=1e15), epochs=2)


def test_a_validation_loss_that_is_no_number_names_the_epoch() -> None:
    with pytest.raises(FloatingPointError, match="the validation loss is nan after epoch 1"):
        training_with(validation=slope_data(float("nan")))
