"""The figures: trainings of many seeds, what intervals hold, pairs, and what held-out texts tell."""

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, plot, rounded


def strips(bank: Mapping[str, Tensor]) -> None:
    """`strips({"as it is": losses})` has a row of dots for each variant, and its mean in a band of ± 1 s."""
    words = "; ".join(f"{name} {x.mean():.3f} ± {x.std():.3f}" for name, x in bank.items())
    alt = (
        f"Nats a word of {len(next(iter(bank.values())))} trainings of each variant, a dot each. Mean and "
        f"standard deviation: {words}."
    )
    with plot(alt, size=(7.2, 3.4)) as (axes,):
        for place, losses in enumerate(bank.values()):
            y = len(bank) - place
            shade = COLOURS[SERIES[place % len(SERIES)]][0]
            lift = 0.16 * np.sin(2.4 * np.arange(len(losses)))  # so that dots do not cover each other
            axes.plot(rounded(losses), rounded(y + lift), "o", color=shade, ms=4, alpha=0.55, mew=0)
            mean, spread = float(losses.mean()), float(losses.std())
            axes.plot(rounded([mean - spread, mean + spread]), [y - 0.34] * 2, color=shade, lw=2)
            axes.plot(rounded([mean]), [y - 0.34], "|", color=shade, ms=12, mew=3)
        axes.set_yticks(range(len(bank), 0, -1), list(bank), va="center")
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("nats a word on 1,000 new sentences")


