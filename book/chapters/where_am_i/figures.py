"""Figures of waves and of learning by position. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.figures import Axis, Seeds, curves, curves_of_seeds


def wavelengths(waves: Mapping[str, Tensor]) -> None:
    """`wavelengths({"base 10": waves})` draws how many positions each pair of columns takes for a turn."""
    pairs = len(next(iter(waves.values())))
    words = "; ".join(f"{name}: {wave[0]:.1f} to {wave[-1]:,.0f}" for name, wave in waves.items())
    curves(
        list(range(pairs)),
        waves,
        Axis("pair of columns"),
        Axis("positions in one turn", log=10),
        alt=f"The wavelengths of the {pairs} pairs of columns on a logarithmic scale, a straight line for "
        f"each base. From the first pair to the last, {words}.",
    )


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


def longer(task: str, lengths: Sequence[int], right: Mapping[str, Seeds]) -> None:
    """`longer("copying", [24, 48], {"rotary": results})` draws how much is right in longer sequences."""
    curves_of_seeds(
        lengths,
        right,
        Axis("length of the sequence", log=2),
        Axis("share right"),
        what=f"{task}: the share right",
        where=f"for sequences of {', '.join(map(str, lengths))}",
        legend_above=True,
    )
