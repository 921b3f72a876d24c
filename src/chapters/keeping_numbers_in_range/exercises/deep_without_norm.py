"""An experiment: arrange deep layers so that they train without any norm."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes
from chapters.keeping_numbers_in_range.exercises.norms import _normal

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


MISTAKES: Mistakes = {
    "residual alone": (
        "This is the road alone. It starts well, and then its losses jump about: at this rate each "
        "block's answer grows faster than the others can follow. How loud need a block be?",
        lambda x, block: x + block(x),
    ),
    "plain": (
        "There is no road: the block's answer replaces x, and over twelve layers nothing is left of it.",
        lambda x, block: block(x),
    ),
    "averaged": (
        "x is halved at every block, as in a mean of x and the answer, and there are 24 of them. Leave the "
        "road as wide as it is.",
        lambda x, block: (x + block(x)) / 2,
    ),
    "divided by the root of 2": (
        "By √2 the variance stays where both parts are equally large. Here the block's answer is "
        "smaller than x, so the road fades, by a factor of a thousand or so over 24 blocks.",
        lambda x, block: (x + block(x)) / math.sqrt(2),
    ),
    "fading": (
        "The road is made a little narrower at every block, and there are 24 of them: little arrives. "
        "Leave the road as wide as it is.",
        lambda x, block: 0.9 * x + 0.1 * block(x),
    ),
    "block left out": (
        "The block makes no difference to what you return, so nothing in it can learn.",
        lambda x, block: x,
    ),
    "post-norm": (
        "What you return no longer depends on how large x is: that is a norm, on the road. Do without.",
        lambda x, block: _normal(x + block(x)),
    ),
    "pre-norm": (
        "The block's answer does not grow with x: what it reads has been normalised. Do without a norm.",
        lambda x, block: x + block(_normal(x)),
    ),
    "squashed inside": (
        "Of what you return the block's part does not grow as x does: something squashes what the block "
        "reads or answers (a tanh, a sigmoid, a clamp). Multiply it by a number only.",
        lambda x, block: x + 0.1 * block(x).tanh(),
    ),
    "squashed": (
        "Something squashes what you return (a tanh, a sigmoid, a clamp). Add and multiply with "
        "numbers only.",
        lambda x, block: (x + block(x)).tanh(),
    ),
    "multiplied by each other": (
        "What you return grows faster than x: x and the answer are multiplied by each other. Multiply "
        "each by a number, and add them.",
        lambda x, block: x * block(x),
    ),
    "from nothing": (
        "Where nothing comes in, something comes out: a number is added, or a sigmoid squashes. Add x "
        "and the answer, each of them times a number.",
        lambda x, block: x + 0.1 * block(x) + 0.1,
    ),
    "louder": (
        "The block's answer is made louder, and the road grows from layer to layer. The other way.",
        lambda x, block: x + 3 * block(x),
    ),
    "cut off": (
        "No gradient arrives at some of the weights: a detach() or a no_grad() cuts the way back. Take it "
        "out.",
        lambda x, block: x + 0.1 * block(x).detach(),
    ),
    "hardly heard": (
        "Everything stays in range, and too little is learned: what the blocks read, or what is heard "
        "of them, is so quiet that a step hardly changes anything. A little louder.",
        lambda x, block: x + 1e-4 * block(x),
    ),
}


check_deep_without_norm = Exercise(
    "deep_without_norm",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer", "x_through_a_silent_block_in_percent"),
    reference=lambda x, block: x + 0.1 * block(x),
    cases=(
        Case("only adds and multiplies", GROWS),
        Case("hears its block", READS),
        Case("stays in range over twelve layers", RANGE),
        Case("learns at a large rate", LEARNS),
    ),
    mistakes=MISTAKES,
    trainable=False,
    ask=_deep,
)
