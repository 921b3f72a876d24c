"""The chart of “Epochs, batches, iterations” counts as attnlab and PyTorch's own sampler do."""

from collections.abc import Callable

import pytest
import torch
from playwright.sync_api import Page, expect
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from attnlab.batches import iterations_per_epoch

# examples, batch size, workers: the chart's own beginning, and other things that don't come out even
SETTINGS = [(2001, 500, 1), (2000, 500, 2), (2000, 500, 4), (2001, 500, 2), (1999, 150, 8), (2100, 1000, 3)]


def loaders(examples: int, batch_size: int, workers: int, drop_last: bool) -> list[DataLoader]:
    data = range(examples)
    return [
        DataLoader(
            data,
            batch_size,
            sampler=DistributedSampler(data, workers, rank, drop_last=drop_last),
            drop_last=drop_last,
        )
        for rank in range(workers)
    ]


@pytest.mark.parametrize("choice", ["kept", "dropped (drop_last)"])
def test_the_counts_are_those_of_the_samplers(
    page: Page, base_url: str, numbers: Callable, choice: str
) -> None:
    page.goto(base_url + "epochs-batches-iterations.html")
    chart = page.locator(".chart").first
    drop_last = choice != "kept"
    chart.get_by_label(choice, exact=True).check()
    for examples, batch_size, workers in SETTINGS:
        for name, value in {
            "examples": examples,
            "batch size of each worker": batch_size,
            "workers": workers,
        }.items():
            chart.get_by_label(name, exact=True).fill(str(value))
        each = [list(loader) for loader in loaders(examples, batch_size, workers, drop_last)]
        iterations = iterations_per_epoch(examples, batch_size, drop_last, workers)
        assert {len(batches) for batches in each} == {iterations}
        read = torch.tensor([number for batches in each for batch in batches for number in batch.tolist()])
        different = len(read.unique())

        expect(chart.get_by_role("status")).to_contain_text(f"iterations per epoch: {iterations}")
        expect(chart.get_by_role("status")).to_contain_text(
            f"read twice: {len(read) - different}, left out: {examples - different}"
        )
        assert numbers(chart, "per_update").tolist() == [
            sum(len(batch) for batches in each for batch in batches[:1])
        ]
        assert numbers(chart, "in_last").tolist() == [
            sum(len(batch) for batches in each for batch in batches[-1:])
        ]

        sizes = numbers(chart, "end") - numbers(chart, "start")
        drawn = [sizes[numbers(chart, "worker") == worker].tolist()[:iterations] for worker in range(workers)]
        assert drawn == [[len(batch) for batch in batches] for batches in each]
