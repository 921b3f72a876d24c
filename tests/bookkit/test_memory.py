"""The most memory that a call holds at once."""

from functools import partial

import torch
import torch.nn.functional as F

from bookkit.memory import peak_memory

CPU = torch.device("cpu")


def allocate(count: int = 250_000) -> torch.Tensor:
    return torch.zeros(count)  # numbers of 4 bytes: a megabyte


def one_after_the_other() -> None:
    for _ in range(3):
        allocate()


def test_memory_of_known_allocations():
    there = allocate()
    for run, megabytes in (
        (allocate, 1),
        (lambda: allocate().exp(), 2),
        (lambda: [allocate() for _ in range(3)], 3),
        (one_after_the_other, 1),  # what was freed is used again
        (there.sqrt_, 0),  # what was there before does not count
    ):
        assert peak_memory(run, CPU) == megabytes * 1_000_000


def test_memory_inside_a_fused_kernel_counts():
    query = torch.zeros(1, 1, 64, 64)
    fused = peak_memory(partial(F.scaled_dot_product_attention, query, query, query), CPU)
    assert fused > 4 * query.numel()  # more than the output


def test_what_an_earlier_run_has_kept_is_not_counted():
    kept: list[torch.Tensor] = []
    peak_memory(lambda: kept.append(allocate(400)), CPU)
    kept.clear()
    assert peak_memory(allocate, CPU) == 1_000_000
