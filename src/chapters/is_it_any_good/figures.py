"""The figures of “Is it any good?”, described by what is drawn."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, curves, plot, rounded
from chapters.a_gpt_of_your_own import models

# ---- measured once ----

# Bits per byte of all held-out text over three trainings by the recipes.
TRAININGS = {"GPT": (1.607, 1.627, 1.621), "LSTM": (1.705, 1.702, 1.701)}
# Bits per byte of an LSTM after 1,000 updates, by the spread of its table at the start.
LSTM_STARTS = {0.02: 1.969, 0.06: 1.945, 0.12: 1.932, 0.24: 1.895, 0.48: 1.901}


def smoothing(added: Sequence[float], bits: Sequence[float], smoothed: float) -> None:
    """`smoothing([0.1, 1], [2.4, 2.7], 2.2)` draws 2-grams by what is added to each count."""
    told = ", ".join(f"{bit:.2f} with {little:g}" for little, bit in zip(added, bits, strict=True))
    curves(
        added,
        {"added to every count": bits, "Kneser-Ney": [smoothed] * len(added)},
        Axis("what is added", log=10),
        Axis("bits a byte"),
        alt=f"Bits per byte of a 2-gram by what is added to every count: {told}. Kneser-Ney: {smoothed:.2f}.",
    )


def remembering(lengths: Sequence[int], bits: Sequence[float], without: float) -> None:
    """`remembering([4, 128], [1.94, 1.68], 1.92)` draws bits by pieces in memory, beside those without."""
    told = ", ".join(f"{bit:.2f} with {length}" for length, bit in zip(lengths, bits, strict=True))
    curves(
        lengths,
        {"5-gram with a memory": bits, "without": [without] * len(lengths)},
        Axis("pieces that it remembers", log=2),
        Axis("bits a byte"),
        alt=f"Bits per byte of a 5-gram on a tenth of the text by how many pieces it remembers: {told}; "
        f"{without:.2f} without a memory.",
        legend_above=True,
    )


def beside(pieces: Sequence[str], readers: Mapping[str, Sequence[float]]) -> None:
    """`beside(["Return", " the"], {"5-gram": [0.05, 0.2]})` draws what each piece costs, by its chance."""
    seen = [piece.replace(" ", "␣").replace("\n", "↵") for piece in pieces]
    bits = {name: [-math.log2(chance) for chance in chances] for name, chances in readers.items()}
    told = "; ".join(
        f"{name}: {', '.join(f'{piece} {bit:.1f}' for piece, bit in zip(seen, each, strict=True))}"
        for name, each in bits.items()
    )
    with plot(f"The bits that each piece of a line costs. {told}.", size=(7.2, 3.2)) as (axes,):
        width = 0.84 / len(bits)
        for number, (name, each) in enumerate(bits.items()):
            places = [place + (number - (len(bits) - 1) / 2) * width for place in range(len(seen))]
            axes.bar(rounded(places), rounded(each), width, color=COLOURS[SERIES[number]][0], label=name)
        axes.set_xticks(range(len(seen)), seen, rotation=60, ha="right", rotation_mode="anchor")
        axes.set_ylabel("bits")
        axes.figure.legend(loc="outside upper left", ncols=len(bits))


def ladder(bits: Mapping[str, float]) -> None:
    """`ladder({"xz": 1.69, "GPT": 1.61})` gives each rival a line, most bits first, and the GPT a colour."""
    ordered = sorted(bits, key=bits.__getitem__)
    told = ", ".join(f"{name} {bits[name]:.2f}" for name in reversed(ordered))
    with plot(f"Bits a byte of all that is held out. {told}.", size=(5.2, 2.8)) as (axes,):
        for place, name in enumerate(ordered):
            colour = COLOURS[SERIES[0] if "GPT" in name else "ink"][0]
            number = round(float(bits[name]), 3)
            axes.plot(number, place, "o", color=colour)
            axes.text(number + 0.015, place, f"{number:.2f}", va="center", color=colour)
        axes.set_yticks(range(len(ordered)), ordered, va="center")
        axes.tick_params(axis="y", length=0)
        axes.set_xlim(1.3, 1.8)
        axes.set_xlabel("bits a byte")


def race(
    panels: Mapping[str, Mapping[str, Tensor]], counted: Mapping[str, Tensor], packed: Mapping[str, Tensor]
) -> None:
    """`race({"all": {"GPT": noted}}, {"all": counted}, {"all": packed})` sets bits against seconds.

    noted has a row for each note, whose second and third numbers are seconds and bits; counted a row of both
    for each order of n-grams, packed one for xz.
    """
    told = []
    for name, lines in panels.items():
        ends = ", ".join(
            f"{line} {each[-1, 2]:.2f} after {each[-1, 1]:.0f} s" for line, each in lines.items()
        )
        grams = ", ".join(f"{bits:.2f}" for bits in counted[name][1:, 1].tolist())
        told.append(f"{name}: {ends}; 2- to 5-grams {grams}; xz {packed[name][1]:.2f}")
    alt = (
        "Bits per byte of held-out text against the processor's seconds of the training, which are on a "
        f"logarithmic scale. {'. '.join(told)}."
    )
    with plot(alt, size=(7.2, 3.3), panels=len(panels), share_x=False) as all_axes:
        for axes, (name, lines) in zip(all_axes, panels.items(), strict=True):
            for (line, each), colour, dash in zip(lines.items(), SERIES, DASHES, strict=False):
                axes.plot(
                    rounded(each[:, 1]), rounded(each[:, 2]), color=COLOURS[colour][0], ls=dash, label=line
                )
            seconds, bits = counted[name][1:].T
            axes.plot(
                rounded(seconds),
                rounded(bits),
                color=COLOURS[SERIES[2]][0],
                marker="D",
                ls=":",
                label="2- to 5-grams",
            )
            axes.plot(
                *([number] for number in rounded(packed[name])),
                color=COLOURS["ink"][0], marker="*", ms=12, ls="", label="xz -9e",
            )  # fmt: skip
            axes.set_xscale("log")
            axes.set_ylim(1.5, 2.5)  # a 1-gram and untrained networks lie far above
            axes.set_title(name)
            axes.set_xlabel("seconds of the processor")
        all_axes[0].set_ylabel("bits a byte")
        all_axes[0].figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=4)


def grown(trials: Tensor) -> tuple[Tensor, list[float], tuple[list[float], list[float]]]:
    """`grid, thousands, by_text = grown(notes["growth"]["noted"])`: bits a byte by weights, updates, ids."""
    widths, lengths = len(models.WIDTHS), len(models.LENGTHS)  # a row: 1,000 weights, ids, seconds, bits
    grid = trials[: widths * lengths, 3].view(widths, lengths)
    thousands = trials[: widths * lengths : lengths, 0].tolist()
    by_text = trials[[*range(widths * lengths, len(trials) - 2), widths * lengths - 1]]
    return grid, thousands, (by_text[:, 1].tolist(), by_text[:, 3].tolist())


def growth(trials: Tensor) -> None:
    """`growth(notes["growth"]["noted"])` draws bits per byte by updates, for each size, and by text."""
    grid, thousands, by_text = grown(trials)
    names = [f"{math.floor(size + 0.5)},000 weights" for size in thousands]  # 544,608 are noted as 544.5
    panels: dict[str, dict[str, tuple[Sequence[float], Sequence[float]]]] = {
        "updates": {name: (models.LENGTHS, bits) for name, bits in zip(names, grid.tolist(), strict=True)},
        "thousand ids of text": {names[-1]: by_text},
    }
    told = ". ".join(
        f"By {name}: "
        + "; ".join(
            f"{line}: " + ", ".join(f"{bit:.2f} at {x:,.0f}" for x, bit in zip(*each, strict=True))
            for line, each in lines.items()
        )
        for name, lines in panels.items()
    )
    alt = f"Bits per byte of held-out text. {told}."
    looks = dict(zip(names, zip(SERIES, MARKERS, DASHES, strict=False), strict=False))
    with plot(alt, size=(7.2, 3.4), panels=len(panels), share_x=False) as all_axes:
        for axes, (name, lines) in zip(all_axes, panels.items(), strict=True):
            for line, (x, y) in lines.items():
                colour, marker, dash = looks[line]
                axes.plot(
                    rounded(x), rounded(y), color=COLOURS[colour][0], marker=marker, ls=dash, label=line
                )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(rounded(x), [f"{tick:,.0f}" for tick in x])
            axes.margins(x=0.12)  # between the numbers below one panel and the other
            axes.set_xlabel(name)
            axes.set_yticks([1.5, 2, 2.5, 3, 3.5], ["1.5", "2", "2.5", "3", "3.5"])
            axes.minorticks_off()
            axes.legend(fontsize=10)
        all_axes[0].set_ylabel("bits a byte")


def copied(passages: Mapping[str, Tensor]) -> None:
    """`copied({"temperature 1": tensor([[33, 84]])})` draws how long passages are, and how common."""
    told = "; ".join(
        f"{name}: median {each[:, 0].median():.0f} characters, longest {each[:, 0].max():.0f}"
        for name, each in passages.items()
    )
    alt = (
        "For each text that was written, its longest passage that occurs word for word in what was read: its "
        f"length, and how often it occurs there. {told}."
    )
    with plot(alt, size=(5.2, 4.0)) as (axes,):
        for (name, each), colour, marker in zip(passages.items(), SERIES, MARKERS, strict=False):
            length, times = rounded(each).T
            axes.plot(length, times, marker, color=COLOURS[colour][0], alpha=0.7, label=name)
        axes.set_yscale("log")
        axes.set_yticks([1, 3, 10, 30], ["1", "3", "10", "30"])
        axes.minorticks_off()
        axes.set_xlabel("characters of the longest copied passage")
        axes.set_ylabel("times it occurs in the text")
        axes.figure.legend(loc="outside upper left", ncols=2)


def law(trials: Tensor) -> None:
    """`law(notes["growth"]["noted"])` draws the third size by updates, and the power law that fits best."""
    updates, bits = models.LENGTHS, grown(trials)[0][2].tolist()
    x, y = (torch.tensor(each).double().log() for each in (updates, bits))
    slope = ((x - x.mean()) * (y - y.mean())).mean() / (x - x.mean()).square().mean()
    along = torch.tensor([updates[0] / 2, 4 * updates[-1]]).double().log()
    fitted = (y.mean() + slope * (along - x.mean())).exp()
    told = ", ".join(f"{bit:.2f} at {update:g}" for update, bit in zip(updates, bits, strict=True))
    alt = (
        f"Bits a byte by updates, both on logarithmic scales: {told}. A straight line lies close to all, "
        f"and is drawn on to {math.exp(along[1]):.0f} updates, {fitted[1]:.2f}."
    )
    with plot(alt, size=(5.2, 2.6)) as (axes,):
        axes.plot(rounded(updates), rounded(bits), "o", color=COLOURS[SERIES[0]][0])
        axes.plot(rounded(along.exp()), rounded(fitted), color=COLOURS["grey"][0], ls="--")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_yticks([2, 2.5, 3, 3.5], ["2", "2.5", "3", "3.5"])
        axes.minorticks_off()
        axes.set_xlabel("updates")
        axes.set_ylabel("bits a byte")
