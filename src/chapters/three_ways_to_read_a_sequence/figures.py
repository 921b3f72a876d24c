"""The figures, described by what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, curves, plot, rounded

LEAST = 1e-16  # what is 0 stands at the foot of a logarithmic axis


def fades(lines: Mapping[str, Tensor]) -> None:
    """`fades({"GRU": sizes})` draws how much of a gradient is left so many words back, against one back."""
    told = []
    for name, sizes in lines.items():
        gone = (sizes == 0).nonzero()
        words = f"exactly 0 from {gone[0].item()} words back" if len(gone) else f"{sizes[-1]:.0e}"
        told.append(f"{name} {words}" if len(gone) else f"{name} {words} at {len(sizes) - 1} words back")
    alt = (
        "The gradient's size against how far back the word is, as a multiple of that of the last word but "
        f"one, on a logarithmic scale. {'; '.join(told)}."
    )
    with plot(alt, size=(5.2, 3.4)) as (axes,):
        for (name, sizes), colour, dash in zip(lines.items(), SERIES, DASHES, strict=False):
            shown = sizes[1:].clamp(min=LEAST)
            axes.plot(
                rounded(range(1, len(sizes))), rounded(shown), color=COLOURS[colour][0], ls=dash, label=name
            )
        axes.set_xlabel("words back")
        axes.set_ylabel("gradient, against one word back")
        axes.set_yscale("log")
        axes.set_ylim(LEAST, 1e2)
        axes.figure.legend(loc="outside upper left", ncols=3)


def times(lengths: Sequence[int], measured: Mapping[str, Sequence[float]], *, said: str) -> None:
    """`times([16, 32], {"attention": [1, 2]}, said="…")` draws milliseconds against length."""
    curves(
        lengths,
        measured,
        Axis("words", log=2),
        Axis("milliseconds, forward and back", log=10),
        alt=f"The time for four texts, forward and back, against their length, both logarithmic. {said}",
    )


def recall(right: Mapping[str, Mapping[int, Tensor]]) -> None:
    """`recall({"GRU": {8: results, 16: results}})` draws the share of right answers by distance."""
    means = "; ".join(
        f"{name}: {', '.join(f'{seeds.mean():.2f} at {distance}' for distance, seeds in each.items())}"
        for name, each in right.items()
    )
    alt = (
        "The share of marked letters recalled, by distance, mean over five starts in a band from the worst "
        f"to the best. {means}."
    )
    # Steps of a distance, not a scale: 15 and 16 are where the convolution ends.
    distances = sorted({distance for each in right.values() for distance in each})
    with plot(alt, size=(5.2, 3.2)) as (axes,):
        for (name, each), colour, dash, marker in zip(right.items(), SERIES, DASHES, MARKERS, strict=False):
            tone, places = COLOURS[colour][0], [distances.index(distance) for distance in each]
            low, high = ([float(end(seeds)) for seeds in each.values()] for end in (Tensor.min, Tensor.max))
            axes.fill_between(places, rounded(low), rounded(high), color=tone, alpha=0.15, lw=0)
            middle = rounded([float(seeds.mean()) for seeds in each.values()])
            axes.plot(places, middle, color=tone, ls=dash, marker=marker, label=name)
        axes.set_xticks(range(len(distances)), [str(distance) for distance in distances])
        axes.set_xlabel("distance, in training and test")
        axes.set_ylabel("share right")
        axes.set_ylim(0, 1.05)
        axes.figure.legend(loc="outside upper left", ncols=3)


def forced_and_free(steps: Sequence[int], right: Mapping[str, Tensor], *, said: str) -> None:
    """`forced_and_free([0, 10], {"free": shares}, said="…")` draws letters right, (steps, seeds) each."""
    alt = (
        "The share of letters right, on numbers never seen, against the step of training, mean over five "
        f"seeds in a band from the worst to the best. {said}"
    )
    with plot(alt, size=(5.2, 3.2)) as (axes,):
        for (name, each), colour, dash, marker in zip(right.items(), SERIES, DASHES, MARKERS, strict=False):
            tone = COLOURS[colour][0]
            axes.fill_between(
                steps, rounded(each.amin(-1)), rounded(each.amax(-1)), color=tone, alpha=0.15, lw=0
            )
            axes.plot(steps, rounded(each.mean(-1)), color=tone, ls=dash, marker=marker, label=name)
        axes.set_xlabel("step")
        axes.set_ylabel("letters right")
        axes.set_ylim(0, 1)
        axes.figure.legend(loc="outside upper left", ncols=2)
