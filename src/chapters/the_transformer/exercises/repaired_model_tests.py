"""Three tests of a language model, and what each says when it finds something."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from attnlab.attention import MultiHeadAttention
from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from chapters.the_transformer.exercises.repaired_model_parts import layer
from chapters.the_transformer.models import WORDS

_LOUD = "Its first loss is far above that of guessing. How large are its logits at the start?"
_LEAK = "A word that comes later changes logits that come before it. How far does the mask let a word look?"
_LIST = "One batch is not learned by heart. Which numbers does the optimizer get from parameters()?"
_OPEN = "There is no mask left: every word sees all."
_TURNED = "The mask is turned on its side, or reversed: a word sees what comes after, and nothing before."
_NO_NUMBERS = "The logits are no numbers. Does the first word see nothing at all? tril() keeps the diagonal."
_TWO_ANSWERS = "Asked twice it gives other logits: is there a dropout that is always on?"
_DEAF = "No word hears of another: the mask hides all of them, or the layers are left out."
_LOOSE = (
    "`word` is a plain tensor, which no optimizer gets. (What is computed from a parameter is none: "
    "nn.Parameter(torch.randn(…) / …) divides first.)"
)
_SOFTENED = "It does not learn a batch by heart: the logits go through a softmax, and the loss takes another."
_CUT = (
    "One batch is not learned by heart: layers are registered, and to some no gradient arrives. Something "
    "cuts the path, or they are left out."
)
_SILENT = "The logits are the same, whatever the words are."
_SLOW = (
    "One batch is not learned by heart, though a gradient arrives at all parameters. What keeps the logits "
    "small, or noisy?"
)
_NOT_ITSELF = (
    "A word sees those before it, and not itself, so that the first sees nothing at all. tril() keeps the "
    "diagonal."
)
_SOME = (
    "One batch is learned by heart, and yet the optimizer does not get all that the model computes with: "
    "what is in no nn.ModuleList stays as it was first drawn. Which numbers are in parameters()?"
)
_FEWER = (
    "One batch is learned by heart, but with fewer numbers than two layers have. Is a layer left out, or one "
    "used twice? Mend the model, and keep its size."
)

_BAR, _STEPS = 0.5, 40


def _random_texts(batch: int, length: int, seed: int) -> tuple[Tensor, Tensor]:
    source = generator(seed)
    previous, targets = (
        torch.randint(1, len(WORDS), (batch, length), generator=source, device="cpu") for _ in range(2)
    )
    return previous, targets


def _logits(model: Any, words: Tensor) -> Tensor:
    logits = returned(model(words))
    shape = (*words.shape, len(WORDS))
    if not isinstance(logits, Tensor) or logits.shape != shape:
        came = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise WrongTypeError(f"For words {tuple(words.shape)} the logits must be {shape}, not {came}.")
    return logits


def _loss(model: Any, previous: Tensor, targets: Tensor) -> Tensor:
    return F.cross_entropy(_logits(model, previous).flatten(0, 1), targets.flatten())


# Each test says what it finds; "" is as it should be.
def _starts(model: Any) -> str:
    with torch.no_grad():
        gap = _loss(model, *_random_texts(32, 10, seed=1)).item() - math.log(len(WORDS))
    if not math.isfinite(gap):
        return _NO_NUMBERS
    return "" if gap < 1 else _LOUD


def _leaks(model: Any) -> str:
    words, length = _random_texts(1, 8, seed=2)[0], 8
    model.eval()
    with torch.no_grad():
        for parameter in model.parameters():  # an output that starts at 0 would hide everything
            parameter += 0.1 * torch.randn_like(parameter)
        before, again = (_logits(model, words)[0] for _ in range(2))
        moved = torch.zeros(length, length, dtype=torch.bool, device="cpu")  # (logits of i, word j)
        for place in range(length):
            other = words.clone()
            other[0, place] = words[0, place] % (len(WORDS) - 1) + 1
            moved[:, place] = ((_logits(model, other)[0] - before).abs() > 1e-5).any(-1)
    if not before.isfinite().all():
        return _NO_NUMBERS
    if not torch.equal(before, again):
        return _TWO_ANSWERS
    if not moved.any():
        return _SILENT
    if moved.all():
        return _OPEN
    if moved.triu(1).any():
        return _LEAK if moved.tril(-1).any() else _TURNED
    if not moved.tril(-1).any():
        return _DEAF
    return "" if _sees_itself(model, words[:, :1]) else _NOT_ITSELF


def _sees_itself(model: nn.Module, word: Tensor) -> bool:
    """Whether a word alone reads its own value: else no gradient reaches the matrix that makes it."""
    matrices = [
        each.in_proj_weight
        for each in model.modules()
        if isinstance(each, MultiHeadAttention) and each.in_proj_weight.requires_grad
    ]
    with torch.enable_grad():
        total = _logits(model, word).square().sum()
    if not matrices or not total.requires_grad:
        return True  # other attentions, which we can't look into, make NaN of a row that sees nothing
    slopes = torch.autograd.grad(total, matrices, allow_unused=True)
    return all(slope is None or bool(slope.any()) for slope in slopes)


def _learns_by_heart(model: Any) -> str:
    batch, parameters = _random_texts(16, 12, seed=3), list(model.parameters())
    if type(getattr(model, "word", None)) is Tensor:
        return _LOOSE
    with torch.enable_grad():
        gives_chances = (_logits(model, batch[0]).sum(-1) - 1).abs().max() < 1e-3
        optimizer = torch.optim.Adam(parameters, lr=0.01, fused=True)
        for _ in range(_STEPS):
            loss = _loss(model, *batch)
            if not loss.requires_grad:
                return _CUT
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    unreached = [each for each in parameters if each.grad is None]
    is_given_all = _computed_with(loss) <= set(parameters)
    if loss < _BAR:
        if not is_given_all:
            return _SOME
        learned = _count(parameters) - _count(unreached)
        return _FEWER if learned < 2 * _count(layer().parameters()) else ""
    if gives_chances:
        return _SOFTENED
    if not is_given_all:
        return _LIST
    return _CUT if unreached else _SLOW


def _count(parameters: Iterable[Tensor]) -> int:
    return sum(each.numel() for each in parameters)


def _computed_with(loss: Tensor) -> set[Tensor]:
    """All numbers that a gradient of the loss arrives at, in a drawer or not."""
    found, ahead, passed = set(), [loss.grad_fn], set()
    while ahead:
        step = ahead.pop()
        if step is None or step in passed:
            continue
        passed.add(step)
        if hasattr(step, "variable"):  # here the path ends
            found.add(step.variable)
        ahead += [before for before, _ in step.next_functions]
    return found


_TESTS: dict[str, Callable[[Any], str]] = {
    "first loss": _starts,
    "leak": _leaks,
    "one batch": _learns_by_heart,
}


def examined(work: Any, test: str) -> int:
    """`examined(MyModel, "leak")` is 1 where the test finds nothing."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if found := _TESTS[test](work(len(WORDS))):
            raise WrongTypeError(found)
    return 1
