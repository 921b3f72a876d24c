"""The figures, described by what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Seeds, plot, rounded


def learned(heads: Mapping[str, Sequence[int]], results: Mapping[str, Seeds]) -> None:
    """`learned({"two neighbours": [1, 2]}, {"two neighbours": results})` draws how much is right by heads."""
    means = {name: [float(seeds.mean()) for seeds in each] for name, each in results.items()}
    words = "; ".join(
        f"{name}, with {', '.join(map(str, heads[name]))} heads: {', '.join(f'{m:.2f}' for m in line)}"
        for name, line in means.items()
    )
    alt = (
        "The share of the neighbours' names that is right, mean over 5 seeds, in a band from the worst to "
        f"the best. {words}."
    )
    places = sorted({count for each in heads.values() for count in each})
    with plot(alt) as (axes,):
        for (name, line), colour, dash, marker in zip(means.items(), SERIES, DASHES, MARKERS, strict=False):
            tone = COLOURS[colour][0]
            low, high = ([float(end(seeds)) for seeds in results[name]] for end in (Tensor.min, Tensor.max))
            axes.fill_between(heads[name], rounded(low), rounded(high), color=tone, alpha=0.15, lw=0)
            axes.plot(heads[name], rounded(line), color=tone, ls=dash, marker=marker, label=name)
        axes.set_xscale("log", base=2)
        axes.set_xticks(places, [str(count) for count in places])
        axes.minorticks_off()
        axes.set_xlabel("heads")
        axes.set_ylabel("share of the names that is right")
        axes.legend()
