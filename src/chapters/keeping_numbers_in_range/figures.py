"""The figures, described by what is drawn."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, Seeds, curves_of_seeds, plot, rounded


def companions(sizes: Sequence[int], moved: Mapping[str, Seeds]) -> None:
    """`companions([2, 8], {"batch norm": results})` draws how far a sentence moves when its batch changes."""
    curves_of_seeds(
        sizes,
        moved,
        Axis("sentences in the batch", log=2),
        Axis("how far the same sentence moves"),
        what="How far a sentence's numbers move when its companions change, by the kind of norm",
        where="by the size of the batch",
    )


def by_layer(sizes: Mapping[str, Tensor], gradients: Mapping[str, Tensor], *, said: str) -> None:
    """`by_layer({"plain": sizes}, {"plain": gradients}, said="…")` draws both, (layers, seeds) each."""
    alt = (
        "The size of the signal after each of 32 layers, and beside it that of the gradient, on a "
        f"logarithmic scale, a line for each arrangement, mean over five seeds. {said}"
    )
    with plot(alt, size=(7.2, 3.4), panels=2) as panels:
        for axes, title, lines in zip(panels, ("signal", "gradient"), (sizes, gradients), strict=True):
            for (name, each), colour, dash in zip(lines.items(), SERIES, DASHES, strict=False):
                # The logarithm's mean: one large seed should not stand for all.
                middle = each.log().mean(-1).exp()
                axes.plot(
                    rounded(range(len(each))), rounded(middle), color=COLOURS[colour][0], ls=dash, label=name
                )
            axes.set_title(title)
            axes.set_xlabel("layer")
            axes.set_yscale("log")
            axes.set_ylim(1e-4, 1e2)
        axes.figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)


def alike(cosines: Mapping[str, Tensor]) -> None:
    """`alike({"plain": cosines})` draws how alike the tokens have become after each layer."""
    last = ", ".join(f"{name} {each[-1].mean():.2f}" for name, each in cosines.items())
    alt = (
        "The cosine between two tokens of a sentence after each of 32 layers, a line for each arrangement, "
        f"mean over five seeds. It begins at 0. After the last layer: {last}."
    )
    with plot(alt, size=(5.2, 3.4)) as (axes,):
        for (name, each), colour, dash in zip(cosines.items(), SERIES, DASHES, strict=False):
            axes.plot(
                rounded(range(len(each))),
                rounded(each.mean(-1)),
                color=COLOURS[colour][0],
                ls=dash,
                label=name,
            )
        axes.set_xlabel("layer")
        axes.set_ylabel("cosine between tokens")
        axes.figure.legend(loc="outside upper left", ncols=3)


def losses(runs: Mapping[str, Tensor], *, said: str) -> None:
    """`losses({"pre-norm": losses}, said="…")` draws a line for each, in a band of its seeds.

    Losses are (steps, seeds). What is `said` of them ends the description; training moves their digits.
    """
    alt = (
        "The loss against the step, mean over five seeds in a band from the best to the worst, a line for "
        f"each arrangement. {said}"
    )
    with plot(alt, size=(5.2, 3.4)) as (axes,):
        for (name, each), colour, dash, marker in zip(runs.items(), SERIES, DASHES, MARKERS, strict=False):
            # Means of four steps each: single batches jump.
            calm = each[: len(each) // 4 * 4].reshape(-1, 4, each.shape[1]).mean(1)
            steps = torch.arange(len(calm)) * 4 + 2
            colour_of = COLOURS[colour][0]
            best, worst = rounded(calm.amin(-1)), rounded(calm.amax(-1))
            axes.fill_between(steps, best, worst, color=colour_of, alpha=0.15, lw=0)
            axes.plot(
                steps,
                rounded(calm.mean(-1)),
                color=colour_of,
                ls=dash,
                label=name,
                marker=marker,
                markevery=4,
            )
        axes.set_xlabel("step")
        axes.set_ylabel("loss")
        axes.set_ylim(0, 2.6)
        axes.figure.legend(loc="outside upper left", ncols=2)
