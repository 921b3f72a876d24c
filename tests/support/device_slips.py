"""Cells that say the same on every device, and for each a slip that shows only on a GPU."""

from dataclasses import dataclass

# Every cell begins with this.
PREPARED = """
import io, math
import torch
from torch import nn
from torch.nn import functional as F
from attnlab.attention import attend
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
    Slip("a mask on the CPU, handed to attnlab",
        "mask=causal(4, device=device)", "mask=causal(4)",
        "output, weights = attend(*draw(3, 1, 4, 2), mask=causal(4, device=device))\n"
        "print(weights.triu(1).sum().item())", "mask must be on cuda:0, as the scores are, got cpu"),
    Slip("positions counted on the CPU",
        "torch.arange(8, device=device)", "torch.arange(8)",
        "nearest = -(torch.arange(8, device=device) - draw(8, 1)).abs()\nprint(nearest.shape)", TWO_DEVICES),
    Slip("a table kept as a plain attribute",
        'self.register_buffer("table", torch.ones(4, 2))', "self.table = torch.ones(4, 2)",
        "class Positions(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        '        self.register_buffer("table", torch.ones(4, 2))\n    def forward(self, words):\n'
        "        return words + self.table\n"
        "print(Positions().to(device)(torch.zeros(4, 2, device=device)).tolist())", TWO_DEVICES),
    Slip("a model that stayed on the CPU",
        "nn.Linear(2, 1, dtype=torch.float64).to(device)", "nn.Linear(2, 1, dtype=torch.float64)",
        "print(nn.Linear(2, 1, dtype=torch.float64).to(device)(draw(3, 2)).shape)", TWO_DEVICES),
    Slip("labels that stayed on the CPU",
        "labels.to(device)", "labels",
        "labels = torch.tensor([0, 2])\nprint(f'{F.cross_entropy(draw(2, 3), labels.to(device)):.3f}')",
        TWO_DEVICES),
    Slip("a CPU's number among the GPU's tensors",
        "torch.zeros((), device=device, dtype=torch.float64)", "torch.zeros((), dtype=torch.float64)",
        "losses = [draw(3).square().sum(), torch.zeros((), device=device, dtype=torch.float64)]\n"
        "print(torch.stack(losses).argmin().item())", TWO_DEVICES),
    Slip("a CPU's tensor indexed by the GPU's",
        "words[best.cpu()]", "words[best]",
        "words = torch.tensor([3, 1, 4])\nbest = draw(2, 3).argmax(-1)\nprint(words[best.cpu()].tolist())",
        TWO_DEVICES),
    Slip("compared with what is on the CPU",
        "norm.weight.cpu()", "norm.weight",
        "norm = nn.LayerNorm(2).to(device)\nprint(torch.equal(norm.weight.cpu(), torch.ones(2)))",
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
    Slip("a median with its place, which no GPU repeats",
        "draw(3, 5).cpu().median(-1)", "draw(3, 5).median(-1)",
        "print(draw(3, 5).cpu().median(-1).indices.tolist())", NOT_DETERMINISTIC),
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
    Slip("first weights drawn on the GPU",
        "nn.Linear(2, 2).to(device)", "nn.Linear(2, 2, device=device)",
        "print([f'{weight:.3f}' for weight in nn.Linear(2, 2).to(device).weight.flatten()])"),
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
    Slip("a winner among equals",
        "sums.mul(1e6).round().argmin()", "sums.argmin()",
        "sums = draw(1, 3).expand(20, 3).sum(-1)\nprint(sums.mul(1e6).round().argmin().item())"),
    Slip("a digit on the edge of being another",
        ":.3f", ":.2f",
        "share = (torch.arange(200, device=device) < 197).double().mean().item()\nprint(f'{share:.3f}')"),
]  # fmt: skip
