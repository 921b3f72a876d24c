"""The figures of “Translating with attention”, described by what is drawn."""

from collections.abc import Mapping, Sequence

from matplotlib.patches import Rectangle
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, plot, rounded


def losses(histories: Mapping[str, Sequence[float]]) -> None:
    """`losses({"dot": [2.1, 0.9]})` draws each translator's loss over the epochs, on a logarithmic scale."""
    told = "; ".join(f"{name}: {line[0]:.2f} to {line[-1]:.3f}" for name, line in histories.items())
    with plot(f"Training losses over the epochs. {told}.", size=(5.2, 2.4)) as (axes,):
        for (name, line), colour, marker, dash in zip(
            histories.items(), SERIES, MARKERS, DASHES, strict=False
        ):
            epochs = range(1, len(line) + 1)
            axes.plot(epochs, rounded(line), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        axes.set_yscale("log")
        axes.set_xlabel("epoch")
        axes.set_ylabel("loss")
        axes.figure.legend(loc="outside upper left", ncols=3)


def by_length(lengths: Sequence[str], shares: Mapping[str, Tensor]) -> None:
    """`by_length(["3-6", "7-9"], {"dot": shares})` draws exact matches against the length of the source."""
    told = "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in line.tolist())}" for name, line in shares.items()
    )
    alt = (
        f"The share of sentences translated exactly right, by words of English: {', '.join(lengths)}. {told}."
    )
    with plot(alt, size=(5.2, 2.7)) as (axes,):
        places = range(len(lengths))
        for (name, line), colour, marker, dash in zip(shares.items(), SERIES, MARKERS, DASHES, strict=False):
            axes.plot(places, rounded(line), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        axes.set_xticks(places, list(lengths))
        axes.set_xlabel("words of English")
        axes.set_ylabel("share exactly right")
        axes.set_ylim(-0.03, 1.03)
        axes.figure.legend(loc="outside upper left", ncols=3)


def heat_maps(
    weights: Mapping[str, Tensor], gold: Tensor, english: Sequence[str], lingo: Sequence[str]
) -> None:
    """`heat_maps({"dot": weights}, gold, english, lingo)` shades the weights, and frames gold's links."""
    told = ". ".join(
        f"{name}: "
        + ", ".join(f"{word} at {english[int(row.argmax())]}" for word, row in zip(lingo, each, strict=True))
        for name, each in weights.items()
    )
    alt = f"Heat maps of the weights, a row for each written word; frames are gold. Most weight, {told}."
    with plot(alt, size=(6.4, 3.1), panels=len(weights), grid=False) as panels:
        for axes, (name, each) in zip(panels, weights.items(), strict=True):
            for j, row in enumerate(rounded(each)):
                for i, weight in enumerate(row):
                    axes.add_patch(
                        Rectangle((i, j), 1, 1, color=COLOURS["blue"][0], alpha=round(float(weight), 2), lw=0)
                    )
                    if gold[j, i] > 0:
                        frame = Rectangle((i + 0.06, j + 0.06), 0.88, 0.88, fill=False, lw=1.5)
                        frame.set_edgecolor(COLOURS["orange"][0])
                        axes.add_patch(frame)
            axes.set_xlim(0, len(english))
            axes.set_ylim(len(lingo), 0)
            axes.set_xticks([i + 0.5 for i in range(len(english))], english, rotation=60)
            axes.set_yticks([j + 0.5 for j in range(len(lingo))], lingo)
            axes.tick_params(length=0)
            axes.set_title(name)
