"""The training loop: what it counts, what it does to the weights, what it shows, and what it refuses."""

import io
import sys
import time
from pathlib import Path

import nbclient
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import v4 as notebook_format
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from attnlab.runtime import generator
from attnlab.training import (
    QUIET_VARIABLE,
    Batches,
    History,
    ManySeeds,
    evaluate,
    iterations_per_epoch,
    sum_over_seeds,
    train,
)

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


# ---- counting ----


def test_iterations_per_epoch_of_the_book() -> None:
    assert [iterations_per_epoch(2000, 500, workers=workers) for workers in (1, 2, 4)] == [4, 2, 1]
    assert iterations_per_epoch(2001, 500) == 5
    assert iterations_per_epoch(2001, 500, drop_last=True) == 4
    # With one example to a batch, an iteration per example of a worker's share.
    assert iterations_per_epoch(2001, 1, workers=2) == 1001
    assert iterations_per_epoch(2001, 1, workers=2, drop_last=True) == 1000
    assert iterations_per_epoch(3, 5, drop_last=True) == 0


@settings(deadline=None)  # a busy machine is no fault
@given(st.integers(1, 60), st.integers(1, 20), st.booleans(), st.integers(1, 5))
def test_iterations_per_epoch_are_those_of_dataloader(
    examples: int, batch_size: int, drop_last: bool, workers: int
) -> None:
    data = range(examples)
    expected = iterations_per_epoch(examples, batch_size, drop_last, workers)
    for rank in range(workers):
        share = DistributedSampler(data, workers, rank, drop_last=drop_last)
        loader = DataLoader(data, batch_size, sampler=share, drop_last=drop_last)
        assert len(list(loader)) == expected
    alone = list(DataLoader(data, batch_size, drop_last=drop_last))
    assert len(alone) == iterations_per_epoch(examples, batch_size, drop_last)


# ---- batches ----


@settings(deadline=None)
@given(st.integers(1, 30), st.integers(1, 10), st.booleans())
def test_batches_in_order_are_those_of_dataloader(examples: int, batch_size: int, drop_last: bool) -> None:
    x, y = torch.arange(examples), -torch.arange(examples)
    expected = list(DataLoader(TensorDataset(x, y), batch_size, drop_last=drop_last))
    if not expected:
        return
    data = Batches(x, y, batch_size=batch_size, drop_last=drop_last)
    assert len(data) == len(expected)
    for (batch_x, batch_y), (expected_x, expected_y) in zip(data, expected, strict=True):
        assert torch.equal(batch_x, expected_x)
        assert torch.equal(batch_y, expected_y)


def test_shuffled_batches_hold_every_example_once_and_keep_it_whole() -> None:
    x = torch.arange(10)
    data = Batches(x, x * x, batch_size=3, shuffle=generator(0))
    epochs = []
    for _ in range(2):
        parts = list(data)
        assert [len(batch_x) for batch_x, _ in parts] == [3, 3, 3, 1]
        order = torch.cat([batch_x for batch_x, _ in parts])
        assert torch.equal(torch.cat([squares for _, squares in parts]), order * order)
        assert torch.equal(order.sort().values, x)
        epochs.append(order.tolist())
    assert epochs[0] != epochs[1]
    again = Batches(x, batch_size=10, shuffle=generator(0))
    assert [batch[0].tolist() for _ in range(2) for batch in again] == epochs


def test_dropping_the_last_batch_drops_only_that() -> None:
    x = torch.arange(5)
    assert [batch.tolist() for (batch,) in Batches(x, batch_size=2, drop_last=True)] == [[0, 1], [2, 3]]
    shuffled = Batches(torch.arange(10), batch_size=4, drop_last=True, shuffle=generator(1))
    assert [len(batch) for (batch,) in shuffled] == [4, 4]


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


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def slow_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    time.sleep(0.11)  # the bar is drawn anew every tenth of a second
    return F.l1_loss(outputs, targets)


def train_two_epochs(loss=F.l1_loss) -> None:
    model = Slope()
    train(model, Batches(*slope_data(9, 9), batch_size=1), loss, sgd(model), epochs=2)


def test_a_terminal_shows_a_bar_and_wipes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(QUIET_VARIABLE, raising=False)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    train_two_epochs(slow_loss)
    *_, last, wiped, nothing = terminal.getvalue().split("\r")
    assert last.startswith("epoch 2/2")
    assert "4/4" in last
    assert "loss 6" in last  # the slope is 3 and should be 9
    assert (wiped.strip(), nothing) == ("", "")


def test_no_bar_when_asked_for_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(QUIET_VARIABLE, "1")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    train_two_epochs()
    assert terminal.getvalue() == ""


