"""“Epochs, batches, iterations”: what only its exercises say, and its chart."""

import itertools

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from attnlab.training.batches import iterations_per_epoch

# --- the chart ---


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


@pytest.mark.thorough
def test_the_counts_are_those_of_the_samplers(chart: Locator) -> None:
    for drop_last, (examples, batch_size, workers) in itertools.product((False, True), SETTINGS):
        chart.get_by_label("dropped (drop_last)" if drop_last else "kept", exact=True).check()
        for control, value in {
            "examples": examples,
            "batch size of each worker": batch_size,
            "workers": workers,
        }.items():
            chart.get_by_label(control, exact=True).fill(str(value))
        each = [list(loader) for loader in loaders(examples, batch_size, workers, drop_last)]
        iterations = iterations_per_epoch(examples, batch_size, drop_last, workers)
        assert {len(batches) for batches in each} == {iterations}
        read = torch.tensor([number for batches in each for batch in batches for number in batch.tolist()])
        different = len(read.unique())

        says(chart, f"iterations per epoch: {iterations}")
        says(chart, f"read twice: {len(read) - different}, left out: {examples - different}")
        updated, last, start, end, worker = numbers(chart, "per_update", "in_last", "start", "end", "worker")
        assert updated.tolist() == [sum(len(batch) for batches in each for batch in batches[:1])]
        assert last.tolist() == [sum(len(batch) for batches in each for batch in batches[-1:])]
        drawn = [(end - start)[worker == rank].tolist()[:iterations] for rank in range(workers)]
        assert drawn == [[len(batch) for batch in batches] for batches in each]
