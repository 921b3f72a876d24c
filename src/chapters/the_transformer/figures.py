"""The figures, described by what is drawn, and what was measured for them over five seeds."""

from collections.abc import Mapping, Sequence
from itertools import cycle

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, plot, rounded


def by_length(middles: Sequence[float], results: Mapping[str, Tensor]) -> None:
    """`by_length([4.5, 8], {"additive": shares})` draws exact matches by length, of (seeds, lengths)."""
    told = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in shares.mean(0).tolist())}"
        for name, shares in results.items()
    )
    alt = (
        "The share of sentences translated exactly right, mean over five seeds in a band from the worst to "
        f"the best, at about {', '.join(f'{middle:g}' for middle in middles)} words of English. {told}."
    )
    with plot(alt, size=(5.2, 3.1)) as (axes,):
        for (name, shares), colour, marker, dash in zip(
            results.items(), SERIES, MARKERS, DASHES, strict=False
        ):
            tone = COLOURS[colour][0]
            low, high = rounded(shares.amin(0)), rounded(shares.amax(0))
            axes.fill_between(middles, low, high, color=tone, alpha=0.15, lw=0)
            axes.plot(middles, rounded(shares.mean(0)), color=tone, marker=marker, ls=dash, label=name)
        axes.set_xlabel("words of English")
        axes.set_ylabel("share exactly right")
        axes.set_ylim(0, 1.03)
        axes.figure.legend(loc="outside upper left", ncols=2)


def excess(above: Mapping[str, Sequence[float]]) -> None:
    """`excess({"LSTM": [0.011, 0.012]})` draws how far losses lie above the limit, a point for each seed."""
    told = "; ".join(f"{name}: {', '.join(f'{each:.3f}' for each in seeds)}" for name, seeds in above.items())
    alt = f"Nats a word above the least possible loss, on a logarithmic scale. {told}."
    with plot(alt, size=(5.2, 2.0 if len(above) < 5 else 0.3 * len(above))) as (axes,):
        for place, (seeds, colour, marker) in enumerate(
            zip(above.values(), cycle(SERIES), cycle(MARKERS), strict=False)
        ):
            tone = COLOURS[colour][0]
            axes.plot(rounded(seeds), [place] * len(seeds), color=tone, marker=marker, ls="")
        axes.set_xscale("log")
        axes.set_xticks([0.003, 0.01, 0.03, 0.1, 0.3], ["0.003", "0.01", "0.03", "0.1", "0.3"])
        axes.minorticks_off()
        axes.set_yticks(range(len(above)), list(above))
        axes.set_ylim(len(above) - 0.5, -0.5)
        axes.set_xlabel("nats a word above the limit")


def too_good(limit: float, losses: Mapping[str, Sequence[float]]) -> None:
    """`too_good(1.417, {"no mask": losses})` draws losses by update, and a line at the limit."""
    below = [name for name, line in losses.items() if line[-1] < limit]
    alt = (
        f"The loss by update, with a line at the least that is possible, {limit:.3f}. Of "
        f"{', '.join(losses)}, these end below the line: {', '.join(below)}."
    )
    with plot(alt, size=(5.2, 2.8)) as (axes,):
        for (name, line), colour, dash in zip(losses.items(), SERIES, DASHES, strict=False):
            axes.plot(rounded(line), color=COLOURS[colour][0], ls=dash, label=name)
        axes.axhline(round(limit, 3), color=COLOURS["ink"][0], lw=1)
        axes.set_xlabel("update")
        axes.set_ylabel("loss, in nats a word")
        axes.set_ylim(0, 4)
        axes.figure.legend(loc="outside upper left", ncols=3)
