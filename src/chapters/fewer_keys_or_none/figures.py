"""The figures of fewer keys, described by what is drawn."""

from collections.abc import Mapping, Sequence

from bookkit.pictures.colours import COLOURS
from bookkit.pictures.figures import Axis, curves, plot, rounded

# ---- measured once ----

# Bits a byte after 400 updates with so many heads of keys for six of queries, by the recipe, seeds 0 to 2.
GROUPS = {
    6: (2.223, 2.206, 2.205),
    3: (2.203, 2.205, 2.205),
    2: (2.207, 2.212, 2.215),
    1: (2.219, 2.213, 2.215),
}


def windows(
    widths: Sequence[int], lost: Mapping[str, Sequence[float]], full: float, what: str = "bits a byte"
) -> None:
    """`windows([8, 64], {"the last places": [1.9, 1.8]}, 1.8)` draws bits a byte by places in sight."""
    told = "; ".join(
        f"{name}: " + ", ".join(f"{one:.2f} with {width}" for width, one in zip(widths, each, strict=True))
        for name, each in lost.items()
    )
    curves(
        widths,
        {**lost, "all": [full] * len(widths)},
        Axis("places in sight", log=2),
        Axis(what),
        alt=f"{what.capitalize()} by the places in sight. {told}; all: {full:.2f}.",
    )


# How each line of `rounding` is drawn.
LINES = {
    "keys": ("orange", "o", "-"),
    "keys, turned back": ("orange", "s", "--"),
    "values": ("green", "^", "-."),
}


def rounding(bits: Sequence[int], lost: Mapping[str, Sequence[float]]) -> None:
    """`rounding([8, 4], {"keys": [0.0, 0.01]})` draws what is lost, in bits a byte, by bits a number."""
    told = "; ".join(
        f"{name}: "
        + ", ".join(f"{round(each, 3) + 0.0:.3f} at {bit}" for bit, each in zip(bits, line, strict=True))
        for name, line in lost.items()
    )
    with plot(f"Bits a byte lost where a cache is rounded, by the bits of a number. {told}.") as (axes,):
        for name, line in lost.items():
            colour, marker, dash = LINES[name]
            axes.plot(
                rounded(bits), rounded(line), color=COLOURS[colour][0], marker=marker, ls=dash, label=name
            )
        axes.set_xticks(bits, [f"{bit}" for bit in bits])
        axes.invert_xaxis()
        axes.set_xlabel("bits of each number in the cache")
        axes.set_ylabel("bits a byte lost")
        axes.legend()
