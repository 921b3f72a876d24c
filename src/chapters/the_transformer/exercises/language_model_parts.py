"""What `check_language_model` asks with, in parts that can be mistaken."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from attnlab.positions import sinusoidal
from attnlab.transformer import LanguageModel
from bookkit.checking.answers import WrongTypeError, returned
from bookkit.checking.attempts import Case
from bookkit.checking.inputs import draw
from chapters.the_transformer.exercises.filled import _WIDTH, _filled

_VOCABULARY, _HIDDEN = 7, 8


# What each of its layers is made of. The other parts are its embedding, its last norm, and its output matrix.
_LINEARS = ("W_Q", "W_K", "W_V", "W_O")


# attnlab's names for the same numbers.
_THEIRS = {
    "W_O": "self_attention.out_proj",
    "norm_1": "around_self_attention.norm",
    "norm_2": "around_feed_forward.norm",
    "widen": "feed_forward.widen",
    "narrow": "feed_forward.narrow",
}


def _numbers(model: LanguageModel) -> dict[str, Tensor]:
    """attnlab's model, filled, and its numbers under the names that a reader gives them.

    At the start of a text word 0 is its position turned round, but for a little: there eps counts. And of
    three heads the last layer's first asks nothing: its scores are 0, which a score may be.
    """
    _filled(model, 7000)
    last: Any = model.layers[-1]
    for part in (last.self_attention.in_proj_weight, last.self_attention.in_proj_bias):
        part.data[: _WIDTH // 3] = 0
    (little,) = draw(6999, (_WIDTH,))
    model.embedding.weight.data[0] = (0.003 * little - sinusoidal(1, _WIDTH)[0]) / math.sqrt(_WIDTH)
    theirs = dict(model.state_dict())
    numbers = {"embedding.weight": theirs["embedding.weight"]}
    for kind in ("weight", "bias"):
        numbers |= {f"{name}.{kind}": theirs[f"{name}.{kind}"] for name in ("norm", "word")}
        for place in range(len(model.layers)):
            own = f"layers.{place}"
            three = theirs[f"{own}.self_attention.in_proj_{kind}"].chunk(3)
            numbers |= {f"{own}.{name}.{kind}": part for name, part in zip(_LINEARS, three, strict=False)}
            numbers |= {
                f"{own}.{name}.{kind}": theirs[f"{own}.{their}.{kind}"] for name, their in _THEIRS.items()
            }
    return numbers


def _inside(module: Any, name: str) -> Any:
    """The part of this name, wherever in the module it is; None where there is none."""
    found = getattr(module, name, None)
    if found is None and isinstance(module, nn.Module):
        found = next((each for path, each in module.named_modules() if path.split(".")[-1] == name), None)
    return found


def _put(model: Any, name: str, numbers: Tensor) -> Tensor:
    """model.layers[0].W_Q.weight.data = numbers, for the name "layers.0.W_Q.weight"."""
    *path, part, kind = name.split(".")
    holder = _inside(model, path[0])[int(path[1])] if path else model
    module = _inside(holder, part)
    parameter = getattr(module, kind, None)
    if not isinstance(parameter, Tensor) or parameter.shape != numbers.shape:
        came = "is missing" if parameter is None else f"is {type(parameter).__name__}"
        came = f"has shape {tuple(parameter.shape)}" if isinstance(parameter, Tensor) else came
        raise WrongTypeError(f"The check puts {tuple(numbers.shape)} numbers into {name}, which {came}.")
    parameter.data = numbers.clone()
    return parameter


def _spoken(work: Any, words: Tensor, heads: int, layers: int, zeros: Sequence[str]) -> Any:
    """The logits of the reader's model, with our numbers in it, and how many of these would train.

    In the parts of each layer that `zeros` names, all numbers are 0.
    """
    sizes = _VOCABULARY, _WIDTH, heads, _HIDDEN, layers
    with torch.random.fork_rng(devices=[]):  # first numbers are drawn, and replaced by ours
        theirs = LanguageModel(*sizes)
        model: Any = theirs if work is LanguageModel else work(*sizes)
    numbers = _numbers(theirs)
    for name, own in numbers.items():
        if name.startswith("layers.") and name.split(".")[-2] in zeros:
            own.zero_()
    named: list[Tensor] = [*theirs.parameters()]
    if model is not theirs:
        held = _inside(model, "layers")
        if not hasattr(held, "__len__") or len(held) != layers:
            raise WrongTypeError(f"For layers = {layers} the model needs `layers`, which holds as many.")
        named = [_put(model, name, own) for name, own in numbers.items()]
    model.eval()
    logits = returned(model(words))
    if not isinstance(logits, Tensor):
        return logits, 0
    # Dropout may do the same twice to the few logits of one word.
    again = (model(words) for _ in range(max(1, 10 // words.numel())))
    if not all(torch.equal(logits.nan_to_num(), each.nan_to_num()) for each in again):
        raise WrongTypeError("Asked twice, in eval(), it does not give the same logits.")
    return logits, _reached(model, logits, named)


def _reached(model: nn.Module, logits: Tensor, named: Sequence[Tensor]) -> int:
    """Of the numbers that have a name, how many training would change."""
    parameters = [each for each in model.parameters() if each.requires_grad]
    with torch.enable_grad():
        loss = logits.double().square().sum()
        if not loss.requires_grad or not parameters:
            return 0
        try:
            gradients = torch.autograd.grad(loss, parameters, allow_unused=True)
        except RuntimeError as error:
            if "inplace" not in str(error):
                raise
            raise WrongTypeError("A tensor that the gradient needs was written into.") from None
    reached = [each for each, slope in zip(parameters, gradients, strict=True) if slope is not None]
    known = {id(each) for each in named}
    if any(id(each) not in known for each in reached):
        raise WrongTypeError("Training would change a parameter that has no name here.")
    return sum(each.numel() for each in reached)


_LONGEST = 40


def _texts(label: str, seed: int, batch: int, length: int, heads: int, layers: int, *zeros: str) -> Case:
    source = torch.Generator("cpu").manual_seed(seed)
    words = torch.randint(1, _VOCABULARY, (batch, length), generator=source, device="cpu")
    words[0, 0] = 0
    return Case(label, words, heads, layers, zeros)
