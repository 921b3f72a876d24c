"""How the chapter measures intervals: how wide they are, how often they hold, and what they see."""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Generator, Tensor

from attnlab.training.many_seeds import student
from chapters.is_it_noise.bank import drawn


def coverage(losses: Tensor, counts: Sequence[int], source: Generator) -> dict[str, list[float]]:
    """`coverage(bank["one head"], [3, 5], source)["Student"]` is how often it holds the mean of all forty."""
    truth = losses.mean()
    held: dict[str, list[float]] = {"1.96 errors": [], "Student": [], "bootstrap": []}
    for n in counts:
        few = drawn(losses, n, 2000, source)  # (2000, n)
        off, error = (few.mean(1) - truth).abs(), few.std(1) / n**0.5
        held["1.96 errors"].append(share(off <= 1.96 * error))
        held["Student"].append(share(off <= student(n - 1) * error))
        picks = torch.randint(n, (2000, 200 * n), generator=source)
        again = few.gather(1, picks).view(2000, 200, n).mean(2)
        low, high = again.quantile(0.025, dim=1), again.quantile(0.975, dim=1)
        held["bootstrap"].append(share((low <= truth) & (truth <= high)))
    return held


def seen(one: Tensor, other: Tensor, n: int, source: Generator, paired: bool = False) -> float:
    """`seen(bank["as it is"], bank["one head"], 3, source)`: how often 3 seeds leave out 0."""
    here = torch.randint(len(one), (3000, n), generator=source)
    there = here if paired else torch.randint(len(other), (3000, n), generator=source)
    ours, theirs = one[here], other[there]  # (3000, n)
    in_pairs, as_groups = half_widths(ours, theirs)
    half = in_pairs if paired else as_groups
    return share((theirs.mean(1) - ours.mean(1)).abs() > half)


def half_widths(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """`in_pairs, as_groups = half_widths(one, other)`: half of each row's interval, of losses (times, n)."""
    n = one.shape[1]
    as_groups = student(2 * (n - 1)) * ((one.var(1) + other.var(1)) / n) ** 0.5
    return student(n - 1) * (other - one).std(1) / n**0.5, as_groups


def of_pieces(nats: tuple[Tensor, ...], byte_squares: Tensor, pieces: Tensor, kilobytes: Tensor) -> Tensor:
    """`of_pieces(nats, byte_squares, pieces, kilobytes)` is half an interval as if each piece came by itself.

    Nats are three means over each text: of themselves, of their squares, and of what each is times its bytes.
    A piece's leftover is what it costs beside what its bytes cost on average.
    """
    mean, square, by_bytes = nats
    of_a_byte = ((mean * pieces).sum(-1) / kilobytes.sum(-1) / 1000)[..., None]
    leftovers = square - 2 * of_a_byte * by_bytes + of_a_byte**2 * byte_squares
    squared = (leftovers * pieces).sum(-1)
    return 1.96 * squared.sqrt() / math.log(2) / 1000 / kilobytes.sum(-1)


def texts_hold(
    nats: tuple[Tensor, ...], asked: Mapping[str, Tensor], source: Generator, count: int = 50
) -> tuple[float, float]:
    """`by_pieces, by_texts = texts_hold(nats, asked, source)`: how often 50 texts hold what all say."""
    pieces, kilobytes = asked["pieces"], asked["kilobytes"]
    bits = nats[0] * pieces / math.log(2) / 1000
    some = torch.randint(len(pieces), (2000, count), generator=source)
    few, size = bits[some], kilobytes[some]  # (2000, count)
    mean = few.sum(1) / size.sum(1)
    off = (mean - bits.sum() / kilobytes.sum()).abs()
    leftover = few - mean[:, None] * size
    by_texts = 1.96 * leftover.square().sum(1).sqrt() / size.sum(1)
    of_some = tuple(each[some] for each in nats)
    by_pieces = of_pieces(of_some, asked["bytes squared"][some], pieces[some], size)
    return share(off <= by_pieces), share(off <= by_texts)


def files_hold(
    bits: Tensor, kilobytes: Tensor, of_files: Tensor, half_width: Callable[..., Tensor], source: Generator
) -> tuple[float, float]:
    """`by_texts, by_files = files_hold(bits, kilobytes, of_files, half_width, source)`, from 40 files."""
    members = [(of_files == file).nonzero().flatten() for file in range(int(of_files.max()) + 1)]
    truth = bits.sum() / kilobytes.sum()
    by_texts, by_files = [], []
    for some in torch.randint(len(members), (400, 40), generator=source):
        own = torch.cat([members[file] for file in some])
        file = torch.repeat_interleave(torch.tensor([len(members[file]) for file in some]))
        off = (bits[own].sum() / kilobytes[own].sum() - truth).abs()
        by_texts.append(bool(off <= half_width(bits[own], kilobytes[own], torch.arange(len(own)))))
        by_files.append(bool(off <= half_width(bits[own], kilobytes[own], file)))
    return sum(by_texts) / len(by_texts), sum(by_files) / len(by_files)


def share(are: Tensor) -> float:
    """`share(losses < 1.7)` is how many of them are, of 1."""
    return float(are.double().mean())
