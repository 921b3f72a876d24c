"""“Buffers, parameters and plain tensors”: what only its exercises say, and its chart."""

import copy
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


TABLE = torch.arange(6.0).view(3, 2)


def hold(table: torch.Tensor = TABLE) -> nn.Module:
    module = nn.Module()
    module.parameter = nn.Parameter(table.clone())
    module.frozen = nn.Parameter(table.clone(), requires_grad=False)
    module.register_buffer("buffer", table.clone())
    module.register_buffer("unsaved", table.clone(), persistent=False)
    module.plain = table.clone()
    return module


def held(module: nn.Module) -> dict[str, torch.Tensor]:
    return {kind: getattr(module, kind) for kind in KINDS}


def stepped(module: nn.Module) -> dict[str, bool]:
    sum((tensor.square().sum() for tensor in held(module).values()), torch.zeros(())).backward()
    torch.optim.SGD(module.parameters(), lr=0.1).step()
    return {kind: not torch.equal(tensor, TABLE) for kind, tensor in held(module).items()}


def loaded_at_another_length() -> dict[str, bool]:
    with pytest.raises(RuntimeError, match="size mismatch") as failure:
        hold(torch.zeros(5, 2)).load_state_dict(hold().state_dict(), strict=False)
    return {kind: f"size mismatch for {kind}:" not in str(failure.value) for kind in KINDS}


def saved_and_loaded() -> nn.Module:
    file = io.BytesIO()
    torch.save(hold(), file)
    file.seek(0)
    loaded: nn.Module = torch.load(file, weights_only=False)
    return loaded


def what_pytorch_does() -> dict[str, dict[str, bool]]:
    module, twin = hold(), copy.deepcopy(hold())
    return {
        "state_dict()": {kind: kind in module.state_dict() for kind in KINDS},
        ".to(device)": {kind: tensor.is_meta for kind, tensor in held(hold().to("meta")).items()},
        ".double()": {kind: tensor.dtype == torch.float64 for kind, tensor in held(hold().double()).items()},
        "optimizer.step()": stepped(hold()),
        "requires_grad_(True)": stepped(hold().requires_grad_(True)),
        "loads at another length": loaded_at_another_length(),
        "copy.deepcopy(model)": {
            kind: torch.equal(tensor, TABLE) and tensor.data_ptr() != held(module)[kind].data_ptr()
            for kind, tensor in held(twin).items()
        },
        "torch.save(model)": {
            kind: torch.equal(tensor, TABLE) for kind, tensor in held(saved_and_loaded()).items()
        },
    }


def test_the_charts_data_are_what_pytorch_does() -> None:
    assert what_pytorch_does() == FOLLOWS


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
