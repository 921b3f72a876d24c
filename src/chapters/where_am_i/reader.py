"""One layer of attention with any kind of positions, and the small jobs that it learns."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, one_hot

from attnlab import positions
from attnlab.masks import causal
from attnlab.runtime import generator
from attnlab.scores import scaled_dot

SEEDS, SYMBOLS, HEADS, LONGEST = 5, 10, 4, 192
NOTHING = -100  # cross_entropy leaves out what has this as its target
TRAINED = 24  # the length of the sequences in training
# Of .01, .02, .04 and .08 the best at the training length for each scheme, or within .012 of its best, on
# other starts than the chapter's.
RATES = {16: 0.08, 32: 0.04, 64: 0.02}
Job: TypeAlias = Callable[[int, int, torch.Generator], tuple[Tensor, Tensor]]


class Reader(nn.Module):
    """`Reader("rotary")(ids)` says a symbol at each of (B, T) places, once for each seed: (seeds, B, T, 10).

    Several models with different starts train side by side: the first axis of every parameter is the seed.
    A `table` is added to the words in place of a scheme's own. With `look_ahead` nothing is masked.
    """

    def __init__(
        self,
        scheme: str = "none",
        *,
        width: int = 32,
        base: float = 10000.0,
        table: Tensor | None = None,
        look_ahead: bool = False,
        seed: int = 0,
    ) -> None:
        super().__init__()
        source = generator(seed)

        def start(*shape: int, spread: float) -> nn.Parameter:
            # On the CPU, and in float64: it is too small for a GPU, and learns the same on every machine.
            numbers = torch.rand(SEEDS, *shape, generator=source, dtype=torch.float64)
            return nn.Parameter(spread * (2 * numbers - 1))

        self.words = start(SYMBOLS + 1, width, spread=1)  # one more, for the blank
        self.project = start(width, 3 * width, spread=width**-0.5)
        self.read_out = start(width, SYMBOLS, spread=width**-0.5)
        if scheme == "learned":
            table = start(1, LONGEST, width, spread=1.2)
        elif scheme == "sinusoidal":
            table = positions.sinusoidal(LONGEST, width, base, torch.float64)
        self.table, self.scheme, self.base, self.look_ahead = table, scheme, base, look_ahead
        self.rate = RATES[width]

    def forward(self, ids: Tensor, asked: int | None = None) -> Tensor:
        """`reader(ids, asked=24)` answers at the last 24 places alone: (seeds, B, 24, 10)."""
        shape, length = ids.shape, ids.shape[-1]  # (B, T)
        asked = length if asked is None else asked
        # A product with ones and zeros looks words up, and its gradient is a product, too: far quicker.
        x = one_hot(ids.flatten(), SYMBOLS + 1).double() @ self.words  # (seeds, B · T, width)
        if self.table is not None:  # at the words
            x = (_placed(x, shape) + self.table[..., :length, :]).flatten(1, 2)
        parts = _placed(x @ self.project, shape)  # (seeds, B, T, 3 · width)
        parts = parts.view(*parts.shape[:-1], 3, HEADS, -1)
        query, key, value = parts.transpose(-4, -2).unbind(-3)  # (seeds, B, heads, T, d_k) each
        query = query[..., -asked:, :]
        if self.scheme == "rotary":  # at the queries and keys
            query = positions.rotate(query, length - asked, self.base)
            key = positions.rotate(key, base=self.base)
        scores = scaled_dot(query, key)  # (seeds, B, heads, asked, T)
        if self.scheme == "ALiBi":  # at the scores
            scores = scores + positions.alibi_bias(HEADS, asked, length, scores.dtype)
        if not self.look_ahead:
            scores = scores.masked_fill(~causal(asked, length), -math.inf)
        mixed = (scores.softmax(-1) @ value).transpose(-3, -2)  # (seeds, B, asked, heads, d_k)
        answers = mixed.flatten(-2).flatten(1, 2) @ self.read_out  # (seeds, B · asked, 10)
        return _placed(answers, torch.Size([shape[0], asked]))


def _placed(rows: Tensor, shape: torch.Size) -> Tensor:
    """(seeds, B · T, …) as (seeds, B, T, …)."""
    return rows.view(len(rows), *shape, *rows.shape[2:])


def copying(batch: int, length: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """`copying(8, 24, generator(0))` asks for the symbol that stood three places back."""
    ids = torch.randint(SYMBOLS, (batch, length), generator=source)
    target = torch.full_like(ids, NOTHING)
    target[:, 3:] = ids[:, :-3]
    return ids, target


def latest(batch: int, length: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """`latest(8, 24, generator(0))` asks for the most recent value, where most places are blank."""
    ids = torch.randint(SYMBOLS, (batch, length), generator=source)
    is_value = torch.rand(batch, length, generator=source) < 0.25
    is_value[:, 0] = True  # so that there always is a most recent one
    place = torch.where(is_value, torch.arange(length), 0).cummax(-1).values
    return torch.where(is_value, ids, SYMBOLS), ids.gather(-1, place)


def backwards(batch: int, length: int, source: torch.Generator) -> tuple[Tensor, Tensor]:
    """`backwards(8, 8, generator(0))` asks for the sequence from its end to its beginning."""
    ids = torch.randint(SYMBOLS, (batch, length), generator=source)
    return ids, ids.flip(-1)


def train(reader: Reader, job: Job, *, length: int = TRAINED, steps: int = 100, seed: int = 1) -> Reader:
    """`train(Reader("rotary"), copying)` takes 100 steps of Adam, with a rate that falls to 0."""
    source = generator(seed)
    optimizer = torch.optim.Adam(reader.parameters(), lr=reader.rate, fused=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in range(steps):
        ids, target = job(8, length, source)
        answers = reader(ids).flatten(0, 2)  # (seeds · B · T, 10)
        # The mean over seeds, times their number: no seed feels another.
        loss = cross_entropy(answers, target.flatten().repeat(SEEDS)) * SEEDS
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
    return reader


@torch.no_grad()
def share_right(reader: Reader, job: Job, length: int, seed: int = 2) -> Tensor:
    """`share_right(reader, copying, 48)` is the share right at the last places, for each seed: (seeds,).

    The last 24 of a longer sequence, or all of a shorter one: from 48 on all of them are new.
    """
    ids, target = job(30, length, generator(seed))
    asked = min(TRAINED, length)
    right: Tensor = reader(ids, asked).argmax(-1) == target[:, -asked:]  # (seeds, 30, asked)
    return right.sum((1, 2)) / (target[:, -asked:] != NOTHING).sum()


def tested(reader: Reader, job: Job, lengths: Sequence[int]) -> dict[int, Tensor]:
    """`tested(reader, copying, (24, 192))[192]` are the shares right at 8 times the training length."""
    return {length: share_right(reader, job, length) for length in lengths}


def trained_anew(scheme: str, job: Job, *lengths: int, steps: int = 100, **how: Any) -> list[Tensor]:
    """`trained_anew("rotary", copying, 48, width=16)` is the mean share right of readers trained for this."""
    right = tested(train(Reader(scheme, **how), job, steps=steps), job, lengths)
    return [seeds.mean() for seeds in right.values()]


def most_seen(job: Job, length: int, seed: int = 2) -> float:
    """`most_seen(copying, 24)` is the share right of one who counts symbols and knows no order."""
    ids, target = job(30, length, generator(seed))
    counts = one_hot(ids, SYMBOLS + 1)[..., :SYMBOLS].cumsum(-2)  # (30, length, 10)
    # A value in sight answers for itself.
    answer = torch.where(ids < SYMBOLS, ids, counts.argmax(-1)) if job is latest else counts.argmax(-1)
    return ((answer == target).sum() / (target != NOTHING).sum()).item()
