"""The figures, described by what is drawn."""

from collections.abc import Mapping, Sequence

from bookkit.pictures.figures import Axis, Seeds, curves_of_seeds


def learned(heads: Sequence[int], results: Mapping[str, Seeds]) -> None:
    """`learned([1, 2], {"two neighbours": results})` draws how much is right against the number of heads."""
    curves_of_seeds(
        heads,
        results,
        Axis("heads", log=2),
        Axis("share of the names that is right"),
        what="The share of the neighbours' names that is right",
        where=f"with {', '.join(map(str, heads))} heads",
    )
