"""What the chapters say on a GPU, where there is none: on the one that tests/support/pretended_gpu pretends.

Its numbers are off in the last digits. So one run is enough: a text that survives this holds without it, too.
"""

from collections.abc import Iterator

import pretended_gpu
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tools.chapters import likeness, notebooks
from tools.chapters.refresh import compared

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="session")
def kernel() -> Iterator[NotebookClient]:
    """One for all that is run here: each would take longer to start than half of the chapters to run."""
    client = NotebookClient(
        new_notebook(), timeout=120, kernel_name="python3", allow_errors=True, coalesce_streams=True,
        shutdown_kernel="immediate", resources={"metadata": {"path": str(notebooks.BOOK)}},
    )  # fmt: skip
    # Beside other tests a second thread would mostly wait.
    with client.setup_kernel(env=pretended_gpu.environment() | {"OMP_NUM_THREADS": "1"}):
        yield client


def run(kernel: NotebookClient, cells: list[NotebookNode], device: str = "cuda") -> None:
    """Give these cells the outputs that they have there."""
    chosen = new_code_cell(f"import os\nos.environ['ATTNLAB_DEVICE'] = {device!r}")
    kernel.nb = new_notebook(cells=[chosen, *cells])
    for place, cell in enumerate(kernel.nb.cells):
        kernel.execute_cell(cell, place)


@pytest.mark.weekly
@pytest.mark.parametrize("path", notebooks.chapters(), ids=lambda path: path.stem)
def test_a_chapter_says_on_a_gpu_what_it_says_on_a_cpu(path, kernel: NotebookClient) -> None:
    stored, here = notebooks.read(path), notebooks.read(path)
    # What other chapters made and set: elsewhere each has a kernel of its own.
    forget = new_code_cell("import torch\ntorch.set_default_dtype(torch.float32)\n%reset -s -f")
    run(kernel, [forget, *notebooks.code_cells(here)])
    for was, now in zip(notebooks.code_cells(stored), notebooks.code_cells(here), strict=True):
        expected, shown = likeness.in_words(was.outputs, now.outputs)
        assert compared(shown) == compared(expected), now.source


# ---- slips that show only on a GPU: there each cell is refused in these words, or prints another text ----

# Every cell begins with this.
PREPARED = """
import math
import torch
from torch import nn
from torch.nn import functional as F
from attnlab.masks import causal
from attnlab.runtime import generator, prepare

device = prepare(seed=0, threads=1)


def draw(*shape):
    return torch.randn(shape, generator=generator(0), dtype=torch.float64).to(device)


"""
TWO_DEVICES = "Expected all tensors to be on the same device"
NOT_DETERMINISTIC = "does not have a deterministic implementation"
SLIPS = {
    "a mask made on the CPU": ("draw(1, 4, 4).masked_fill(~causal(4), -math.inf)", TWO_DEVICES),
    "a CPU's number among the GPU's tensors": (
        "torch.stack([draw(3).sum(), torch.zeros((), dtype=torch.float64)])", TWO_DEVICES),
    "a CPU's tensor indexed by the GPU's": (
        "torch.tensor([3, 1, 4])[draw(2, 3).argmax(-1)]", TWO_DEVICES),
    "a running sum, which no GPU repeats": ("draw(3).cumsum(0)", NOT_DETERMINISTIC),
    "a CPU's generator for a GPU's numbers": (
        "torch.rand(2, generator=generator(1), device=device)",
        "Expected a 'cuda' device type for generator but found 'cpu'"),
    "numbers drawn on the GPU": ("print(torch.rand(2, device=device).tolist())", ""),
    "a printed tensor, which says where it is": ("print(torch.ones(2, device=device))", ""),
    "more digits than two machines share": ("print(draw(50).softmax(-1).square().sum().item())", ""),
    "sums that are one, to the last digit": (
        "print((draw(20, 50).softmax(-1).sum(-1) == 1).sum().item())", ""),
    "a digit on the edge of being another": (
        "share = (torch.arange(200, device=device) < 191).double().mean().item()\nprint(f'{share:.2f}')", ""),
}  # fmt: skip


def said(kernel: NotebookClient, source: str, device: str = "cuda") -> str:
    """What a cell prints, or the error that it ends with."""
    cell = new_code_cell(PREPARED + source + ";")  # and not what its last line is
    run(kernel, [cell], device)
    return "".join(each.get("text") or f"{each.ename}: {each.evalue}" for each in cell.outputs)


@pytest.mark.parametrize(("cell", "refusal"), SLIPS.values(), ids=SLIPS)
def test_a_slip_is_noticed(cell: str, refusal: str, kernel: NotebookClient) -> None:
    on_a_cpu, here = said(kernel, cell, "cpu"), said(kernel, cell)
    assert "Error: " not in on_a_cpu
    assert here != on_a_cpu
    assert refusal in here
    assert ("Error: " in here) == bool(refusal)
