"""Figures of what the scale of scores does. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

import matplotlib as mpl
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, Seeds, curves, plot, rounded

LENGTH = Axis("$d_k$", log=2)


def derivative(lengths: Sequence[int], raw: Tensor, scaled: Tensor) -> None:
    """`derivative([1, 4], raw, scaled)` draws the softmax Jacobian's size; both are (lengths, queries)."""
    raw_mean, raw_median, scaled_mean = raw.mean(-1), raw.median(-1).values, scaled.mean(-1)
    curves(
        lengths,
        {"raw, mean": raw_mean, "÷ √$d_k$, mean": scaled_mean, "raw, median": raw_median},
        LENGTH,
        Axis("size of the softmax's derivative", log=10),
        alt="The size of the softmax's derivative against d_k. "
        f"Scaled, its mean stays near {scaled_mean[-1]:.2f}. Unscaled, the mean rises from {raw_mean[0]:.2f} "
        f"to {raw_mean.max():.2f} and then falls to {raw_mean[-1]:.2f} at d_k = {lengths[-1]}; "
        f"the median falls far more steeply, to {raw_median[-1]:.0e}.",
    )


def learning(lengths: Sequence[int], learned: Mapping[str, Seeds]) -> None:
    """`learning([4, 16], {"tied": results})` draws what is fetched right without a divisor, by the start."""
    curves(
        lengths,
        {name: [float(seeds.mean()) for seeds in each] for name, each in learned.items()},
        LENGTH,
        Axis("share fetched right, raw"),
        spread={
            name: ([float(seeds.min()) for seeds in each], [float(seeds.max()) for seeds in each])
            for name, each in learned.items()
        },
        alt="The share of values fetched right without a divisor, mean over five seeds in a band from the "
        f"worst to the best, at d_k = {', '.join(map(str, lengths))}. From independent starts it falls with "
        "every step. From queries at zero, and with queries tied to keys, it stays at or near 1.",
    )


def rates(rates: Sequence[float], learned: Mapping[str, Mapping[int, Tensor]], *, said: str) -> None:
    """`rates([1, 3], {"÷ √d_k": {4: results}}, said="…")` draws a panel a divisor and a line for each d_k.

    The results are (rates, seeds). What is `said` of them ends the description; training moves their digits.
    """
    seeds, gap = len(next(iter(next(iter(learned.values())).values()))[0]), rates[1] / rates[0]
    alt = (
        "The share of values fetched right against the learning rate, a panel for each divisor and a line "
        f"for each d_k: the mean of {seeds} models, with a stroke from the worst to the best. {said}"
    )
    apart = mpl.rc_context({"figure.constrained_layout.wspace": 0.12})  # or the panels' rates would touch
    with apart, plot(alt, size=(7.6, 3.6), panels=len(learned)) as panels:
        for axes, (name, each) in zip(panels, learned.items(), strict=True):
            for number, (d_k, results) in enumerate(each.items()):
                mean = results.mean(-1)
                # clamp: a mean of equal numbers may pass them by a last digit.
                below, above = (mean - results.amin(-1)).clamp(0), (results.amax(-1) - mean).clamp(0)
                aside = gap ** (0.13 * (number - (len(each) - 1) / 2))  # so that no stroke hides another
                axes.errorbar(
                    [rate * aside for rate in rates], rounded(mean), yerr=(rounded(below), rounded(above)),
                    color=COLOURS[SERIES[number]][0], marker=MARKERS[number], ls=DASHES[number],
                    elinewidth=1.2, label=f"$d_k$ = {d_k}",
                )  # fmt: skip
            axes.set_title(name)
            axes.set_xscale("log")
            axes.minorticks_off()
            axes.set_xticks(
                rates, [f"{rate:g}" if place % 2 == 0 else "" for place, rate in enumerate(rates)]
            )
            axes.set_ylim(0, 1.05)
            axes.set_yticks([0, 0.5, 1])
        figure = axes.figure
        figure.suptitle("share fetched right", x=0.01, ha="left", fontsize=13)
        panels[len(panels) // 2].set_xlabel("learning rate")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(each))
