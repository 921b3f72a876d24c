"""The figures of “Writing faster”, described by what is drawn."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, plot, rounded

SIZE = (5.2, 2.6)  # inches

# ---- measured once ----

# The model of today, on one core, behind a cache of the pieces before: how long readings take, over that of
# one piece. Of the least of 80 turns each, the middle of seven runs. The fifth is of `models.hollow`.
TIMES = {
    "one piece": 1.0,
    "5 pieces of one text": 1.2,
    "5 texts, a piece each": 1.2,
    "128 pieces of one text": 3.2,
    "one piece, hardly any weights": 0.8,
    "one piece, the draft model": 0.5,
}
# With the stored models, on one core, for 1, 2 … 8 guesses at a time: pieces that one reading of the large
# model adds (the mean of eighteen texts of 80 pieces), and how long a reading and its guesses take, in pieces
# written one by one with a cache (medians of six texts).
PIECES = (1.50, 1.79, 1.92, 2.08, 2.08, 2.14, 2.14, 2.12)
COSTS = (1.8, 2.4, 3.1, 3.2, 4.2, 4.1, 4.9, 5.8)


def saved(lengths: Sequence[int], arithmetic: Sequence[float]) -> None:
    """`saved([8, 16], [8.0, 16.0])` draws how many times as much the next piece costs without a cache."""
    told = ", ".join(f"{each:.3g} at {n}" for n, each in zip(lengths, arithmetic, strict=True))
    alt = (
        "How many times as much arithmetic the last piece of a text costs without a cache, by the text’s "
        f"length: {told}."
    )
    with plot(alt, size=SIZE) as (axes,):
        _lines(axes, lengths, {"arithmetic": arithmetic})
        for scale in (axes.set_xscale, axes.set_yscale):
            scale("log", base=2)
        axes.set_xticks(rounded(lengths), [f"{length:g}" for length in lengths])
        axes.set_yticks([1, 4, 16, 64], ["1", "4", "16", "64"])
        axes.set_xlabel("pieces in the text")
        axes.set_ylabel("arithmetic without a cache, times as much")


def readings() -> None:
    """`readings()` has a bar for each kind of reading: how long it takes, over that of one piece."""
    names, times = [*TIMES], [*TIMES.values()]
    told = "; ".join(f"{name} {each:.1f}" for name, each in TIMES.items())
    with plot(f"How long a reading takes, over that of one piece: {told}.", size=(6.4, 2.6)) as (axes,):
        axes.barh(range(len(names)), times, color=COLOURS["blue"][0], alpha=0.75)
        for level, each in enumerate(times):
            axes.annotate(f" {each:.1f}", (each, level), va="center", fontsize=12)
        axes.set_yticks(range(len(names)), names, va="center")
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("time, over that of one piece")


def speculation() -> None:
    """`speculation()` draws pieces a reading by how many are guessed, and what they cost."""
    guesses = range(1, len(PIECES) + 1)
    series = {"written": PIECES, "cost": COSTS}
    told = "; ".join(
        f"{name}: " + ", ".join(f"{each:.2g}" for each in numbers) for name, numbers in series.items()
    )
    alt = (
        "For each reading of the large model, by how many pieces are guessed before it, from "
        f"{guesses[0]} to {guesses[-1]}: the pieces it writes, and what it costs in pieces written one by "
        f"one. {told}."
    )
    with plot(alt, size=(5.2, 3.5)) as (axes,):
        _lines(axes, list(guesses), series)
        axes.set_ylim(0, None)
        axes.set_yticks(range(0, 7, 2))
        axes.set_xlabel("guesses at a time")
        axes.set_ylabel("pieces, for each reading of the large model")
        axes.figure.legend(loc="outside upper left", ncols=2)


def _lines(axes: Axes, x: Sequence[float], series: Mapping[str, Sequence[float]]) -> None:
    for (name, y), colour, marker, dash in zip(series.items(), SERIES, MARKERS, DASHES, strict=False):
        axes.plot(rounded(x), rounded(y), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
