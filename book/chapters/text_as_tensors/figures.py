"""Figures of reviews in batches. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from torch import Tensor

from bookkit.colours import COLOURS, SERIES
from bookkit.figures import Axis, curves, plot, rounded


def unknown(min_freq: Sequence[int], shares: Mapping[str, Sequence[float]]) -> None:
    """`unknown([1, 2], {"training": [0.0, 0.2]})` draws the share of unknown tokens against min_freq."""
    words = _listed(shares)
    curves(
        min_freq,
        shares,
        Axis("min_freq", log=2),
        Axis("share of unknown tokens"),
        alt=f"The share of tokens that are unknown, at min_freq {', '.join(map(str, min_freq))}. {words}.",
    )


def batches(epochs: Mapping[str, Sequence[Sequence[int]]]) -> None:
    """`batches({"random": [[5, 2], [4, 3]]})` draws each review as a bar, in its batch's rectangle."""
    padding = {
        name: 1 - sum(map(sum, lengths)) / sum(max(batch) * len(batch) for batch in lengths)
        for name, lengths in epochs.items()
    }
    words = "; ".join(f"{name}, {100 * share:.0f} % is padding" for name, share in padding.items())
    alt = f"Each review is a bar, filled up with padding to the longest of its batch. {words}."
    with plot(alt, size=(5.2, 3.4), panels=len(epochs)) as panels:
        for axes, (name, lengths) in zip(panels, epochs.items(), strict=True):
            _rectangles(axes, lengths)
            axes.set_title(f"{name}: {100 * padding[name]:.0f} % padding")
            axes.set_xlabel("tokens")
            axes.set_yticks([])
            axes.grid(False)
        panels[0].invert_yaxis()
        panels[0].set_ylabel("reviews, batch by batch")


def _rectangles(axes: Axes, lengths: Sequence[Sequence[int]]) -> None:
    """Batch below batch, each review's tokens and what pads them, with an empty row in between."""
    row = 0
    for batch in lengths:
        rows = range(row, row + len(batch))
        axes.barh(rows, list(batch), height=1, color=COLOURS["blue"][0])
        left = [max(batch) - length for length in batch]
        axes.barh(rows, left, left=list(batch), height=1, color=COLOURS["faint"][0])
        row += len(batch) + 1


def weight_on_padding(padding: Tensor, weight: Tensor) -> None:
    """`weight_on_padding(padding, weight)` draws each review's weight on padding; both are (reviews,)."""
    gap = (weight - padding).abs().max()
    alt = (
        "The share of the attention on padding, against the share of the row that is padding: a point "
        f"for each of {len(padding)} reviews. The points lie within {gap:.2f} of the diagonal."
    )
    with plot(alt) as (axes,):
        axes.plot([0, 1], [0, 1], color=COLOURS["orange"][0], ls="--", label="equal shares")
        axes.plot(
            rounded(padding), rounded(weight), color=COLOURS["blue"][0], ls="", marker="o", label="a review"
        )
        axes.set_xlabel("share of the row that is padding")
        axes.set_ylabel("share of the weight on it")
        axes.legend()


def opinions(shares: Mapping[str, Sequence[float]]) -> None:
    """`opinions({"short": [0.1, 0.1, 0.2, 0.2, 0.4]})` draws where in a review its words of opinion stand."""
    alt = f"The share of the words of opinion that stands in each fifth of a review. {_listed(shares)}."
    width = 0.8 / len(shares)
    with plot(alt, size=(5.2, 2.6)) as (axes,):
        for i, (name, colour) in enumerate(zip(shares, SERIES, strict=False)):
            left = [fifth + i * width for fifth in range(1, 6)]
            heights = [round(share, 3) for share in shares[name]]
            # Pale and full as well as two hues: colour is never the only difference.
            axes.bar(left, heights, width * 0.9, color=COLOURS[colour][0], alpha=0.5 + 0.5 * i, label=name)
        axes.set_xticks(
            [fifth + 0.4 - width / 2 for fifth in range(1, 6)], ["first", "2nd", "3rd", "4th", "last"]
        )
        axes.set_xlabel("fifth of the review")
        axes.set_ylabel("share of its\nwords of opinion")
        axes.grid(False, axis="x")
        axes.legend()


def _listed(shares: Mapping[str, Sequence[float]]) -> str:
    return "; ".join(
        f"{name}: {', '.join(f'{share:.2f}' for share in each)}" for name, each in shares.items()
    )
