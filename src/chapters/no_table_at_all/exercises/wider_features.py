"""An experiment: features by which a sum brings back twice as many values as it has numbers in a key."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise

WIDTH, MOST = 16, 64  # numbers of a key, and of its features at most
TEXTS, PAIRS = 100, 32
ENOUGH = 0.9
# The share of its values that the plain state brings back; between seeds of 100 texts it moves by .01.
PLAIN = 0.6
FIRST = "are they features?"

SAID = {
    "too many": (
        f"A key has more than {MOST} features. With enough of them everything comes back, and the state is "
        "no smaller than what it stands for."
    ),
    "no number": "Some feature is not finite. Is something divided by 0, or is a root or logarithm below 0?",
    "drawn anew": (
        "The same key gets other features when it comes again: whatever is random must be drawn once, "
        "outside the function."
    ),
    "counts the company": (
        "The features of a key depend on the keys beside it. A query comes alone: make them of each row by "
        "itself."
    ),
    "all alike": (
        "Any two keys have much the same features: their mean cosine is above 0.5. Then all that was "
        "written comes back at once. Let features have both signs, or most of them be 0."
    ),
    "linear": (
        "A linear map widens the keys and adds nothing: what it makes of 16 numbers lies in 16 directions "
        "still. It takes something that bends, such as a product of two numbers, or a sine."
    ),
    "no better": (
        "It brings back no more than the plain state does. How large is the product of two keys' features, "
        "beside a key's with itself? Measure that."
    ),
    "not enough": (
        f"Better than the plain state, and below {ENOUGH}. Is each feature as often above 0 as below? Are "
        "any two of them much the same? Every direction should be used alike."
    ),
}


def _pairs(seed: int) -> tuple[Tensor, Tensor]:
    """Keys and values, (TEXTS, PAIRS, WIDTH) each, of length 1."""
    drawn = torch.randn(2, TEXTS, PAIRS, WIDTH, generator=generator(seed), device="cpu")
    keys, values = F.normalize(drawn, dim=-1)
    return keys, values


def _made(work: Callable[..., Any], keys: Tensor) -> Tensor:
    """What the reader makes of keys (n, WIDTH), or it is said what came in its place."""
    features = returned(work(keys.clone()))
    if not isinstance(features, Tensor) or features.dim() != 2 or len(features) != len(keys):
        came = tuple(features.shape) if isinstance(features, Tensor) else type(features).__name__
        raise WrongTypeError(f"For {len(keys)} keys, ({len(keys)}, m) is expected, and {came} came.")
    return features.detach().to(keys.dtype)


def brought_back(work: Callable[..., Any], seed: int) -> float:
    """`brought_back(my_features, 0)` is the share of 32 values that come back by their keys."""
    keys, values = _pairs(seed)
    features = _made(work, keys.flatten(0, 1)).view(TEXTS, PAIRS, -1)
    found = features @ (features.mT @ values)
    nearest = (found @ values.mT).argmax(-1)  # (TEXTS, PAIRS)
    return float((nearest == torch.arange(PAIRS, device="cpu")).double().mean())


def _no_features(work: Callable[..., Any]) -> str:
    keys = _pairs(1)[0][0]
    features = _made(work, keys)
    if features.shape[1] > MOST:
        return "too many"
    if not features.isfinite().all():
        return "no number"
    if not torch.allclose(features, _made(work, keys), atol=1e-5):
        return "drawn anew"
    alone = torch.cat([_made(work, key[None]) for key in keys.flip(0)]).flip(0)
    return "" if torch.allclose(features, alone, atol=1e-4) else "counts the company"


def _too_few(work: Callable[..., Any]) -> str:
    # The mean of two seeds, which moves by less than .01.
    share = (brought_back(work, 2) + brought_back(work, 3)) / 2
    if share >= ENOUGH:
        return ""
    keys = _pairs(1)[0].flatten(0, 1)[:512]
    features = _made(work, keys)
    # The square of a mean of directions is the mean cosine of all pairs.
    if F.normalize(features, dim=-1).mean(0).square().sum() > 0.5:
        return "all alike"
    if torch.allclose(_made(work, keys + keys.roll(1, 0)), features + features.roll(1, 0), atol=1e-4):
        return "linear"
    return "not enough" if share > PLAIN + 0.04 else "no better"


def results(work: Callable[..., Any], question: str) -> Any:
    """`results(my_features, FIRST)` is 1 where there is nothing to say."""
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        name = _no_features(work) or ("" if question == FIRST else _too_few(work))
    if name:
        raise WrongTypeError(SAID[name])
    return 1


def _products(keys: Tensor, apart: tuple[int, ...] = (1, 2, 3, 4)) -> Tensor:
    """Of each number and those so many columns further: never of a number and itself."""
    return torch.cat([keys * keys.roll(-by, -1) for by in apart], -1)


def _mixed(keys: Tensor, bend: Callable[[Tensor], Tensor] = lambda mixed: mixed) -> Tensor:
    return bend(keys @ torch.randn(WIDTH, MOST, generator=generator(0), device="cpu"))


_MADE: dict[str, Callable[[Tensor], Any]] = {
    "too many": partial(_products, apart=(1, 2, 3, 4, 5)),
    "no number": lambda keys: keys.sqrt(),
    "drawn anew": lambda keys: (keys @ torch.randn(WIDTH, MOST, device="cpu")).sin(),
    "counts the company": lambda keys: _products(keys) - _products(keys).mean(0),
    "all alike": lambda keys: F.elu(keys) + 1,
    "linear": _mixed,
    "no better": lambda keys: _mixed(keys, F.relu),
    "not enough": lambda keys: _mixed(keys, torch.sign),
}

check_wider_features = Exercise(
    "wider_features",
    difficulty=3,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=_products,
    ask=results,
    cases=(
        Case("makes at most 64 features of each key by itself", FIRST),
        Case("brings back 0.9 of 32 pairs", "do they hold enough?"),
    ),
    mistakes={name: (sentence, _MADE[name]) for name, sentence in SAID.items()},
    trainable=False,
    again=False,
)
