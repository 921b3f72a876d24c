"""What `check_gpt_start` asks with, in parts that can be mistaken."""

import copy
import functools
import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from attnlab.transformer import GPT
from bookkit.checking.answers import UnwrittenError, WrongTypeError
from bookkit.checking.mistakes import Part
from chapters.a_gpt_of_your_own.exercises.told import Told

TOLD = Told()

TABLES, READERS, WRITERS, BIASES, NORMS = (
    "the two tables",
    "matrices that read the stream",
    "matrices that write to the stream",
    "biases",
    "norms",
)
_KINDS = {
    **dict.fromkeys(("pieces", "places"), TABLES),
    **dict.fromkeys(("project", "widen"), READERS),
    **dict.fromkeys(("write", "narrow"), WRITERS),
}
# A spread that is measured in n normal numbers is off by 1/√(2n) of itself, their mean by 1/√n of the spread:
# standard errors, of which we allow five. For the smallest weight, (64, 64), five are 5.5 % of the spread,
# for the largest, (256, 64), 2.8 %. No two of the spreads in `_spread` are so close at one number of layers,
# but for those that are equal.
ERRORS = 5
_RIGHT = {
    TABLES: ("normal, with spread 0.02",),
    READERS: ("normal, with spread 0.02",),
    WRITERS: ("normal, with spread 0.02/√(2 · layers)",),
    BIASES: ("0",),
    NORMS: ("weights 1", "biases 0"),
}


def kind_of(name: str) -> str:
    """`kind_of("blocks.0.widen.bias")` is "biases"."""
    *_, owner, own = name.split(".")
    kind = _KINDS.get(owner, NORMS)
    return BIASES if own == "bias" and kind != NORMS else kind


# --- what a reader's work is measured by ---


@functools.cache
def _untouched(layers: int) -> GPT:
    """A GPT with the weights that PyTorch's modules draw for themselves, whatever its own start is."""
    with torch.random.fork_rng(devices=[]), torch.device("cpu"):
        torch.default_generator.manual_seed(layers)
        model = GPT(128, d_model=64, heads=2, layers=layers, context=96)
        for module in model.modules():
            if isinstance(module, (nn.Linear, nn.Embedding, nn.LayerNorm)):
                module.reset_parameters()
    return model


def _drawn(work: Callable[[GPT], object], layers: int, asked: str) -> int:
    """How those weights of a model are drawn that are asked for, as the number of its words."""
    before = _untouched(layers)
    model = copy.deepcopy(before)
    with torch.random.fork_rng(devices=[]):  # the work draws, as it is asked to
        torch.default_generator.manual_seed(0)
        if work(model) is ...:
            raise UnwrittenError
    weights = dict(model.named_parameters())
    wrong: dict[str, str] = {}
    right = 0
    for name, old in before.named_parameters():
        _must_be_a_weight_like(old, name, weights.get(name))
        if kind_of(name) == asked:
            words = _how(name, weights[name].detach(), old, layers)
            if words in _RIGHT[asked]:
                right += 1
            else:
                wrong[name] = words
    if not wrong:
        return TOLD.number(", ".join(_RIGHT[asked]))
    name, words = next(iter(wrong.items()))
    return TOLD.number(f"{words}, at {name}" if right else words)


def _must_be_a_weight_like(old: Tensor, name: str, new: Tensor | None) -> None:
    if new is None or (new.shape, new.dtype, new.device) != (old.shape, old.dtype, old.device):
        raise WrongTypeError(f"{name} is no longer a weight of its shape and dtype. Draw into it as it is.")
    if not new.requires_grad:
        raise WrongTypeError(
            f"{name} takes no gradients any more: it would never learn. Leave that as it is."
        )


def _how(name: str, weight: Tensor, old: Tensor, layers: int) -> str:
    """How a weight is drawn, in words; of `_RIGHT` where it is as it should be."""
    first = weight.flatten()[0].item()
    if (weight == first).all():
        part = ("biases " if name.endswith("bias") else "weights ") if kind_of(name) == NORMS else ""
        return f"{part}{first:g}"
    if torch.equal(weight, old):
        return "as PyTorch draws them"
    if weight.dim() == 1:
        return "drawn"
    if not weight.isfinite().all():
        return "not finite"
    spread, mean, n = weight.std().item(), weight.mean().item(), weight.numel()
    if abs(mean) > ERRORS * spread / math.sqrt(n):
        return f"not around 0, but around {mean:.1g}"
    if _near(spread, math.sqrt(2 / sum(weight.shape)), n):
        return "with Xavier Glorot's spread"
    # 3 for normal numbers, with a standard error of 0.08 at most; 1.8 where all between two edges are alike.
    fourth_power = ((weight - mean) / spread).pow(4).mean()
    if fourth_power < 2:
        edge = f"{math.sqrt(3) * spread:.1g}"
        return f"even, from -{edge} to {edge}"
    kind = "normal" if fourth_power > 2.6 else "neither normal nor even"
    return f"{kind}, with spread {_spread(spread, weight, layers)}"


def _spread(spread: float, weight: Tensor, layers: int) -> str:
    writes = math.sqrt(2 * layers)
    known = {
        "0.02": 0.02,
        "0.02/√(2 · layers)": 0.02 / writes,
        "0.02/√layers": 0.02 / math.sqrt(layers),
        "0.02/(2 · layers)": 0.02 / (2 * layers),
        "√0.02": math.sqrt(0.02),
        "√0.02/√(2 · layers)": math.sqrt(0.02) / writes,
        "1": 1.0,
    }
    words = min(known, key=lambda words: abs(math.log(spread / known[words])))
    return words if _near(spread, known[words], weight.numel()) else f"about {spread:.1g}"


def _near(spread: float, known: float, n: int) -> bool:
    return abs(spread / known - 1) < ERRORS / math.sqrt(2 * n)


# --- what a reader has to write ---


def _normal(weight: Tensor, spread: float) -> None:
    nn.init.normal_(weight, std=spread)


def _start(
    model: GPT,
    *,
    draw: Part = _normal,
    draw_table: Part | None = None,
    table: Part = lambda layers: 0.02,
    reader: Part = lambda layers: 0.02,
    writer: Part = lambda layers, place, owner: 0.02 / math.sqrt(2 * layers),
    bias: Part = nn.init.zeros_,
    norm: Part = nn.init.ones_,
    norm_bias: Part = nn.init.zeros_,
) -> None:
    """A `table` of None is left as it is. Without a `draw_table` they are drawn like the matrices."""
    layers = len(model.blocks)
    for name, weight in model.named_parameters():
        kind, (*_, owner, own) = kind_of(name), name.split(".")
        if kind == TABLES and table(layers):
            (draw_table or draw)(weight, table(layers))
        elif kind == READERS:
            draw(weight, reader(layers))
        elif kind == WRITERS:
            draw(weight, writer(layers, int(name.split(".")[1]), owner))
        elif kind == BIASES:
            bias(weight)
        elif kind == NORMS:
            (norm_bias if own == "bias" else norm)(weight)
