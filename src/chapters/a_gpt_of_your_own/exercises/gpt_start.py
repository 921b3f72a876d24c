"""Draw a GPT's weights as GPT-2's are drawn."""

import copy
import functools
import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn

from attnlab.transformer import GPT
from bookkit.checking.answers import UnwrittenError, WrongTypeError
from bookkit.checking.attempts import Case
from bookkit.checking.exercise import Exercise
from bookkit.checking.mistakes import Mistakes, Part, in_parts
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
        begun = [weight.flatten()[:4].tolist() for name, weight in weights.items() if kind_of(name) == asked]
        again = asked in _KINDS.values() and any(begun.count(each) > 1 for each in begun)
        return TOLD.number(", ".join(_RIGHT[asked]) + ", and two of them begin alike" * again)
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


def _left(weight: Tensor) -> None:
    """As it was."""


def _drawn_too(weight: Tensor) -> None:
    _normal(weight, 0.02)


def _scaled(layers: int) -> float:
    return 0.02 / math.sqrt(2 * layers)


def _xavier(weight: Tensor, spread: float) -> None:
    nn.init.xavier_normal_(weight)


def _alike(layers: int, place: int, owner: str) -> float:
    return 0.02


def _while_recorded(model: GPT) -> None:
    for weight in model.parameters():
        weight.normal_(std=0.02)


def _into_copies(model: GPT) -> None:
    for weight in model.parameters():
        _normal(weight.detach().clone(), 0.02)


MISTAKES: Mistakes = in_parts(
    _start,
    writer={
        "writers not scaled": (
            "The matrices that write to the stream, attention.write and narrow, are drawn like the others. "
            "What they write adds up, 2 · layers times: divide their 0.02 by √(2 · layers).",
            _alike,
        ),
        "root of layers": (
            "You divide by √layers. Every layer writes to the stream twice, its attention and its network: "
            "√(2 · layers).",
            lambda layers, place, owner: 0.02 / math.sqrt(layers),
        ),
        "without the root": (
            "You divide by 2 · layers. It is variances that add up, so the spread is divided by the root of "
            "that: √(2 · layers).",
            lambda layers, place, owner: 0.02 / (2 * layers),
        ),
        "multiplied": (
            "You multiply by √(2 · layers). What adds up must be drawn smaller: divide.",
            lambda layers, place, owner: 0.02 * math.sqrt(2 * layers),
        ),
        "by depth": (
            "You divide by how many writes came before. All that write are drawn alike, with the number of "
            "all the layers: len(model.blocks).",
            lambda layers, place, owner: _scaled(place + 1),
        ),
        "narrow forgotten": (
            "attention.write is right, and narrow is drawn like the matrices that read. What narrow gives is "
            "added to the stream, too.",
            lambda layers, place, owner: _scaled(layers) if owner == "write" else 0.02,
        ),
        "attention.write forgotten": (
            "narrow is right, and attention.write is drawn like the matrices that read. What it gives is "
            "added to the stream, too.",
            lambda layers, place, owner: _scaled(layers) if owner == "narrow" else 0.02,
        ),
    },
    reader={
        "all matrices scaled": (
            "The matrices that read the stream, attention.project and widen, are scaled down as well. Only "
            "what is added to the stream adds up: they keep 0.02.",
            _scaled,
        )
    },
    table={
        "tables scaled": (
            "The tables are scaled down as well. They are not added up by the layers: they keep 0.02.",
            _scaled,
        ),
        "tables left": (
            "The tables, pieces and places, are still PyTorch's, with spread 1: an nn.Embedding is no "
            "nn.Linear. Draw them with 0.02 like the rest.",
            lambda layers: None,
        ),
    },
    draw={
        "variance for spread": (
            "You take 0.02 for the variance. It is the spread, the standard deviation: no root.",
            lambda weight, spread: _normal(weight, spread * math.sqrt(0.02) / 0.02),
        ),
        "spread 1": (
            "The spread of what you draw is 1, as that of randn and normal_ is unless told. (The second "
            "argument of nn.init.normal_ is the mean.) Say std=0.02.",
            lambda weight, spread: nn.init.normal_(weight, spread),
        ),
        "uniform": (
            "You draw evenly from -0.02 to 0.02. GPT-2 draws from a normal distribution, with std=0.02.",
            lambda weight, spread: nn.init.uniform_(weight, -spread, spread),
        ),
        "Xavier's": (
            "You draw all matrices and tables as Xavier Glorot does, with a spread that hangs on the sizes. "
            "GPT-2's is 0.02, whatever the size.",
            _xavier,
        ),
    },
    bias={
        "biases left": ("The biases are still those that PyTorch drew. Set them to 0.", _left),
        "biases drawn": (
            "You draw the biases, too. Set them to 0: a weight of one axis is no matrix.",
            _drawn_too,
        ),
    },
    norm={
        "norms drawn": (
            "You draw the weights of the norms, too, and next to nothing gets through them. They are 1: a "
            "name that ends in “weight” need not be a matrix's. Look at weight.dim(), too.",
            _drawn_too,
        ),
        "norms at 0": (
            "You set the weights of the norms to 0, and nothing gets through them. They are 1, and only "
            "their biases 0.",
            nn.init.zeros_,
        ),
    },
) | {
    "the others scaled": (
        "The wrong ones are scaled: the matrices that read, attention.project and widen. It is those that "
        "write to the stream: attention.write and narrow.",
        partial(_start, reader=_scaled, writer=_alike),
    ),
    "Xavier's for the matrices": (
        "You draw the matrices as Xavier Glorot does, with a spread that hangs on their sizes. Theirs is "
        "0.02 as well, whatever the size, and smaller for those that write.",
        partial(_start, draw=_xavier, draw_table=_normal),
    ),
    "everything drawn alike": (
        "Every weight is drawn alike, biases and norms as well. Go by the names, or by weight.dim(): biases "
        "are 0, the norms' weights 1, and what writes to the stream is drawn smaller.",
        partial(_start, writer=_alike, bias=_drawn_too, norm=_drawn_too, norm_bias=_drawn_too),
    ),
    "biases and norms drawn": (
        "You draw the biases and the norms as well. Biases are 0, and the norms' weights 1: only what has "
        "two axes is drawn.",
        partial(_start, bias=_drawn_too, norm=_drawn_too, norm_bias=_drawn_too),
    ),
    "nothing drawn": (
        "The weights are what they were. Draw into them, in place, as nn.init's functions do: a new tensor "
        "under an old name changes no model.",
        _into_copies,
    ),
    "drawn while recorded": (
        "PyTorch forbids writing into a weight while it records gradients. Write `with torch.no_grad():`, or "
        "let nn.init do it.",
        _while_recorded,
    ),
}


_ASKED = {
    TABLES: "tables with spread 0.02",
    READERS: "matrices that read with spread 0.02",
    WRITERS: "matrices that write with spread 0.02/√(2 · layers)",
    BIASES: "biases at 0",
    NORMS: "norms at 1 and 0",
}


check_gpt_start = Exercise(
    "gpt_start",
    difficulty=3,
    minutes=25,
    takes=("layers", "asked"),
    returns=("weights",),
    reference=_start,
    ask=_drawn,
    # With one layer, who divides by √layers does not divide at all; with three, no two ways to divide agree.
    cases=[Case(label, layers, asked) for layers in (1, 3) for asked, label in _ASKED.items()],
    mistakes=MISTAKES,
    trainable=False,
    # The book's own: the task is to write it.
    without=(GPT.start,),
    meanings={"weights": TOLD},
)
