"""What the chapters say on a GPU, where there is none: on the one that tests/support/pretended_gpu pretends.

Its numbers are off in the last digits. So one run is enough: a text that survives this holds without it, too.
"""

from collections.abc import Iterator

import pretended_gpu
import pytest
from device_slips import PREPARED, SLIPS, Slip
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


# ---- slips of a device ----


def said(kernel: NotebookClient, source: str, device: str = "cuda") -> str:
    """What a cell prints, or the error that it ends with."""
    cell = new_code_cell(PREPARED + source)
    run(kernel, [cell], device)
    return "".join(each.get("text") or f"{each.ename}: {each.evalue}" for each in cell.outputs)


@pytest.mark.parametrize("slip", SLIPS, ids=str)
def test_a_slip_is_noticed(slip: Slip, kernel: NotebookClient) -> None:
    assert slip.cell.count(slip.right) == 1
    on_a_cpu, right = said(kernel, slip.cell, "cpu"), said(kernel, slip.cell)
    assert "Error: " not in on_a_cpu
    assert right == on_a_cpu
    wrong = said(kernel, slip.cell.replace(slip.right, slip.wrong))
    assert slip.refusal in wrong
    assert ("Error: " in wrong) == bool(slip.refusal)
    assert wrong != right
