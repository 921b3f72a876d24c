"""“Buffers, parameters and plain tensors”: what only its exercises say, and its chart."""

import io

import pytest
import torch
from living_charts import numbers, says
from playwright.sync_api import Locator
from torch import nn

from chapters.buffers_parameters_and_plain_tensors.accepted import tensors
from chapters.buffers_parameters_and_plain_tensors.charts import FOLLOWS, KINDS
from chapters.buffers_parameters_and_plain_tensors.exercises import check_checkpoint_bytes, check_left_behind


@pytest.mark.parametrize("persistent", [True, False])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_a_real_file_is_as_large_as_the_reference_says(dtype, persistent):
    model, file = nn.Module(), io.BytesIO()
    model.embedding, model.linear = nn.Embedding(700, 96), nn.Linear(96, 96)
    model.output = nn.Linear(96, 700, bias=False)
    model.output.weight = model.embedding.weight
    model.register_buffer("table", torch.zeros(500, 96), persistent=persistent)
    torch.save(model.to(dtype).state_dict(), file)
    numbers = check_checkpoint_bytes.reference(700, 96, 500, dtype.itemsize, persistent)
    # Names, shapes and alignment come on top: a few thousand bytes.
    assert numbers < file.getbuffer().nbytes < numbers + 4000


def test_the_reference_finds_what_a_move_really_leaves_behind():
    for case in check_left_behind.cases:
        (model,) = case.fresh()
        expected = check_left_behind.reference(model)
        left = [tensor for tensor in tensors(model.to("meta")) if not tensor.is_meta]
        assert sum(tensor.numel() for tensor in left) == expected


# --- the chart ---


@pytest.mark.thorough
def test_each_choice_shows_its_operation(chart: Locator) -> None:
    # The one that is chosen at first comes last: choosing it again would move nothing.
    operations = sorted(FOLLOWS, key=lambda operation: operation == ".to(device)")
    for operation in operations:
        chart.get_by_label(operation, exact=True).check()
        text = says(chart, f"{operation}: ")
        (reached,) = numbers(chart, "reached")
        assert reached.tolist() == [int(FOLLOWS[operation][kind]) for kind in KINDS]
        yes, no = text.partition("yes: ")[2].split("no: ")
        for said, answer in ((yes, True), (no, False)):
            kinds = [kind for kind in KINDS if FOLLOWS[operation][kind] is answer]
            if len(kinds) in (0, len(KINDS)):
                assert ("all five" if kinds else "none") in said
            else:
                assert [kind for kind in KINDS if kind in said.replace(",", " ").split()] == kinds
