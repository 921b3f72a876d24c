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
# Likewise at other rates, seed 0: with six key heads, and with fewer.
RATES = {
    2e-3: (2.334, {3: 2.319, 2: 2.320, 1: 2.333}),
    8e-3: (2.233, {3: 2.197, 2: 2.180, 1: 2.199}),
}


def windows(widths: Sequence[int], bits: Mapping[str, Sequence[float]], full: float) -> None:
    """`windows([8, 64], {"the last places": [1.9, 1.8]}, 1.8)` draws bits a byte by places in the cache."""
    told = "; ".join(
        f"{name}: " + ", ".join(f"{bit:.2f} with {width}" for width, bit in zip(widths, each, strict=True))
        for name, each in bits.items()
    )
    curves(
        widths,
        {**bits, "all 128": [full] * len(widths)},
        Axis("places in the cache", log=2),
        Axis("bits a byte"),
        alt=f"Bits a byte of the stored model by how many places its cache holds. {told}; all: {full:.2f}.",
    )


def first_round(widths: Sequence[int], nats: Mapping[tuple[int, int], float]) -> None:
    """`first_round([4, 8], nats)` draws nats a letter, `nats[8, 1]` with one of eight places the first."""
    lines = {
        name: [nats[width, sinks] for width in widths]
        for sinks, name in enumerate(("the last places", "one of them the first letter"))
    }
    lines["all in sight"] = [nats[48, 0]] * len(widths)
    told = "; ".join(
        f"{name}: " + ", ".join(f"{nat:.2f} with {width}" for width, nat in zip(widths, each, strict=True))
        for name, each in lines.items()
    )
    curves(
        widths,
        lines,
        Axis("places in sight", log=2),
        Axis("nats a letter"),
        alt=f"Nats a letter of the first round of riddles, by how many places are in sight. {told}.",
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
