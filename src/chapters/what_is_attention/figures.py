"""Figures of weights and answers. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, plot, rounded


def fits(key: Tensor, value: Tensor, query: Tensor, answers: Mapping[str, Tensor]) -> None:
    """`fits(key, value, query, {"0.2": answer})` draws the stored points, and a panel for each answer."""
    ranges = "; ".join(
        f"{name}: answers from {answer.min():.1f} to {answer.max():.1f}" for name, answer in answers.items()
    )
    alt = (
        f"{key.numel()} noisy points of a wave, and the answer to every query at three bandwidths. "
        f"{ranges}. The narrowest jumps from point to point, the middle one follows the wave, the "
        "widest is almost flat."
    )
    with plot(alt, size=(5.2, 2.0), panels=len(answers)) as panels:
        for axes, (name, answer), colour in zip(panels, answers.items(), SERIES, strict=False):
            grey = COLOURS["grey"][0]
            axes.plot(rounded(key), rounded(value), color=grey, marker="o", ls="", markersize=3)
            axes.plot(rounded(query), rounded(answer), color=COLOURS[colour][0])
            axes.set_title(name)
            axes.set_xticks([0, 2, 4, 6])
            axes.set_xlabel("key, query")
        panels[0].set_ylabel("value, answer")


def crowded_out(crowd: Sequence[int], matching: Tensor) -> None:
    """`crowded_out([10, 1000], shares)` draws what a good match keeps among more and more bad ones."""
    told = ", ".join(f"{share:.2f} with {others:,}" for others, share in zip(crowd, matching, strict=True))
    with plot(
        "The share of the weight that a key at score 10 keeps, against the number of keys at score 0: "
        f"{told}.",
        size=(5.2, 2.4),
    ) as (axes,):
        axes.plot(crowd, rounded(matching), color=COLOURS["blue"][0], marker="o")
        axes.set_xscale("log")
        axes.set_xticks(crowd, [f"{others:,}" for others in crowd])
        axes.set_ylim(0, 1.05)
        axes.set_xlabel("other keys, all at score 0")
        axes.set_ylabel("its share of the weight")


def soft_and_hard(nudge: Tensor, soft: Tensor, hard: Tensor) -> None:
    """`soft_and_hard(nudge, soft, hard)` draws both answers while one score is raised."""
    with plot(
        f"The answer while the score of the key 10 is raised by up to {nudge[-1]:g}. The soft answer glides "
        f"from {soft[0]:.0f} to {soft[-1]:.0f}. The hard one stays at {hard[0]:.0f}, jumps to "
        f"{hard[-1]:.0f} once, and stays there."
    ) as (axes,):
        axes.plot(rounded(nudge), rounded(soft), color=COLOURS["blue"][0], ls=DASHES[0], label="softmax")
        axes.plot(
            rounded(nudge),
            rounded(hard),
            color=COLOURS["orange"][0],
            ls=DASHES[1],
            label="only the best key",
            drawstyle="steps-post",
        )
        axes.set_xlabel("added to the score of the key 10")
        axes.set_ylabel("answer (visitors)")
        axes.legend()


def beyond_the_keys(asked: Tensor, answered: Tensor, stored: Tensor) -> None:
    """`beyond_the_keys(asked, answered, stored)` draws answers beside the line v = 2k that was stored."""
    with plot(
        f"Answers to queries from {asked[0]:g} to {asked[-1]:g}. Between the keys they follow the line that "
        f"was stored; beyond them they stay flat, at {answered[0]:.1f} and {answered[-1]:.1f}.",
        size=(5.2, 2.8),
    ) as (axes,):
        axes.plot(rounded(asked), rounded(2 * asked), color=COLOURS["grey"][0], ls=":", label="the line 2k")
        axes.plot(
            rounded(stored), rounded(2 * stored), color=COLOURS["green"][0], ls="", marker="o", label="stored"
        )
        axes.plot(rounded(asked), rounded(answered), color=COLOURS["purple"][0], label="attention's answer")
        axes.set_xlabel("query, key")
        axes.set_ylabel("answer, value")
        axes.legend(loc="lower right")
