"""The figure of training with masks that leak, described by what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, plot, rounded


def losses(steps: Sequence[int], runs: Mapping[str, Tensor], limit: float, *, said: str) -> None:
    """`losses([0, 10], {"right": results}, 0.56, said="…")` draws a line for each, and the language's limit.

    The results are (steps, seeds). What is `said` of them ends the description; training moves their digits.
    """
    alt = (
        "The loss against the steps of training, the mean over six starts in a band from the lowest to the "
        f"highest, on a logarithmic scale, with the limit of the language as a dotted line. {said}"
    )
    with plot(alt, size=(6.4, 3.3)) as (axes,):
        for (name, seeds), colour, dash in zip(runs.items(), SERIES, DASHES, strict=False):
            axes.fill_between(
                steps,
                rounded(seeds.amin(-1)),
                rounded(seeds.amax(-1)),
                color=COLOURS[colour][0],
                alpha=0.15,
                lw=0,
            )
            axes.plot(steps, rounded(seeds.mean(-1)), color=COLOURS[colour][0], ls=dash, label=name)
        axes.axhline(limit, color=COLOURS["ink"][0], lw=1.5, ls=":")
        axes.text(steps[-1], limit * 1.08, "the limit", ha="right", va="bottom")
        axes.set_yscale("log")
        axes.set_yticks([0.01, 0.1, 1], ["0.01", "0.1", "1"])
        axes.minorticks_off()
        axes.set_xlabel("step of training")
        axes.set_ylabel("loss (nats a word)")
        axes.figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=3)
