"""What the chapters say on a GPU, where there is none: on the one that tests/support/pretended_gpu pretends.

Its numbers are off in the last digits. So one run is enough: a text that survives this holds without it, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass

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


# ---- cells that say the same on every device, and for each a slip that shows only on a GPU ----

# Every cell begins with this.
PREPARED = """
import io, math
import torch
from torch import nn
from torch.nn import functional as F
from attnlab.masks import causal
from attnlab.runtime import generator, prepare

device = prepare(seed=0, threads=1)


def draw(*shape):
    return torch.randn(shape, generator=generator(0), dtype=torch.float64).to(device)


"""


@dataclass(frozen=True)
class Slip:
    """With `wrong` in place of `right`, `cell` is refused in these words, or prints another text."""

    name: str
    right: str
    wrong: str
    cell: str
    refusal: str = ""

    def __str__(self) -> str:
        return self.name


TWO_DEVICES = "Expected all tensors to be on the same device"
NOT_DETERMINISTIC = "does not have a deterministic implementation"
SLIPS = [
    Slip("a mask made on the CPU",
        "causal(4, device=device)", "causal(4)",
        "weights = draw(1, 4, 4).masked_fill(~causal(4, device=device), -math.inf).softmax(-1)\n"
        "print(weights.count_nonzero().item())", TWO_DEVICES),
    Slip("a CPU's number among the GPU's tensors",
        "torch.zeros((), device=device, dtype=torch.float64)", "torch.zeros((), dtype=torch.float64)",
        "losses = [draw(3).square().sum(), torch.zeros((), device=device, dtype=torch.float64)]\n"
        "print(torch.stack(losses).argmin().item())", TWO_DEVICES),
    Slip("a CPU's tensor indexed by the GPU's",
        "words[best.cpu()]", "words[best]",
        "words = torch.tensor([3, 1, 4])\nbest = draw(2, 3).argmax(-1)\nprint(words[best.cpu()].tolist())",
        TWO_DEVICES),
    Slip("weights loaded onto the CPU",
        "map_location=device", "map_location='cpu'",
        "file = io.BytesIO()\ntorch.save(draw(2, 2), file)\nfile.seek(0)\n"
        "print(torch.equal(torch.load(file, map_location=device), draw(2, 2)))", TWO_DEVICES),
    Slip("an array of a GPU's tensor",
        ".cpu().numpy()", ".numpy()",
        "print(draw(3).softmax(-1).cpu().numpy().shape)", "can't convert cuda:0 device type tensor to numpy"),
    Slip("a running sum, which no GPU repeats",
        "lengths.cumsum(0)", "lengths.double().cumsum(0)",
        "lengths = torch.tensor([3, 1, 4], device=device)\nprint([int(end) for end in lengths.cumsum(0)])",
        NOT_DETERMINISTIC),
    Slip("weights added up by word, which no GPU repeats",
        "torch.zeros(4, device=device).scatter_add(0, words, weights)", "torch.bincount(words, weights)",
        "words, weights = torch.tensor([1, 3, 1], device=device), draw(3).abs().float()\n"
        "print((torch.zeros(4, device=device).scatter_add(0, words, weights) > 0).tolist())",
        NOT_DETERMINISTIC),
    Slip("a CPU's generator for a GPU's numbers",
        "torch.rand(2, generator=generator(1)).to(device)",
        "torch.rand(2, generator=generator(1), device=device)",
        "print([f'{share:.3f}' for share in torch.rand(2, generator=generator(1)).to(device)])",
        "Expected a 'cuda' device type for generator but found 'cpu'"),
    Slip("a GPU's generator",
        "generator=generator(1)", "generator=torch.Generator(device).manual_seed(1), device=device",
        "print([f'{share:.3f}' for share in torch.rand(2, generator=generator(1))])",
        "Cannot get CUDA generator"),
    Slip("numbers drawn on the GPU",
        "torch.rand(2).to(device)", "torch.rand(2, device=device)",
        "print([f'{share:.3f}' for share in torch.rand(2).to(device)])"),
    Slip("a default device under what draws",
        "torch.device('cpu')", "device",
        "with torch.device('cpu'):\n    drawn = torch.rand(2)\nprint([f'{share:.3f}' for share in drawn])"),
    Slip("a printed tensor, which says where it is",
        "kept.tolist()", "kept",
        "kept = torch.ones(2, device=device)\nprint(kept.tolist())"),
    Slip("more digits than two machines share",
        ":.6f", "",
        "print(f'{draw(50).softmax(-1).square().sum().item():.6f}')"),
    Slip("sums that are one, to the last digit",
        "(sums - 1).abs() < 1e-9", "sums == 1",
        "sums = draw(20, 50).softmax(-1).sum(-1)\nprint(((sums - 1).abs() < 1e-9).sum().item())"),
    Slip("a digit on the edge of being another",
        ":.3f", ":.2f",
        "share = (torch.arange(200, device=device) < 197).double().mean().item()\nprint(f'{share:.3f}')"),
]  # fmt: skip


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
