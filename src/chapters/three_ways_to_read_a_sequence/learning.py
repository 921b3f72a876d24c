"""How the chapter's small models learn, five starts side by side, and how much of their answers is right.

What they compute is written in the notebook: `recalled`, `label_scores` and `write` are handed over.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from chapters.three_ways_to_read_a_sequence import number_words, starts
from chapters.three_ways_to_read_a_sequence.starts import Weights

MODELS, KINDS = 5, 8  # five starts side by side; letters to remember
Scores: TypeAlias = Callable[..., Tensor]
# The GRU's at 64 in 150 steps, mean of five starts: .12-.18 at .02, .18-.62 at .03, .71-.95 at .05, .75-1.0
# at .07, .88 at .1.
RATES = {"GRU": 0.05, "convolution": 0.01, "attention": 0.005}


def left_of_gradient(make: Callable[[torch.Generator], Any], seeds: int = 5, back: int = 65) -> Tensor:
    """`left_of_gradient(fresh_gru)` is what arrives 0 to 64 words back, against one back: (65,), a mean."""
    sizes = []
    for seed in range(seeds):
        source = generator(seed)
        reader = make(source)
        x = torch.randn(1, back, 32, generator=source).requires_grad_()
        probe = torch.randn(32, generator=source)
        (gradient,) = torch.autograd.grad(reader(x)[0, -1] @ probe, x)
        sizes.append(gradient[0].norm(dim=-1).flip(0))
    return torch.stack([size / size[1] for size in sizes]).log().mean(0).exp()


def texts(distance: int, batch: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """`texts(15, 16, source)` are letters, the first marked and a question mark last, and the answers."""
    text = torch.randint(KINDS, (batch, distance + 1), generator=source)
    marked = text[:, 0].clone()
    text[:, 0] += KINDS  # marked
    text[:, -1] = 2 * KINDS  # the question mark
    return text, marked


def train_recall(
    recalled: Scores,
    reader: str,
    distances: Sequence[int],
    *,
    rate: float | None = None,
    open_by: float = 0,
    steps: int = 150,
) -> Weights:
    """`train_recall(recalled, "GRU", range(1, 33))` trains at distances that are drawn from those given."""
    weight, source = starts.recall(reader, 0, MODELS, KINDS), generator(9)
    if open_by:  # the gate z begins nearer to 1, where the old state stays
        weight["state bias"].data.chunk(3, -1)[1].add_(open_by)
    optimizer = torch.optim.Adam(weight.values(), lr=rate or RATES[reader], fused=True)
    for _ in range(steps):
        drawn = int(torch.randint(len(distances), (), generator=source))
        text, marked = texts(distances[drawn], 16, source)
        scores = recalled(reader, weight, text)
        _step(optimizer, F.cross_entropy(scores.flatten(0, 1), marked.repeat(MODELS)))
    return weight


@torch.no_grad()
def share_right(recalled: Scores, reader: str, weight: Weights, distance: int, batch: int = 256) -> Tensor:
    """`share_right(recalled, "GRU", weight, 64)` is the share of letters named right, of each model."""
    text, marked = texts(distance, batch, generator(77))
    return (recalled(reader, weight, text).argmax(-1) == marked).double().mean(-1)


def train_labels(label_scores: Scores, how: str, *, seed: int = 0, steps: int = 150) -> Weights:
    """`train_labels(label_scores, "mean")` learns which numbers are odd, from those that are not held out."""
    inputs, _ = number_words.tables()
    known, _ = number_words.known_and_held_out()
    weight, source = starts.labels(seed, MODELS, len(number_words.LETTERS)), generator(seed)
    optimizer = torch.optim.Adam(weight.values(), lr=0.01, fused=True)
    for _ in range(steps):
        number = known[torch.randint(len(known), (32,), generator=source)]
        scores = label_scores(how, weight, inputs[number]).flatten(0, 1)
        _step(optimizer, F.cross_entropy(scores, (number % 2).repeat(MODELS)))
    return weight


def train_writer(
    write: Scores, *, shifted: bool, seed: int = 0, steps: int = 80, every: int = 10
) -> tuple[Weights, float, Tensor]:
    """`train_writer(write, shifted=True)`: weights, the last loss, and the letters right on the way.

    These are (times, 2, models): with teacher forcing, and running freely.
    """
    inputs, targets = number_words.tables()
    known, held_out = number_words.known_and_held_out()
    weight, source = starts.writer(seed, MODELS, len(number_words.LETTERS)), generator(seed)
    optimizer = torch.optim.Adam(weight.values(), lr=0.015, fused=True)
    course = []
    for step in range(steps + 1):
        if step % every == 0:
            course.append(letters_right(write, weight, held_out))
        number = known[torch.randint(len(known), (32,), generator=source)]
        scores = write(weight, number, inputs[number]).flatten(0, 2)
        right = (targets if shifted else inputs)[number].repeat(MODELS, 1).flatten()
        loss = F.cross_entropy(scores, right, ignore_index=number_words.PADDING)
        _step(optimizer, loss)
    return weight, loss.item(), torch.stack(course)


@torch.no_grad()
def letters_right(write: Scores, weight: Weights, number: Tensor) -> Tensor:
    """`letters_right(write, weight, held_out)`, (2, models): with teacher forcing, and running freely."""
    inputs, targets = (table[number] for table in number_words.tables())
    made = [write(weight, number, letters).argmax(-1) for letters in (inputs, None)]
    real = targets != number_words.PADDING
    return torch.stack([((m == targets) & real).sum((1, 2)) / real.sum() for m in made])


def _step(optimizer: torch.optim.Optimizer, loss: Tensor) -> None:
    optimizer.zero_grad()
    (MODELS * loss).backward()  # type: ignore[no-untyped-call]  # a sum: no model feels another
    optimizer.step()
