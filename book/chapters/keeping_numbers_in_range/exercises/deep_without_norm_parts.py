"""What `check_deep_without_norm` asks with, in parts that can be mistaken."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.answers import WrongTypeError

_SEEDS, _SYMBOLS, _LENGTH, _WIDTH, _DEPTH = 5, 10, 5, 16, 12


_Junction = Callable[[Tensor, Callable[[Tensor], Tensor]], Tensor]


def _weights() -> dict[str, Tensor]:
    """The chapter's stack, smaller: five models side by side, weights as nn.Linear draws them."""
    source = torch.Generator("cpu").manual_seed(0)

    def weight(variance: float, *shape: int) -> Tensor:
        return torch.randn(shape, generator=source, device="cpu") * math.sqrt(variance)

    third = 1 / (3 * _WIDTH)
    return {
        "word": weight(1 / 3, _SEEDS, _SYMBOLS, _WIDTH),
        "place": weight(1 / 3, _SEEDS, 1, _LENGTH, _WIDTH),
        "read": weight(third, _SEEDS, _WIDTH, _SYMBOLS),
        "qkv": weight(third, _DEPTH, _SEEDS, _WIDTH, 3 * _WIDTH),
        "out": weight(third, _DEPTH, _SEEDS, _WIDTH, _WIDTH),
        "widen": weight(third, _DEPTH, _SEEDS, _WIDTH, 2 * _WIDTH),
        "narrow": weight(third / 2, _DEPTH, _SEEDS, 2 * _WIDTH, _WIDTH),
    }


def _attention(x: Tensor, qkv: Tensor, out: Tensor) -> Tensor:
    """One head. x is (seeds, B · T, width), so that one product serves all tokens of a model."""
    query, key, value = (x @ qkv).view(len(x), -1, _LENGTH, 3 * _WIDTH).chunk(3, -1)
    weights = (query @ key.mT / math.sqrt(_WIDTH)).softmax(-1)
    answer: Tensor = (weights @ value).view(x.shape) @ out
    return answer


def _joined(junction: _Junction, x: Tensor, block: Callable[[Tensor], Tensor]) -> Tensor:
    made = junction(x, block)
    if not isinstance(made, Tensor) or made.shape != x.shape:
        raise WrongTypeError("Return a tensor of the shape of x: the next layer's x.")
    return made


def _through(junction: _Junction, weights: dict[str, Tensor], words: Tensor) -> tuple[Tensor, Tensor]:
    """What goes in at the foot of the road, and what arrives at its end."""
    start = x = (weights["word"][:, words] + weights["place"]).flatten(1, 2)  # (seeds, B · T, width)
    layers = zip(*(weights[name].unbind() for name in ("qkv", "out", "widen", "narrow")), strict=True)
    for qkv, out, widen, narrow in layers:
        x = _joined(junction, x, lambda x, qkv=qkv, out=out: _attention(x, qkv, out))  # type: ignore[misc]
        x = _joined(junction, x, lambda x, widen=widen, narrow=narrow: (x @ widen).relu() @ narrow)  # type: ignore[misc]
    return start, x


def _words(batch: int, source: torch.Generator) -> Tensor:
    return torch.randint(_SYMBOLS, (batch, _LENGTH), generator=source, device="cpu")


# What is asked, as a report shows it, with what its answers mean.
GROWS = (
    "how does what you return grow when x does? (1 as x; 0 not at all, 2 hardly, 3 less than x, 4 it comes "
    "from nothing, 5 faster than x, 6 as x, but for the block's part, which does not grow)"
)
READS = "does the block make a difference? (1 yes, 0 no)"
RANGE = "by how many powers of ten is x larger after twelve layers?"
LEARNS = (
    "does it learn? (1 yes; 0 no, 2 no, and its losses jump, 3 no, some weights hear nothing of the loss)"
)


def _growth(junction: _Junction) -> int:
    source = torch.Generator("cpu").manual_seed(1)
    x = torch.randn(1, 4 * _LENGTH, _WIDTH, generator=source, device="cpu").double()
    matrix = torch.randn(_WIDTH, _WIDTH, generator=source, device="cpu").double() / math.sqrt(_WIDTH)
    nothing, small, large = (_joined(junction, size * x, lambda x: x @ matrix) for size in (0, 1, 1000))
    if nothing.nan_to_num().any():  # 0/0 is a norm's answer to a vector of zeros
        return 4
    growth = (large.norm() / small.norm()).item()
    if abs(growth / 1000 - 1) < 1e-9:
        return 1
    of_small, of_large = small - x, large - 1000 * x  # the block's part, where the road is x
    if (
        of_large - of_small
    ).norm() < 0.01 * of_small.norm():  # a norm divides by a little more than the spread
        return 6
    return 0 if growth < 1.01 else 2 if growth < 10 else 3 if growth < 1000 else 5


def _reads(junction: _Junction) -> int:
    """1 where another block makes a difference."""
    x = torch.ones(1, _LENGTH, _WIDTH, device="cpu")
    answers = [_joined(junction, x, lambda x, factor=factor: factor * x) for factor in (0, 3)]  # type: ignore[misc]
    return int(not torch.equal(*answers))


def _road(junction: _Junction) -> int:
    """How much of x comes through, in percent, where the block answers nothing."""
    x = torch.ones(1, _LENGTH, _WIDTH, device="cpu")
    arrived: float = (_joined(junction, x, torch.zeros_like).norm() / x.norm()).item()
    return round(100 * arrived)


def _range(junction: _Junction) -> int:
    words = _words(8, torch.Generator("cpu").manual_seed(2))
    start, end = _through(junction, _weights(), words)
    ratio = (end.double().norm() / start.double().norm()).item()
    return max(-99, min(99, round(math.log10(ratio)))) if 0 < ratio < math.inf else -99


def _learned(junction: _Junction) -> int:
    """The answer to LEARNS, of the middle one of five."""
    weights, source = _weights(), torch.Generator("cpu").manual_seed(3)
    losses = []
    with torch.enable_grad():
        for weight in weights.values():
            weight.requires_grad_()
        optimizer = torch.optim.Adam(weights.values(), lr=0.015, fused=True)
        for _ in range(80):
            words = _words(8, source)
            scores = _through(junction, weights, words)[1] @ weights["read"]  # (seeds, B · T, symbols)
            right = words.flip(-1).flatten().expand(_SEEDS, -1)
            each = F.cross_entropy(scores.mT, right, reduction="none")
            losses.append(each.mean(-1))
            optimizer.zero_grad()
            losses[-1].sum().backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    course = torch.stack(losses).detach().nan_to_num(nan=math.inf)  # (steps, seeds)
    if course[-5:].mean(0).median() < 0.4:
        return 1
    if any(weight.grad is None or not weight.grad.any() for weight in weights.values()):
        return 3
    return 2 if course.max() > 1.3 * math.log(_SYMBOLS) else 0


def _deep(junction: _Junction, question: str) -> tuple[int, int]:
    """The answer; and of who does not stay in range, how wide the road is, in percent."""
    if question == GROWS:
        return _growth(junction), 100
    # What fails one question is not asked the next: the first fault is the one to mend.
    if _growth(junction) != 1:
        return 0, 100
    if question == READS:
        return _reads(junction), 100
    powers = _range(junction)
    if question == RANGE:
        return powers, _road(junction) if powers else 100
    return _learned(junction) if powers == 0 else 0, 100
