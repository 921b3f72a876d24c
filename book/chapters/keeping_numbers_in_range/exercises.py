"""The exercises of “Keeping numbers in range”."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from bookkit.checking.answers import WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.inputs import draw, exact
from bookkit.checking.mistakes import Mistakes, but, in_parts
from bookkit.checking.puzzle import ShapePuzzle

# --- layer norm -----------------------------------------------------------------------------------


def _mean(x: Tensor) -> Tensor:
    return x.mean(-1, keepdim=True)


def _mean_square(x: Tensor) -> Tensor:
    return x.square().mean(-1, keepdim=True)


def _root(x: Tensor, eps: float) -> Tensor:
    return (_mean_square(x) + eps).sqrt()


def _layer_norm(
    x: Tensor,
    gain: Tensor,
    bias: Tensor,
    eps: float,
    *,
    middle: Callable[[Tensor], Any] = _mean,
    size: Callable[[Tensor, float], Tensor] = _root,
    finish: Callable[[Tensor, Tensor, Tensor], Tensor] = lambda normal, gain, bias: gain * normal + bias,
) -> Tensor:
    """The norm in parts, each of which can be mistaken."""
    centred = x - middle(x)
    return finish(centred / size(centred, eps), gain, bias)


# What a vector is divided by: (its numbers, ε) -> divisor.
_SIZES: Mistakes = {
    "eps outside": (
        "ε stands outside the root. It belongs to the mean of the squares, before the root is taken: else "
        "a vector of nearly equal numbers comes out far too large.",
        lambda x, eps: _mean_square(x).sqrt() + eps,
    ),
    "no eps": (
        "ε is missing, so that a vector of equal numbers is divided by 0.",
        lambda x, eps: _mean_square(x).sqrt(),
    ),
    "no root": (
        "You divide by the mean of the squares. What has the size of the numbers is its root.",
        lambda x, eps: _mean_square(x) + eps,
    ),
    "unbiased": (
        "You divide the sum of squares by d - 1, as `var()` and `std()` do unless told otherwise. These d "
        "numbers are all there are: divide by d.",
        lambda x, eps: (x.square().sum(-1, keepdim=True) / (x.shape[-1] - 1) + eps).sqrt(),
    ),
    "length": (
        "You divide by the vector's length, the root of the *sum* of squares. Take their mean.",
        lambda x, eps: (x.square().sum(-1, keepdim=True) + eps).sqrt(),
    ),
    "absolute": (
        "You take the mean of the absolute values. Square, take the mean, and then the root.",
        lambda x, eps: x.abs().mean(-1, keepdim=True) + eps,
    ),
    "size over all": (
        "All vectors are divided by one number. Each has a size of its own: mean(-1, keepdim=True).",
        lambda x, eps: (x.square().mean() + eps).sqrt(),
    ),
    "size over the tokens": (
        "The squares are averaged over the tokens, axis -2. The numbers of one vector lie along axis -1.",
        lambda x, eps: (x.square().mean(-2, keepdim=True) + eps).sqrt(),
    ),
}
_NORM_CASES = (
    (exact([1, 3, 4, 5, 7]), exact([1, 1, 1, 1, 1])[0], exact([0, 0, 0, 0, 0])[0], 0.5),
    (exact([2, -1, 4, 7], [0, 3, 3, -2]), exact([2, 1, -1, 3])[0], exact([1, 0, 2, -1])[0], 0.25),
    (*draw(1, (2, 10, 5), (5,), (5,)), 0.125),
    (exact([3, 3, 3], [1, 1, 4]), exact([1, 2, 3])[0], exact([1, 0, 1])[0], 1e-5),
    (*draw(4, (2, 3, 4, 6), (6,), (6,), dtype=torch.float64), 0.5),
)
_LABELS = (
    "right for one vector",
    "right with gain and bias",
    "right for (2, 10, 5)",
    "right for equal numbers",
    "right in float64, with more axes",
)

check_layer_norm = Exercise(
    "layer_norm",
    difficulty=1,
    minutes=5,
    takes=("x", "gain", "bias", "eps"),
    returns=("normal",),
    reference=_layer_norm,
    cases=[Case(label, *inputs) for label, inputs in zip(_LABELS, _NORM_CASES, strict=True)],
    mistakes=in_parts(
        _layer_norm,
        middle={
            "mean not taken away": (
                "The mean is still there. Take it away before anything is squared.",
                lambda x: 0,
            ),
            "mean over the tokens": (
                "The mean runs over the tokens, axis -2. Layer norm takes each vector by itself: axis -1.",
                lambda x: x.mean(-2, keepdim=True),
            ),
            "one mean for all": (
                "One mean is taken away from everything. Each vector has a mean of its own: mean(-1, "
                "keepdim=True).",
                lambda x: x.mean(),
            ),
            "sum for the mean": (
                "You take away the sum of the numbers, not their mean.",
                lambda x: x.sum(-1, keepdim=True),
            ),
        },
        size=_SIZES,
        finish={
            "no gain": ("The gain is missing.", lambda normal, gain, bias: normal + bias),
            "no bias": ("The bias is missing.", lambda normal, gain, bias: gain * normal),
            "gain and bias swapped": (
                "Gain and bias have changed places: the gain multiplies, the bias is added.",
                lambda normal, gain, bias: bias * normal + gain,
            ),
            "bias before the gain": (
                "The bias is multiplied by the gain as well. First the gain, and then the bias.",
                lambda normal, gain, bias: gain * (normal + bias),
            ),
        },
    )
    | {
        "gain and bias first": (
            "Gain and bias come before the norm, which takes them out again. They come last.",
            lambda x, gain, bias, eps: _layer_norm(
                gain * x + bias, torch.ones_like(gain), torch.zeros_like(bias), eps
            ),
        ),
        "squares around 0": (
            "You square x as it came in. The variance is the mean of the squares once the mean has been "
            "taken away.",
            lambda x, gain, bias, eps: gain * (x - _mean(x)) / _root(x, eps) + bias,
        ),
        "std() and eps": (
            "Two faults in one: `std()` divides by d - 1 unless told otherwise, and ε stands outside the "
            "root.",
            lambda x, gain, bias, eps: gain * (x - _mean(x)) / (x.std(-1, keepdim=True) + eps) + bias,
        ),
        "batch norm": (
            "This is batch norm: mean and variance of each feature over everything else. Layer norm takes "
            "each vector by itself, over axis -1.",
            lambda x, gain, bias, eps: (
                gain * (x - x.flatten(0, -2).mean(0)) / (x.flatten(0, -2).var(0, correction=0) + eps).sqrt()
                + bias
            ),
        ),
    },
)

# --- which numbers share what ---------------------------------------------------------------------

# x is (2, 10, 5): examples, tokens, features.
_SHAPES = {
    "x.mean(-1)": (2, 10),
    "x.mean((0, 1))": (5,),
    "x.mean(-1, keepdim=True)": (2, 10, 1),
    "nn.LayerNorm(5)(x)": (2, 10, 5),
    "nn.LayerNorm(5).weight": (5,),
    "nn.LayerNorm((10, 5)).weight": (10, 5),
    "nn.BatchNorm1d(5)(x.mT)": (2, 5, 10),
    "nn.BatchNorm1d(5).running_mean": (5,),
}

check_norm_shapes = ShapePuzzle(
    "norm_shapes",
    difficulty=2,
    minutes=5,
    shapes=_SHAPES,
    mistakes={
        "the axes that go": (
            "these are the axes that the mean runs over, and they are gone. What is left are the others.",
            {"x.mean(-1)": (5,), "x.mean((0, 1))": (2, 10)},
        ),
        "one axis for two": (
            "a mean over two axes takes both away.",
            {"x.mean((0, 1))": (10, 5)},
        ),
        "one number": (
            "that would be one mean for everything. There is one for each place that is left.",
            dict.fromkeys(("x.mean(-1)", "x.mean((0, 1))"), ()),
        ),
        "keepdim forgotten": (
            "with keepdim=True the axis stays, with length 1.",
            {"x.mean(-1, keepdim=True)": (2, 10)},
        ),
        "kept at its length": (
            "keepdim keeps the axis and not its length: one mean is left on it.",
            {"x.mean(-1, keepdim=True)": (2, 10, 5)},
        ),
        "a norm that averages": (
            "a norm uses the means, and does not return them: as many numbers come out as went in.",
            {"nn.LayerNorm(5)(x)": (2, 10), "nn.BatchNorm1d(5)(x.mT)": (2, 10)},
        ),
        "a gain for each token": (
            "all tokens share the gain. It has one number for each place of the vector.",
            {"nn.LayerNorm(5).weight": (10, 5), "nn.BatchNorm1d(5).running_mean": (10, 5)},
        ),
        "a matrix for the gain": (
            "a gain multiplies number by number; nothing is mixed. That takes no matrix.",
            {"nn.LayerNorm(5).weight": (5, 5)},
        ),
        "a single gain": (
            "there is more than one gain: every place has its own.",
            {"nn.LayerNorm(5).weight": (), "nn.LayerNorm((10, 5)).weight": ()},
        ),
        "last axis alone": (
            "this one normalises over the last *two* axes, tokens and features together, and has a gain "
            "for each place.",
            {"nn.LayerNorm((10, 5)).weight": (5,)},
        ),
        "turned back": (
            "the input was turned to (2, 5, 10), and nobody turned it back.",
            {"nn.BatchNorm1d(5)(x.mT)": (2, 10, 5)},
        ),
        "a mean for each example": (
            "batch norm has one mean for each feature, whatever the batch: what it keeps can't depend on "
            "how many examples there are.",
            {"nn.BatchNorm1d(5).running_mean": (2, 5)},
        ),
    },
)

# --- RMSNorm --------------------------------------------------------------------------------------


def _rms_norm(
    x: Tensor,
    gain: Tensor,
    eps: float,
    *,
    size: Callable[[Tensor, float], Tensor] = _root,
    finish: Callable[[Tensor, Tensor], Tensor] = lambda normal, gain: gain * normal,
) -> Tensor:
    return finish(x / size(x, eps), gain)


check_rms_norm = Exercise(
    "rms_norm",
    difficulty=2,
    minutes=5,
    takes=("x", "gain", "eps"),
    returns=("normal",),
    reference=_rms_norm,
    cases=[
        Case(label.replace("gain and bias", "a gain").replace("equal numbers", "zeros"), x, gain, eps)
        for label, (x, gain, _, eps) in zip(
            _LABELS,
            (*_NORM_CASES[:3], (exact([0, 0, 0], [1, 1, 4]), *_NORM_CASES[3][1:]), _NORM_CASES[4]),
            strict=True,
        )
    ],
    mistakes=in_parts(
        _rms_norm,
        size=but(_SIZES, "no eps")
        | {
            "no eps": (
                "ε is missing, so that a vector of zeros is divided by 0.",
                lambda x, eps: _mean_square(x).sqrt(),
            ),
            "variance": (
                "You divide by the root of the variance, as layer norm does. Here no mean is taken away, and "
                "the squares are those of x as it came.",
                lambda x, eps: (x.var(-1, keepdim=True, correction=0) + eps).sqrt(),
            ),
            "root first": (
                "The root comes last: the mean of the squares, and then its root. You have the root of "
                "each square.",
                lambda x, eps: x.square().sqrt().mean(-1, keepdim=True),
            ),
        },
        finish={
            "no gain": ("The gain is missing.", lambda normal, gain: normal),
            "gain added": ("The gain multiplies; you add it.", lambda normal, gain: normal + gain),
        },
    )
    | {
        "mean taken away": (
            "This is layer norm without a bias: here no mean is taken away.",
            lambda x, gain, eps: _layer_norm(x, gain, torch.zeros_like(gain), eps),
        ),
        "gain first": (
            "The gain comes before the norm, which divides by it again. It comes last.",
            lambda x, gain, eps: _rms_norm(gain * x, torch.ones_like(gain), eps),
        ),
    },
)

# --- repair: a layer that forgets -----------------------------------------------------------------


def _normal(x: Tensor) -> Tensor:
    return F.layer_norm(x, x.shape[-1:])


def _layer(
    x: Tensor,
    widen: Tensor,
    narrow: Tensor,
    *,
    arranged: Callable[..., Tensor] = lambda x, block: x + block(_normal(x)),
) -> Tensor:
    return arranged(x, lambda read: (read @ widen).relu() @ narrow)


check_repaired_layer = Exercise(
    "repaired_layer",
    difficulty=3,
    minutes=10,
    takes=("x", "widen", "narrow"),
    returns=("outputs",),
    reference=_layer,
    cases=(
        # The broken code passes the first of these: mean 0 and variance 1, so that a norm changes nothing.
        Case("right for (1, -1, 1, -1)", exact([1, -1, 1, -1]), *draw(11, (4, 8), (8, 4))),
        Case("right for (3, -3, 3, -3)", exact([3, -3, 3, -3]), *draw(13, (4, 8), (8, 4))),
        Case("right for several tokens", *draw(15, (5, 6), (6, 12), (12, 6))),
        Case("right for a batch", *draw(18, (2, 5, 6), (6, 12), (12, 6), dtype=torch.float64)),
    ),
    mistakes=in_parts(
        _layer,
        arranged={
            "still broken": (
                "The fault that it came with is still there: the norm stands on the road. The first case "
                "passes because its vector has mean 0 and variance 1 already. What is added to what?",
                lambda x, block: _normal(x) + block(_normal(x)),
            ),
            "post-norm": (
                "Now it is post-norm: the norm stands on the road, after the plus. In pre-norm it is in "
                "the side street.",
                lambda x, block: _normal(x + block(x)),
            ),
            "no norm": (
                "The norm is gone, and the block reads what comes in as it is.",
                lambda x, block: x + block(x),
            ),
            "no road": (
                "The block reads the right thing, and its answer replaces x, to which it must be added.",
                lambda x, block: block(_normal(x)),
            ),
            "norm after the block": (
                "The norm stands in the side street, but after the block: what the block *reads* must be "
                "normal.",
                lambda x, block: x + _normal(block(x)),
            ),
            "norm on the road only": (
                "The road is normalised and what the block reads is not: the wrong way round.",
                lambda x, block: _normal(x) + block(x),
            ),
            "both norms": (
                "The side street is right; but a norm still stands on the road, after the plus.",
                lambda x, block: _normal(x + block(_normal(x))),
            ),
            "norm over everything": (
                "One mean and one variance for all tokens. Each token is normalised by itself, over the "
                "last axis.",
                lambda x, block: x + block(F.layer_norm(x, x.shape)),
            ),
            "x twice": (
                "x is added twice.",
                lambda x, block: 2 * x + block(_normal(x)),
            ),
        },
    ),
)

# --- clip by the norm -----------------------------------------------------------------------------


def _length(weight_grad: Tensor, bias_grad: Tensor) -> Tensor:
    return (weight_grad.square().sum() + bias_grad.square().sum()).sqrt()


def _clipped(
    weight_grad: Tensor,
    bias_grad: Tensor,
    limit: float,
    *,
    length: Callable[[Tensor, Tensor], Any] = _length,
    factor: Callable[[Any, float], Any] = lambda length, limit: min(1, limit / length),
) -> tuple[Tensor, Tensor]:
    shorten = factor(length(weight_grad, bias_grad), limit)
    return shorten * weight_grad, shorten * bias_grad


def _alone(grad: Tensor, limit: float) -> Tensor:
    shortened: Tensor = grad * min(1.0, limit / grad.norm().item())
    return shortened


check_clipped_gradients = Exercise(
    "clipped_gradients",
    difficulty=3,
    minutes=10,
    takes=("weight_grad", "bias_grad", "limit"),
    returns=("weight_grad", "bias_grad"),
    reference=_clipped,
    cases=(
        Case("right for a long gradient", exact([3, 0]), exact([4])[0], 1.0),
        Case("right for a short one", exact([0.25, 0]), exact([0.5])[0], 1.0),
        Case("right where each alone is short enough", exact([3, 0], [0, 0]), exact([0, 4])[0], 4.5),
        Case("right for drawn gradients", *draw(21, (3, 5), (3,)), 2.0),
        Case("right in float64", *draw(23, (4, 6), (4,), dtype=torch.float64), 0.5),
    ),
    mistakes=in_parts(
        _clipped,
        length={
            "lengths added": (
                "You add the two lengths. Together they are one long vector: add the squares, and take the "
                "root at the end.",
                lambda weight, bias: weight.norm() + bias.norm(),
            ),
            "the longer one": (
                "You take the longer of the two lengths. Together they are one vector, longer than either.",
                lambda weight, bias: max(weight.norm(), bias.norm()),
            ),
            "weights only": (
                "The length is that of the weights' gradient alone. The bias counts, too.",
                lambda weight, bias: weight.norm(),
            ),
            "no root": (
                "This is the length squared: the root is missing.",
                lambda weight, bias: _length(weight, bias).square(),
            ),
            "mean for the sum": (
                "You take the mean of the squares. A length has their sum.",
                lambda weight, bias: _length(weight, bias) / math.sqrt(weight.numel() + bias.numel()),
            ),
            "largest number": (
                "You measure by the largest number. By the norm means by the length of the whole.",
                lambda weight, bias: max(weight.abs().max(), bias.abs().max()),
            ),
        },
        factor={
            "always": (
                "Short gradients are stretched to the limit. Leave alone what is short enough.",
                lambda length, limit: limit / length,
            ),
            "to length 1": (
                "What is too long becomes 1 long. It should become as long as the limit.",
                lambda length, limit: 1 / length if length > limit else 1,
            ),
            "limit for the factor": (
                "What is too long is multiplied by the limit. The factor is limit / length.",
                lambda length, limit: limit if length > limit else 1,
            ),
            "nothing": ("Nothing is clipped.", lambda length, limit: 1),
            "the wrong way round": (
                "What is short becomes longer, and what is too long stays: the factor is the smaller of "
                "the two, 1 and limit / length.",
                lambda length, limit: max(1, limit / length),
            ),
            "thrown away": (
                "What is too long becomes zero. Only its length is wrong: keep the direction.",
                lambda length, limit: 0 if length > limit else 1,
            ),
        },
    )
    | {
        "each by itself": (
            "Each gradient is clipped by its own length, which changes the direction of the whole. One "
            "factor serves both.",
            lambda weight, bias, limit: (_alone(weight, limit), _alone(bias, limit)),
        ),
        "the bias left out": (
            "The bias is as long as before. The factor shortens both.",
            lambda weight, bias, limit: (_clipped(weight, bias, limit)[0], bias),
        ),
        "number by number": (
            "Every number is cut off at the limit, which turns the gradient. Shorten all by one factor.",
            lambda weight, bias, limit: (weight.clamp(-limit, limit), bias.clamp(-limit, limit)),
        ),
    },
    trainable=False,
)

# --- an experiment: deep, without a norm ----------------------------------------------------------

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


def _growth(junction: _Junction) -> int:
    """1 where what comes out grows as x does; 0 not at all, 2 little, 3 in part, 4 from nothing, 5 faster."""
    source = torch.Generator("cpu").manual_seed(1)
    x = torch.randn(1, 4 * _LENGTH, _WIDTH, generator=source, device="cpu").double()
    matrix = torch.randn(_WIDTH, _WIDTH, generator=source, device="cpu").double() / math.sqrt(_WIDTH)
    nothing, small, large = (_joined(junction, size * x, lambda x: x @ matrix) for size in (0, 1, 1000))
    if nothing.nan_to_num().any():  # 0/0 is a norm's answer to a vector of zeros
        return 4
    growth = (large.norm() / small.norm()).item()
    if abs(growth / 1000 - 1) < 1e-9:
        return 1
    return 0 if growth < 1.01 else 2 if growth < 10 else 3 if growth < 1000 else 5


def _reads(junction: _Junction) -> int:
    """1 where another block makes a difference."""
    x = torch.ones(1, _LENGTH, _WIDTH, device="cpu")
    answers = [_joined(junction, x, lambda x, factor=factor: factor * x) for factor in (0, 3)]  # type: ignore[misc]
    return int(not torch.equal(*answers))


def _range(junction: _Junction) -> int:
    """By how many powers of ten the signal is larger, or smaller, at the end of the road."""
    words = _words(8, torch.Generator("cpu").manual_seed(2))
    start, end = _through(junction, _weights(), words)
    ratio = (end.double().norm() / start.double().norm()).item()
    return max(-9, min(9, round(math.log10(ratio)))) if 0 < ratio < math.inf else -9


def _learned(junction: _Junction) -> int:
    """1 where the middle one of five has learned; else 2 where a loss ever jumped, and 0 where none did."""
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
    return 2 if course.max() > 1.3 * math.log(_SYMBOLS) else 0


def _deep(junction: _Junction, question: str) -> int:
    if question == "grows":
        return _growth(junction)
    # What fails one question is not asked the next: the first fault is the one to mend.
    if _growth(junction) != 1:
        return 0
    if question == "reads":
        return _reads(junction)
    powers = _range(junction)
    if question == "range":
        return powers
    return _learned(junction) if powers == 0 else 0


check_deep_without_norm = Exercise(
    "deep_without_norm",
    difficulty=4,
    minutes=40,
    takes=("question",),
    returns=("answer",),
    reference=lambda x, block: x + 0.1 * block(x),
    cases=(
        Case("only adds and multiplies", "grows"),
        Case("hears its block", "reads"),
        Case("stays in range over twelve layers", "range"),
        Case("learns at a large rate", "learns"),
    ),
    mistakes={
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
            "The mean of x and the answer halves x at every block, and there are 24 of them. Leave the "
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
        "hardly heard": (
            "Everything stays in range, and too little is learned: what the blocks read, or what is heard "
            "of them, is so quiet that a step hardly changes anything. A little louder.",
            lambda x, block: x + 1e-4 * block(x),
        ),
    },
    trainable=False,
    ask=_deep,
)