def coverage(counts: Sequence[int], held: Mapping[str, Sequence[float]], wanted: float = 0.95) -> None:
    """`coverage([3, 5], {"Student": [0.95, 0.95]})` is how often each kind of interval holds the truth."""
    words = "; ".join(f"{name}: {', '.join(f'{x:.2f}' for x in line)}" for name, line in held.items())
    alt = f"The share of intervals that hold the truth, from {', '.join(map(str, counts))} seeds. {words}."
    with plot(alt) as (axes,):
        axes.axhline(wanted, color=COLOURS["grey"][0], lw=1.5, ls=":")
        for (name, line), colour, marker, dash in zip(held.items(), SERIES, MARKERS, DASHES, strict=False):
            axes.plot(counts, rounded(line), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        axes.set_xscale("log")
        axes.set_xticks(counts, [str(n) for n in counts])
        axes.minorticks_off()
        axes.set_xlabel("seeds")
        axes.set_ylabel("share that holds the truth")
        axes.legend(loc="lower right")


def pairs(first: Tensor, others: Mapping[str, Tensor]) -> None:
    """`pairs(bank["as it is"], {"one head": losses})` has a dot for each seed: here and there."""
    correlation = {name: float(np.corrcoef(first, other)[0, 1]) for name, other in others.items()}
    words = "; ".join(f"{name} {r:.2f}" for name, r in correlation.items())
    alt = f"Each dot is a seed: its loss as it is, and its loss in another variant. Correlations: {words}."
    with plot(alt, size=(7.2, 2.9), panels=len(others)) as all_axes:
        for axes, (name, other), colour in zip(all_axes, others.items(), SERIES, strict=False):
            axes.plot(rounded(first), rounded(other), "o", color=COLOURS[colour][0], ms=4.5, alpha=0.7, mew=0)
            axes.set_title(f"{name}\nr = {correlation[name]:.2f}")
            axes.set_xlabel("as it is")
        all_axes[0].set_ylabel("nats a word")


def power(counts: Sequence[int], seen: Mapping[str, Sequence[float]], predicted: Mapping[str, int]) -> None:
    """`power([2, 5], {"other seeds": [0.1, 0.3]}, {"other seeds": 31})`: how often a difference is seen.

    What the formula predicts for four in five is a tick on the line of 0.8.
    """
    words = "; ".join(f"{name}: {', '.join(f'{x:.2f}' for x in line)}" for name, line in seen.items())
    told = "; ".join(f"{name} {n}" for name, n in predicted.items())
    alt = (
        f"How often an interval leaves out 0, from {', '.join(map(str, counts))} seeds of each. {words}. "
        f"For 0.8 the formula asks for: {told}."
    )
    with plot(alt, size=(7.2, 3.4)) as (axes,):
        axes.axhline(0.8, color=COLOURS["grey"][0], lw=1.2, ls=":")
        for (name, line), colour, marker, dash in zip(seen.items(), SERIES, MARKERS, DASHES, strict=False):
            shade = COLOURS[colour][0]
            axes.plot(counts, rounded(line), color=shade, marker=marker, ls=dash, label=name)
            if name in predicted:
                axes.plot([predicted[name]], [0.8], "|", color=shade, ms=18, mew=3)
        axes.set_xscale("log")
        axes.set_xticks(counts, [str(n) for n in counts])
        axes.minorticks_off()
        axes.set_xlabel("seeds of each")
        axes.set_ylabel("share of comparisons that see it")
        axes.figure.legend(loc="outside upper left", ncols=2)


def texts(bits: Tensor, kilobytes: Tensor, files: Tensor, most: int = 26) -> None:
    """`texts(bits, kilobytes, files)` has bits a byte of each text, (texts,), in columns, one for a file."""
    chosen = torch.bincount(files).argsort(descending=True, stable=True)[:most].tolist()
    whole = float((bits * kilobytes).sum() / kilobytes.sum())
    means = {file: float(bits[files == file].mean()) for file in chosen}
    chosen.sort(key=means.__getitem__)
    alt = (
        f"Bits a byte of the stored GPT for each held-out text of the {most} files with most texts, in a "
        f"column for each file, sorted by their means, from {means[chosen[0]]:.2f} to "
        f"{means[chosen[-1]]:.2f}; {whole:.2f} on all texts. Single texts lie between "
        f"{bits.min():.1f} and {bits.max():.1f}."
    )
    with plot(alt, size=(7.2, 3.2)) as (axes,):
        axes.axhline(whole, color=COLOURS["grey"][0], lw=1.5, ls=":")
        for place, file in enumerate(chosen):
            own = bits[files == file]
            shade = COLOURS[SERIES[place % 2]][0]
            axes.plot([place] * len(own), rounded(own), "o", color=shade, ms=4, alpha=0.5, mew=0)
            axes.plot([place - 0.3, place + 0.3], rounded([means[file]] * 2), color=shade, lw=2.5)
        axes.set_xticks([])
        axes.set_xlabel("a column for each file")
        axes.set_ylabel("bits a byte")


def units(half: Mapping[str, Mapping[str, float]]) -> None:
    """`units({"GPT": {"pieces": 0.01, "texts": 0.04}})` has how wide intervals are, by what is resampled."""
    groups = [*next(iter(half.values()))]
    words = "; ".join(
        f"{name}: {', '.join(f'{kind} {x:.3f}' for kind, x in own.items())}" for name, own in half.items()
    )
    alt = f"Half the width of an interval of 95 %, in bits a byte, by what counts as a unit. {words}."
    with plot(alt, size=(6.2, 2.8)) as (axes,):
        wide = 0.8 / len(groups)
        for number, (kind, colour) in enumerate(zip(groups, SERIES, strict=False)):
            places = [place + wide * (number - (len(groups) - 1) / 2) for place in range(len(half))]
            heights = rounded([own[kind] for own in half.values()])
            axes.bar(places, heights, wide * 0.9, color=COLOURS[colour][0], alpha=0.75, label=kind)
            for x, y in zip(places, heights, strict=True):
                axes.annotate(f"{y:.3f}", (x, y), ha="center", va="bottom", fontsize=11)
        axes.set_xticks(range(len(half)), list(half))
        axes.grid(axis="x", visible=False)
        axes.set_ylabel("± bits a byte")
        axes.figure.legend(loc="outside upper left", ncols=3)
