"""The first weights of the chapter's small models, drawn as PyTorch does, several side by side."""

import math

import torch
from torch import Tensor

Weights = dict[str, Tensor]


def uniform(source: torch.Generator, *shape: int, bound: float) -> Tensor:
    """`uniform(generator(0), 3, 4, bound=0.5)` is (3, 4), from -0.5 to 0.5."""
    return (2 * torch.rand(shape, generator=source, dtype=torch.float64) - 1) * bound


def gru(source: torch.Generator, d: int, h: int, *models: int) -> Weights:
    """`gru(generator(0), 4, 6)` are those of nn.GRU(4, 6), turned: in front of a product, and not behind."""
    bias = (1,) * len(models)  # an axis for the batch
    shapes = {"word": (d,), "word bias": bias, "state": (h,), "state bias": bias}
    return {
        name: uniform(source, *models, *rows, 3 * h, bound=1 / math.sqrt(h)) for name, rows in shapes.items()
    }


def recall(reader: str, seed: int, models: int, letters: int) -> Weights:
    """`recall("GRU", seed=0, models=5, letters=8)` has vectors for letters, marked or not, and the rest."""
    source, d = (
        torch.Generator("cpu").manual_seed(seed),
        {"GRU": 24, "convolution": 21, "attention": 29}[reader],
    )
    bound = 1 / math.sqrt(d)
    weight = {"letter": uniform(source, models, 2 * letters + 1, d, bound=math.sqrt(3))}
    weight["answer"] = uniform(source, models, d, letters, bound=bound)
    if reader == "GRU":
        weight |= gru(source, d, d, models)
    elif reader == "convolution":
        for layer in range(4):
            kernel = uniform(source, 2, models, 1, d, d, bound=bound / math.sqrt(2))
            weight |= {f"window {layer}": kernel, f"bias {layer}": torch.zeros(models, 1, 1, d).double()}
    else:
        weight["qkv"] = uniform(source, models, 1, d, 3 * d, bound=bound)
        weight["out"] = uniform(source, models, 1, d, d, bound=bound)
    return _learned(weight)


def labels(seed: int, models: int, letters: int, d: int = 24) -> Weights:
    """`labels(seed=0, models=5, letters=30)` is a layer of attention and feed-forward, and two answers."""
    source = torch.Generator("cpu").manual_seed(seed)
    shapes = {"letter": (letters, d), "answer": (d, 2), "qkv": (1, d, 3 * d), "out": (1, d, d)}
    shapes |= {"widen": (1, d, 2 * d), "narrow": (1, 2 * d, d)}
    return _learned(
        {
            name: uniform(source, models, *shape, bound=1 / math.sqrt(shape[-2]))
            for name, shape in shapes.items()
        }
    )


def writer(seed: int, models: int, letters: int, d: int = 32) -> Weights:
    """`writer(seed=0, models=5, letters=30)` has vectors for tens, ones and letters, and a GRU."""
    source = torch.Generator("cpu").manual_seed(seed)
    weight = {name: uniform(source, models, 10, d, bound=1) for name in ("tens", "ones")}
    weight["letter"] = uniform(source, models, letters, d, bound=1)
    weight["read"] = uniform(source, models, d, letters, bound=1 / math.sqrt(d))
    return _learned(weight | gru(source, d, d, models))


def _learned(weight: Weights) -> Weights:
    return {name: tensor.requires_grad_() for name, tensor in weight.items()}
