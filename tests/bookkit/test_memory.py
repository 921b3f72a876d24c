"""The most memory that a call holds at once."""

from functools import partial

import torch
import torch.nn.functional as F

from bookkit.memory import peak_memory

CPU = torch.device("cpu")


def test_memory_of_known_allocations():
    megabyte = 250_000  # numbers of 4 bytes
    assert peak_memory(lambda: torch.zeros(megabyte), CPU) == 1_000_000
    assert peak_memory(lambda: torch.zeros(megabyte).exp(), CPU) == 2_000_000
    assert peak_memory(lambda: [torch.zeros(megabyte) for _ in range(3)], CPU) == 3_000_000


def test_memory_that_was_freed_is_used_again():
    def one_after_the_other() -> None:
        for _ in range(3):
            torch.zeros(250_000)

    assert peak_memory(one_after_the_other, CPU) == 1_000_000


def test_memory_that_was_there_before_does_not_count():
    there = torch.zeros(250_000)
    assert peak_memory(lambda: there.sqrt_(), CPU) == 0


def test_memory_inside_a_fused_kernel_counts():
    query = torch.zeros(1, 1, 64, 64)
    fused = peak_memory(partial(F.scaled_dot_product_attention, query, query, query), CPU)
    assert fused > 4 * query.numel()  # more than the output


def test_what_an_earlier_run_has_kept_is_not_counted():
    kept: list[torch.Tensor] = []

    def keep() -> None:
        kept.append(torch.zeros(400))

    peak_memory(keep, CPU)
    kept.clear()
    assert peak_memory(lambda: torch.zeros(250_000), CPU) == 1_000_000
