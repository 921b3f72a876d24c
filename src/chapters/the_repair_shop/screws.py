"""A GPT of eight layers, in which one thing is turned further and further: what the chart shows, measured."""

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.shapes import Vectors
from attnlab.transformer import GPT, Block
from chapters.the_repair_shop.cheap import entropies, gradients
from chapters.the_repair_shop.patients import Patient, blocks, of_equal_sizes, rows, small

LAYERS = 8
SIZES: dict[str, tuple[float, ...]] = {
    "weights larger": (1, 1.5, 2, 3, 4, 6, 8, 12, 16),
    "scores larger": (1, 2, 4, 8, 16, 32, 64, 128, 256),
    "stream fades": (1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.3, 0.1, 0),
}


class Fading(Block):
    """`Fading(32, 4)(stream)` keeps only a share of what it is given."""

    keep = 1.0

    def forward(self, stream: Vectors) -> Vectors:
        """`block(stream)` has the shape of stream, (B, T, d_model)."""
        stream = self.keep * stream + self.attention(self.before_attention(stream))
        wide = F.gelu(self.widen(self.before_network(stream)), approximate="tanh")
        return self.keep * stream + self.narrow(wide)  # type: ignore[no-any-return]


def turned(screw: str, size: float, seed: int) -> GPT:
    """`turned("stream fades", 0.5, seed=0)` keeps half of the stream at each step."""
    spread = 0.1 * (size if screw == "weights larger" else 1)
    model = small(seed, layers=LAYERS, dropout=0.0, spread=spread)
    for place, old in enumerate(blocks(model)):
        block = of_equal_sizes(Fading, old)
        block.keep = size if screw == "stream fades" else 1.0
        if screw == "scores larger":
            with torch.no_grad():  # the first third of the rows makes queries
                block.attention.project.weight[: old.widen.in_features] *= size
        model.blocks[place] = block
    return model.eval()


def by_layer(screw: str, size: float, seeds: int = 5) -> tuple[Tensor, Tensor]:
    """`by_layer("scores larger", 64)` has log₁₀ of the gradient and bits of attention, by layer."""
    found = []
    for seed in range(seeds):
        model, ids = turned(screw, size, seed), rows(8, seed=seed)
        steep = [math.log10(max(each, 1e-12)) for each in gradients(Patient(model), ids)]
        found.append((steep, entropies(model, ids[:, :-1])))
    both = torch.tensor(found).mean(0)  # (2, layers)
    return both[0], both[1]
