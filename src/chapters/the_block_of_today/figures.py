"""The figures of “The block of today”: the curve of its gate, and what each change is worth."""

from collections.abc import Mapping, Sequence

import torch
from torch.nn import functional as F

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, plot, rounded

# ---- measured once ----

# Bits per byte of held-out text over three trainings by the recipe `changes`. The six stand in the order of
# the opening picture.
CHANGES = {
    "2017": (2.274, 2.28, 2.281),
    "norm first": (2.285, 2.309, 2.276),
    "RMSNorm": (2.268, 2.264, 2.248),
    "rotary": (2.197, 2.188, 2.19),
    "2 groups": (2.275, 2.278, 2.267),
    "SwiGLU": (2.283, 2.284, 2.263),
    "no biases": (2.261, 2.287, 2.262),
    "untied": (2.087, 2.095, 2.078),
    "today": (2.229, 2.226, 2.235),
    "today, norm behind": (2.2, 2.213, 2.202),
    "today, untied": (2.206, 2.211, 2.196),
}
# Those with a second table in as many updates, not as many seconds, as 2017's and today's.
EQUAL_UPDATES = {"untied": (2.158, 2.165, 2.150), "today, untied": (2.300, 2.287, 2.289)}
# A second table beside one change, and in today's block with the norm behind: `fitted` as the others, 600
# updates at 4e-3, two seeds. That is not the best rate of all: at 8e-3 seed 0 has 2.140 and 2.099.
SECOND_TABLE = {
    "norm first": (2.171, 2.176),
    "rotary": (2.121, 2.122),
    "today, norm behind": (2.117, 2.118),
}


def silu() -> None:
    """`silu()` draws x · sigmoid(x) beside the ReLU, which it follows far from 0."""
    x = torch.linspace(-6, 6, 121)
    lines = {"SiLU": F.silu(x), "ReLU": x.relu()}
    lowest = lines["SiLU"].min()
    alt = (
        "SiLU and ReLU from −6 to 6. Far from 0 they are alike: 0 at the left, rising one for one at the "
        f"right. In between SiLU is a smooth curve through 0, with its lowest point, "
        f"{lowest:.2f}, at {x[lines['SiLU'].argmin()]:.1f}."
    ).replace("-", "−")
    with plot(alt, size=(5.2, 2.5)) as (axes,):
        for (name, y), colour, dash in zip(lines.items(), SERIES, DASHES, strict=False):
            axes.plot(rounded(x), rounded(y), color=COLOURS[colour][0], ls=dash, label=name)
        axes.set_xlabel("what the gate’s matrix gives")
        axes.set_ylabel("what becomes of it")
        axes.legend()


def changes(bits: Mapping[str, Sequence[float]]) -> None:
    """`changes(CHANGES)` has a row of dots for each kind, one for each seed, in the order given.

    The first is that of 2017. Then come the six changes, with their numbers from the opening picture.
    """
    names = [f"{'①②③④⑤⑥'[level - 1]} {name}" if 1 <= level <= 6 else name for level, name in enumerate(bits)]
    told = "; ".join(
        f"{name}: {', '.join(f'{bit:.3f}' for bit in sorted(seeds))}"
        for name, seeds in zip(names, bits.values(), strict=True)
    )
    alt = (
        "Bits per byte of held-out text, three trainings of each kind at equal time and equal weights. "
        f"{told}. A band marks the three of 2017."
    )
    first = next(iter(bits.values()))
    with plot(alt, size=(5.8, 3.8)) as (axes,):
        axes.axvspan(min(first), max(first), color=COLOURS["grey"][0], alpha=0.2, lw=0)
        for level, (name, seeds) in enumerate(bits.items()):
            colour = "purple" if name.startswith("today") else "blue" if level else "grey"
            axes.plot(rounded(seeds), [level] * len(seeds), "o", color=COLOURS[colour][0], alpha=0.75)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xlabel("bits a byte")
