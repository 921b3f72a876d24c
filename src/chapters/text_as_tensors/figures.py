"""Figures of reviews in batches. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import MARKERS, plot, rounded


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


def trained(widths: Sequence[str], right: Mapping[str, Sequence[Tensor]]) -> None:
    """`trained(["by length", "rows of 60"], {"masked": [shares, shares]})` draws a point for each start."""
    words = "; ".join(
        f"{name}: {', '.join(f'{each.mean():.2f}' for each in line)}" for name, line in right.items()
    )
    starts = len(next(iter(right.values()))[0])
    alt = (
        f"The share of verdicts that are right, for {starts} starts each, with reviews in "
        f"{', '.join(widths)}. Means: {words}."
    )
    with plot(alt) as (axes,):
        for i, ((name, line), colour, marker) in enumerate(zip(right.items(), SERIES, MARKERS, strict=False)):
            for width, shares in enumerate(line):
                # Side by side, and the starts of each a little apart.
                places = width + 0.26 * (i - 1) + torch.linspace(-0.08, 0.08, starts)
                axes.plot(
                    rounded(places), rounded(shares), color=COLOURS[colour][0], marker=marker, ls="",
                    markersize=4, label=name if width == 0 else None,
                )  # fmt: skip
        axes.axhline(0.5, color=COLOURS["grey"][0], lw=1, ls=":")
        axes.set_xticks(range(len(widths)), widths)
        axes.set_ylabel("share of verdicts right")
        axes.grid(False, axis="x")
        axes.legend(loc="lower left")


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
