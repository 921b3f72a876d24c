"""The figures of the table's first rows, and of what is right in longer sequences."""

from collections.abc import Mapping

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, heat_map, plot, rounded

# The share right of each seed, at each length of the sequence.
ByLength = Mapping[int, Tensor]


def longer(job: str, readers: Mapping[str, ByLength], *, until: Mapping[str, float] | None = None) -> None:
    """`longer("copying", {"rotary": {24: right, 48: right}})` draws how much is right in longer sequences.

    A line for each reader: the mean over seeds, in a band from the worst to the best. `until` marks a length
    for a reader with a dotted line in its colour.
    """
    told = "; ".join(
        f"{reader} " + ", ".join(f"{seeds.mean():.2f} at {length}" for length, seeds in right.items())
        for reader, right in readers.items()
    )
    count = len(next(iter(next(iter(readers.values())).values())))
    with plot(
        f"{job}: the share right, mean over {count} starts, by the length of the sequence. {told}.",
        size=(5.2, 3.3),
    ) as (axes,):
        for (reader, right), colour, marker, dash in zip(
            readers.items(), SERIES, MARKERS, DASHES, strict=False
        ):
            at, paint = list(right), COLOURS[colour][0]
            low, mean, high = (
                rounded([float(part(seeds)) for seeds in right.values()])
                for part in (Tensor.min, Tensor.mean, Tensor.max)
            )
            axes.fill_between(at, low, high, color=paint, alpha=0.15, lw=0)
            axes.plot(at, mean, color=paint, marker=marker, ls=dash, label=reader)
            if until:
                axes.axvline(round(until[reader], 1), color=paint, ls=":", lw=1.2)
        axes.set_xscale("log", base=2)
        axes.set_xticks([24, 48, 96, 192], ["24", "48", "96", "192"])
        axes.minorticks_off()
        axes.set_xlabel("length of the sequence")
        axes.set_ylabel(f"{job}: share right")
        axes.figure.legend(loc="outside upper left", ncols=3 if len(readers) > 4 else 2)


def first_sines(table: Tensor) -> None:
    """`first_sines(table)` shows the sine of each hand at the first six positions."""
    sines = table[:6, 0::2]
    fast = ", ".join(f"{number:.2f}" for number in sines[:, 0].tolist())
    heat_map(
        sines,
        rows=range(6),
        columns=range(0, table.shape[1], 2),
        axes=("position", "column"),
        alt=f"The sines of rows 0 to 5. Column 0: {fast}. Each further one grows more slowly.",
    )
