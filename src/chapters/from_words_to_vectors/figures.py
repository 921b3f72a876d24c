"""The figures of “From words to vectors”. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.colours import COLOURS
from bookkit.pictures.figures import Axis, curves, curves_of_seeds, plot, rounded


def text_needed(sentences: Sequence[int], found: Mapping[str, Sequence[Tensor]]) -> None:
    """`text_needed([25, 50], {"counts": [shares, shares]})` draws who finds the classes in how much text."""
    curves_of_seeds(
        sentences,
        found,
        Axis("sentences of text", log=2),
        Axis("share of words whose nearest is of their class"),
        what="The share of words whose nearest word is of their own class",
        where=f"for texts of {', '.join(map(str, sentences))} sentences",
    )


def halves(shares: Mapping[str, Tensor], chance: float) -> None:
    """`halves({"the grammar": shares}, chance=0.1)` draws how far two halves of a text agree."""
    words = "; ".join(f"{name} {each.mean():.2f}" for name, each in shares.items())
    alt = (
        "How many of a word's three nearest words, found in one half of a text, are found in the other half, "
        f"too, over {len(next(iter(shares.values())))} ways to halve it: {words}. By chance: {chance:.2f}."
    )
    with plot(alt, size=(5.2, 2.4)) as (axes,):
        for place, each in enumerate(shares.values()):
            axes.barh(place, rounded(each.mean()[None]), color=COLOURS["blue"][0], alpha=0.75, height=0.55)
            axes.plot(rounded(each), [place] * len(each), ls="", marker="o", ms=4, color=COLOURS["ink"][0])
        axes.axvline(chance, color=COLOURS["orange"][0], ls="--")
        axes.set_yticks(range(len(shares)), list(shares))
        axes.invert_yaxis()
        axes.set_xlim(0, 1)
        axes.set_ylabel("agreement of the halves")
        axes.grid(False, axis="y")


def analogies(gendered: Sequence[float], right: Mapping[str, Sequence[float]]) -> None:
    """`analogies([1, 0], {"three words left out": [1, 1]})` draws how many analogies come out right."""
    shares = ", ".join(f"{share:g}" for share in gendered)
    words = "; ".join(f"{name}: {', '.join(f'{y:.2f}' for y in line)}" for name, line in right.items())
    curves(
        gendered,
        right,
        Axis("share of sentences in which gender shows"),
        Axis("analogies answered right"),
        alt="The share of analogies answered right, where gender shows in such shares of the sentences: "
        f"{shares}. {words}.",
    )
