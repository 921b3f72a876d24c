"""Batches: how many there are, and which examples come in each."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from attnlab.runtime import generator
from attnlab.training.batches import Batches, as_batches, iterations_per_epoch, on_device_of

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
    if workers == 1 and expected:
        x, y = torch.arange(examples), -torch.arange(examples)
        ours = list(Batches(x, y, batch_size=batch_size, drop_last=drop_last))
        theirs = list(DataLoader(TensorDataset(x, y), batch_size, drop_last=drop_last))
        torch.testing.assert_close([list(batch) for batch in ours], theirs)


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
    assert [len(batch) for (batch,) in Batches(x, batch_size=4, drop_last=True, shuffle=generator(1))] == [
        4,
        4,
    ]


def test_a_tuple_of_tensors_is_one_batch_and_the_rest_stays_as_it_is() -> None:
    x, y = torch.ones(3, 2), torch.zeros(3)
    (batch,) = as_batches("data", (x, y), epochs=2)
    assert [tuple(part.shape) for part in batch] == [(3, 2), (3,)]
    for data in ([(x, y)], ((x, y), (x, y)), Batches(x, y, batch_size=2)):
        assert as_batches("data", data, epochs=2) is data
    once = iter([(x, y)])
    assert as_batches("data", once, epochs=1) is once


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
        (lambda: as_batches("data", iter([]), epochs=2), TypeError,
            "data must be readable anew for each of 2 epochs, got an iterator"),
        (lambda: list(on_device_of(nn.Tanh(), torch.ones(3))), TypeError, r"targets\), got Tensor"),
        (lambda: list(on_device_of(nn.Tanh(), [(torch.ones(3),)])), TypeError, r"targets\), got \(Tensor\)"),
        (lambda: list(on_device_of(nn.Tanh(), [(torch.ones(1), [1.0])])), TypeError,
            r"targets\), got \(Tensor, list\)"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_in_words(call, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call()
