"""Figures of alikeness and of learning by position. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping

from torch import Tensor

from bookkit.colours import COLOURS, SERIES
from bookkit.figures import DASHES, MARKERS, Axis, curves, plot, rounded

# The share right of each seed, at each length of the sequence.
ByLength = Mapping[int, Tensor]


def profile(alike: Mapping[str, Tensor]) -> None:
    """`profile({"16 columns": alike})` draws how alike two rows are, by their distance: 1 at distance 0."""
    farthest = len(next(iter(alike.values()))) - 1
    words = "; ".join(
        f"{name}: {line[1]:.2f} at distance 1, {line[10]:.2f} at 10, {line[-1]:.2f} at {farthest}, "
        f"rising again {int((line.diff() > 0).sum())} times on the way"
        for name, line in alike.items()
    )
    curves(
        list(range(farthest + 1)),
        alike,
        Axis("distance between two positions"),
        Axis("dot product / norm²"),
        alt=f"The dot product of two rows against their distance, 1 at distance 0. {words}.",
    )


def longer(
    jobs: Mapping[str, Mapping[str, ByLength]],
    *,
    until: Mapping[str, float] | None = None,
    legend: str = "above",
) -> None:
    """`longer({"copying": {"rotary": {24: right, 48: right}}})` draws how much is right in longer sequences.

    A panel for each job, a line for each reader: the mean over seeds, in a band from the worst to the best. Up
    to the lengths in `until` a reader should do well; they are dotted lines in its colour.
    """
    told = "; ".join(
        f"{job}: "
        + ", ".join(
            f"{reader} "
            + " ".join(f"{seeds.mean():.2f}" for seeds in right.values())
            + f" at {'/'.join(map(str, right))}"
            for reader, right in readers.items()
        )
        for job, readers in jobs.items()
    )
    seeds = len(next(iter(next(iter(next(iter(jobs.values())).values())).values())))
    alt = f"The share right, mean over {seeds} seeds, by the length of the sequence. {told}."
    with plot(alt, size=(7.2, 3.4), panels=len(jobs), share_x=False) as panels:
        for axes, (job, readers) in zip(panels, jobs.items(), strict=True):
            for (reader, right), colour, marker, dash in zip(
                readers.items(), SERIES, MARKERS, DASHES, strict=False
            ):
                at, paint = list(right), COLOURS[colour][0]
                low, mean, high = (
                    rounded([float(pick(each)) for each in right.values()])
                    for pick in (Tensor.min, Tensor.mean, Tensor.max)
                )
                axes.fill_between(at, low, high, color=paint, alpha=0.15, lw=0)
                axes.plot(at, mean, color=paint, marker=marker, ls=dash, label=reader)
                if until and reader in until:
                    axes.axvline(round(until[reader], 1), color=paint, ls=":", lw=1.2)
            axes.set_xscale("log", base=2)
            ticks = [24, 48, 96, 192]
            axes.set_xticks(ticks, [str(length) for length in ticks])
            axes.minorticks_off()
            axes.set_title(job)
            axes.set_xlabel("length of the sequence")
            if legend == "inside":
                axes.legend(loc="lower left", fontsize=9)
        panels[0].set_ylabel("share right")
        if legend == "above":
            handles, names = panels[0].get_legend_handles_labels()
            panels[0].figure.legend(handles, names, loc="outside upper left", ncols=5, fontsize=9)
