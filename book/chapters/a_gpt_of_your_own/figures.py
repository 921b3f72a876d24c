"""The figures of “A GPT of your own”, described by what is drawn."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, curves, plot, rounded

# ---- measured once, over several trainings by the chapter's recipes ----

# Bits per byte after a thousand updates at rates of 0.002, 0.004 and 0.008, by the first weights' spread.
SPREADS = {"0.02": (2.26, 2.21, 2.45), "0.06": (2.16, 2.09, 2.12)}


def kept(names: Sequence[str], characters: Tensor) -> None:
    """`kept(["torch"], tensor([[4659, 3706]]))` draws thousands of characters, read and kept, as bars."""
    millions = characters / 1000
    told = "; ".join(
        f"{name} {read:.1f} and {kept:.1f}"
        for name, (read, kept) in zip(names, millions.tolist(), strict=True)
    )
    alt = f"Millions of characters in docstrings, read and kept without copies. {told}."
    with plot(alt, size=(5.2, 2.6)) as (axes,):
        places = torch.arange(len(names)).flip(0)
        axes.barh(
            places + 0.2, rounded(millions[:, 0]), 0.4, color=COLOURS["grey"][0], alpha=0.5, label="read"
        )
        axes.barh(places - 0.2, rounded(millions[:, 1]), 0.4, color=COLOURS[SERIES[0]][0], label="kept")
        axes.set_yticks(places, names)
        axes.set_xlabel("millions of characters")
        axes.legend()


def vocabularies(sizes: Sequence[int], per_piece: Sequence[float], per_byte: Sequence[float]) -> None:
    """`vocabularies([257, 512], [2.7, 3.4], [2.7, 2.1])` draws one loss in two units, by vocabulary."""
    told = "; ".join(
        f"{size} pieces: {piece:.2f} and {byte:.2f}"
        for size, piece, byte in zip(sizes, per_piece, per_byte, strict=True)
    )
    curves(
        sizes,
        {"bits a piece": per_piece, "bits a byte": per_byte},
        Axis("pieces in the vocabulary", log=2),
        Axis("bits"),
        alt=f"What counted 5-grams need, in bits a piece and in bits a byte. {told}.",
    )


def sweeps(rates: Mapping[str, Sequence[float]], bits: Mapping[str, Tensor]) -> None:
    """`sweeps({"GPT": [0.001, 0.002]}, {"GPT": tensor([2.4, 2.3])})` draws bits per byte by rate."""
    told = "; ".join(
        f"{name}: "
        + ", ".join(f"{bit:.2f} at {rate:g}" for rate, bit in zip(rates[name], bits[name], strict=True))
        for name in rates
    )
    alt = f"Bits per byte after a thousand updates, by the learning rate. {told}."
    with plot(alt) as (axes,):
        for (name, each), colour, marker, dash in zip(rates.items(), SERIES, MARKERS, DASHES, strict=False):
            axes.plot(
                rounded(each),
                rounded(bits[name]),
                color=COLOURS[colour][0],
                marker=marker,
                ls=dash,
                label=name,
            )
        axes.set_xscale("log")
        ticks = sorted({rate for each in rates.values() for rate in each})
        axes.set_xticks(ticks, [f"{rate:g}" for rate in ticks], rotation=45)
        axes.minorticks_off()
        axes.set_xlabel("learning rate at its highest")
        axes.set_ylabel("bits a byte")
        axes.legend()
