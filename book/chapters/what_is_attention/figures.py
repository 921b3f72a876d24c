"""Figures of weights and answers. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.colours import COLOURS, SERIES
from bookkit.figures import DASHES, Axis, curves, heat_map, plot, rounded


def cooling(coldness: Tensor, missing: Tensor, bound: Tensor) -> None:
    """`cooling(1 / temperature, 1 - weights[0], bound)` draws what the best key lacks as it gets colder."""
    curves(
        coldness,
        {"measured": missing, "bound": bound},
        Axis("1 / temperature"),
        Axis("weight that the best key lacks", log=10),
        alt="The weight that the best key lacks, on a logarithmic axis, against 1 over the temperature: a "
        f"straight line from {missing[0]:.2f} at {coldness[0]:g} down to {missing[-1]:.0e} at "
        f"{coldness[-1]:g}, everywhere below the bound.",
    )


def bandwidths(widths: Sequence[float], remembered: Tensor, held_out: Tensor) -> None:
    """`bandwidths([0.1, 1], remembered, held_out)` draws the error over the bandwidth."""
    best = int(held_out.argmin())
    curves(
        widths,
        {"on the points it holds": remembered, "on held-out points": held_out},
        Axis("bandwidth", log=10),
        Axis("error (root mean square)"),
        alt=f"Error against bandwidth. On the points it holds the error only grows, from "
        f"{remembered[0]:.2f} to {remembered[-1]:.2f}. On held-out points it falls from {held_out[0]:.2f} "
        f"to {held_out[best]:.2f} at a bandwidth of {widths[best]:g} and rises again to {held_out[-1]:.2f}.",
    )


def fits(key: Tensor, value: Tensor, query: Tensor, answers: Mapping[str, Tensor]) -> None:
    """`fits(key, value, query, {"0.2": answer})` draws the stored points, and a panel for each answer."""
    ranges = "; ".join(
        f"{name}: answers from {answer.min():.1f} to {answer.max():.1f}" for name, answer in answers.items()
    )
    alt = (
        f"{key.numel()} noisy points of a wave, and the answer to every query at three bandwidths. "
        f"{ranges}. The narrowest jumps from point to point, the middle one follows the wave, the "
        "widest is almost flat."
    )
    with plot(alt, size=(5.2, 2.3), panels=len(answers)) as panels:
        for axes, (name, answer), colour in zip(panels, answers.items(), SERIES, strict=False):
            grey = COLOURS["grey"][0]
            axes.plot(rounded(key), rounded(value), color=grey, marker="o", ls="", markersize=3)
            axes.plot(rounded(query), rounded(answer), color=COLOURS[colour][0])
            axes.set_title(name)
            axes.set_xticks([0, 2, 4, 6])
            axes.set_xlabel("key, query")
        panels[0].set_ylabel("value, answer")


def look(asking: str, words: Sequence[str], weights: Tensor) -> None:
    """`look("it", ["dog", "barked", "it"], weights)` draws a line to each word, as thick as its weight."""
    shares = rounded(weights)
    told = ", ".join(f"{word} {share:.2f}" for word, share in zip(words, shares, strict=True))
    middle = (len(words) - 1) / 2
    alt = f"Lines from the word “{asking}” to each word, as thick as its weight: {told}."
    with plot(alt, size=(5.2, 2.2)) as (axes,):
        for place, (word, share) in enumerate(zip(words, shares, strict=True)):
            axes.plot(
                [middle, place], [0, 1], color=COLOURS["blue"][0], ls=DASHES[0], lw=0.5 + 20 * share,
                alpha=0.7, solid_capstyle="butt",
            )  # fmt: skip
            axes.text(place, 1.1, f"{word}\n{share:.2f}", ha="center", va="bottom", fontsize=12)
        axes.text(middle, -0.12, asking, ha="center", va="top", fontsize=12)
        axes.set(xlim=(-0.5, len(words) - 0.5), ylim=(-0.45, 1.75))
        axes.set_axis_off()


def who_looks_where(words: Sequence[str], weights: Tensor) -> None:
    """`who_looks_where(["dog", "it"], weights)` is the heat map of every word's weights."""
    rows = "; ".join(
        f"{word}: " + ", ".join(f"{other} {share:.2f}" for other, share in zip(words, row, strict=True))
        for word, row in zip(words, rounded(weights), strict=True)
    )
    heat_map(weights, words, words, alt=f"The weights of each word over all words. {rows}.")