def test_no_bar_in_a_file_or_pipe(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(QUIET_VARIABLE, raising=False)
    train_two_epochs()
    assert capfd.readouterr() == ("", "")


def test_a_notebook_shows_a_bar_to_a_person_and_none_to_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same cell twice in one kernel: as nbclient runs it, then with input allowed, as in JupyterLab."""
    monkeypatch.delenv(QUIET_VARIABLE, raising=False)
    book = Path(__file__).parents[2] / "book"
    cell = notebook_format.new_code_cell(
        "import torch\n"
        "from attnlab.training import train\n"
        "line, data = torch.nn.Linear(1, 1), (torch.ones(1, 1), torch.ones(1, 1))\n"
        "_ = train(line, data, torch.nn.functional.mse_loss, torch.optim.SGD(line.parameters()), epochs=2)"
    )
    notebook = notebook_format.new_notebook(cells=[cell])
    client = nbclient.NotebookClient(notebook, resources={"metadata": {"path": str(book)}})
    with client.setup_kernel():
        assert client.execute_cell(cell, 0).outputs == []
        client.kc.allow_stdin = True
        outputs = client.execute_cell(cell, 0).outputs
    assert {output.name for output in outputs} == {"stdout"}
    shown = "".join(output.text for output in outputs)
    assert "0/2" in shown
    assert shown.split("\r")[-2].strip() == ""


# ---- many seeds ----


class LookUp(nn.Module):
    """Pairs of a key and a value, and a query that equals one of the keys: which value stands beside it?"""

    def __init__(self, seed: int, keys: int = 6, d_k: int = 4) -> None:
        super().__init__()
        draw = generator(seed)
        self.query = nn.Parameter(torch.randn(keys, d_k, generator=draw, dtype=torch.float64))
        self.key = nn.Parameter(torch.randn(keys, d_k, generator=draw, dtype=torch.float64))

    def forward(self, asked: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        query = self.query[asked]  # (B, d_k)
        key = self.key[keys]  # (B, pairs, d_k)
        weights = (key @ query.unsqueeze(-1)).softmax(dim=1)  # (B, pairs, 1)
        return (weights * values).sum(dim=1).log()  # (B, values)


def look_ups(examples: int, pairs: int = 3, keys: int = 6) -> tuple[Tensor, ...]:
    draw = generator(0)
    shown = torch.rand(examples, keys, generator=draw).argsort(dim=1)[:, :pairs]  # (B, pairs)
    values = torch.randint(4, (examples, pairs), generator=draw)  # (B, pairs)
    place = torch.randint(pairs, (examples, 1), generator=draw)  # (B, 1)
    # A little of every value, so that no predicted probability is 0.
    given_values = 0.9 * F.one_hot(values, 4).double() + 0.025  # (B, pairs, 4)
    return shown.gather(1, place)[:, 0], shown, given_values, values.gather(1, place)[:, 0]


def test_seeds_trained_together_equal_the_seeds_trained_alone() -> None:
    data = look_ups(64)

    def run(model: nn.Module, loss) -> None:
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        train(model, Batches(*data, batch_size=16, shuffle=generator(0)), loss, optimizer, epochs=10)

    together = ManySeeds([LookUp(seed) for seed in range(3)])
    run(together, sum_over_seeds(F.nll_loss))
    for seed in range(3):
        alone = LookUp(seed)
        run(alone, F.nll_loss)
        # Stacked products may add in another order, which moves float64 by 1e-16 at each of the 40 updates.
        assert torch.allclose(together.member.query[seed], alone.query, rtol=0, atol=1e-10)
        assert torch.allclose(together.member.key[seed], alone.key, rtol=0, atol=1e-10)
        assert torch.allclose(together(*data[:3])[seed], alone(*data[:3]), rtol=0, atol=1e-10)
    # They did learn: guessing one of the three pairs gives .5.
    assert accuracy(together(*data[:3]), data[3].expand(3, -1)) > 0.9


def test_many_seeds_leave_the_models_alone_and_do_what_they_do() -> None:
    models = [nn.Sequential(nn.Embedding(7, 4), nn.LayerNorm(4), nn.Linear(4, 2)) for _ in range(3)]
    before = models[0][2].weight.clone()
    many = ManySeeds(models)
    ids = torch.tensor([[0, 6, 3]])
    outputs = many(ids)
    assert outputs.shape == (3, 1, 3, 2)
    for seed, model in enumerate(models):
        # float32, and a batched product may add in another order.
        assert torch.allclose(outputs[seed], model(ids), rtol=0, atol=1e-6)
    train(many, (ids, torch.ones(1, 3, 2)), sum_over_seeds(F.mse_loss), sgd(many, lr=0.1), epochs=1)
    assert torch.equal(models[0][2].weight, before)
    assert not torch.equal(many.member[2].weight[0], before)


def test_each_seed_draws_its_own_dropout_while_it_trains() -> None:
    model = nn.Sequential(nn.Linear(3, 100), nn.Dropout(0.5))
    many = ManySeeds([model, model])
    first, second = many(torch.ones(3))
    assert not torch.equal(first, second)
    first, second = many.eval()(torch.ones(3))
    assert torch.equal(first, second)


def test_tied_parameters_stay_tied_and_buffers_are_stacked() -> None:
    class Tied(nn.Module):
        def __init__(self, seed: int) -> None:
            super().__init__()
            self.embedding = nn.Embedding(5, 3)
            self.head = nn.Linear(3, 5, bias=False)
            self.head.weight = self.embedding.weight
            self.register_buffer("offset", torch.full((5,), float(seed)))

        def forward(self, ids: Tensor) -> Tensor:
            return self.head(self.embedding(ids)) + self.offset

    models = [Tied(seed) for seed in range(2)]
    many = ManySeeds(models)
    assert many.member.head.weight is many.member.embedding.weight
    assert [tuple(parameter.shape) for parameter in many.parameters()] == [(2, 5, 3)]
    assert many.member.offset.tolist() == [[0] * 5, [1] * 5]
    ids = torch.arange(5)
    assert torch.allclose(many(ids)[1], models[1](ids), rtol=0, atol=1e-6)


@pytest.mark.parametrize("layer", [nn.RNN, nn.GRU, nn.LSTM])
def test_recurrent_layers_cannot_be_stacked(layer: type[nn.RNNBase]) -> None:
    many = ManySeeds([layer(2, 2), layer(2, 2)])
    with pytest.raises(RuntimeError, match="Batching rule not implemented"):
        many(torch.ones(3, 1, 2))


# ---- what bad input gets ----


def training_with(**changes):
    model = Slope()
    arguments = {"data": slope_data(9), "loss": F.l1_loss, "optimizer": sgd(model), "epochs": 2} | changes
    return train(model, **arguments)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: iterations_per_epoch(0, 5), ValueError, "examples must be at least 1, got 0"),
        (lambda: iterations_per_epoch(5, 0), ValueError, "batch_size must be at least 1, got 0"),
        (lambda: iterations_per_epoch(5, 2.5), TypeError, "batch_size must be a whole number, got 2.5"),
        (lambda: iterations_per_epoch(5, 5, workers=-1), ValueError, "workers must be at least 1, got -1"),
        (lambda: Batches(batch_size=2), ValueError, r"one length, .* got lengths \[\]"),
        (lambda: Batches(torch.ones(0, 3), batch_size=2), ValueError, r"one length, .* got lengths \[0\]"),
        (lambda: Batches(*map(torch.ones, (3, 4)), batch_size=2), ValueError, r"one length, .* \[3, 4\]"),
        (lambda: Batches(torch.ones(3), [1, 2, 3], batch_size=2), TypeError, r"got \(Tensor, list\)"),
        (lambda: Batches(torch.ones(3), batch_size=0), ValueError, "batch_size must be at least 1, got 0"),
        (lambda: Batches(torch.ones(3), batch_size=4, drop_last=True), ValueError, "drop_last drops all 3"),
        (lambda: History().best_epoch, ValueError, "best_epoch needs validation_losses"),
        (lambda: training_with(epochs=0), ValueError, "epochs must be at least 1, got 0"),
        (lambda: training_with(epochs=1.5), TypeError, "epochs must be a whole number, got 1.5"),
        (lambda: training_with(patience=3), ValueError, "patience needs validation data"),
        (lambda: training_with(metric=F.l1_loss), ValueError, "metric needs validation data"),
        (
            lambda: training_with(patience=0, validation=slope_data(9)),
            ValueError,
            "patience must be at least 1, got 0",
        ),
        (lambda: training_with(optimizer=sgd(Slope())), ValueError, "optimizer holds none of model's param"),
        (lambda: training_with(data=[]), ValueError, "data gave no batch"),
        (lambda: training_with(data=()), ValueError, "data gave no batch"),
        (lambda: training_with(data=(torch.ones(3), torch.ones(4))), ValueError, r"\[3, 4\]"),
        (lambda: training_with(data=(torch.ones(0), torch.ones(0))), ValueError, r"\[0, 0\]"),
        (lambda: training_with(data=torch.ones(3)), TypeError, r"tuple \(inputs, …, targets\), got Tensor"),
        (lambda: training_with(data=[(torch.ones(3),)]), TypeError, r"targets\), got \(Tensor\)"),
        (lambda: training_with(data=[(torch.ones(1), [1.0])]), TypeError, r"targets\), got \(Tensor, list\)"),
        (lambda: training_with(data=iter([slope_data(9)])), TypeError, "data is an iterator, .* epochs = 2"),
        (lambda: training_with(validation=iter([slope_data(9)])), TypeError, "validation is an iterator"),
        (lambda: training_with(validation=[]), ValueError, "data gave no batch"),
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
        (lambda: ManySeeds([]), ValueError, "models must hold at least one model"),
        (
            lambda: ManySeeds([nn.Linear(2, 3), nn.Linear(2, 4)]),
            ValueError,
            r"models\[1\] has weights of shapes \[\(4, 2\), \(4,\)\], models\[0\] \[\(3, 2\), \(3,\)\]",
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
