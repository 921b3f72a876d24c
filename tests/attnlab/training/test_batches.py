"""Batches: how many there are, and which examples come in each."""

import pytest
import torch
from torch import nn

from attnlab.runtime import generator
from attnlab.training.batches import Batches, iterations_per_epoch, on_device_of

# ---- batches ----


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
    whole = Batches(x, batch_size=4, drop_last=True, shuffle=generator(1))
    assert [len(batch) for (batch,) in whole] == [4, 4]


def test_batches_move_to_the_device_of_the_model() -> None:
    x, y = torch.ones(3, 2), torch.zeros(3)
    for model, device in ((nn.Linear(2, 1, device="meta"), "meta"), (nn.Tanh(), "cpu")):
        ((inputs, targets),) = on_device_of(model, [(x, 2 * x, y)])
        assert [part.device.type for part in (*inputs, targets)] == [device] * 3
        assert targets.shape == y.shape


# ---- what bad input gets ----


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
        (lambda: Batches(torch.ones(3), batch_size=4, drop_last=True), ValueError,
            "batch_size must be at most 3, .* with drop_last, got 4"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_in_words(call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
