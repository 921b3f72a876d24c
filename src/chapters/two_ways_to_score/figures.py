"""Figures of scores beside each other. Their descriptions take their numbers from what is drawn."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from attnlab import scores
from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import MARKERS, Axis, curves, plot, rounded


def winners_found(found: Tensor, wishes: Sequence[str], names: Sequence[str]) -> None:
    """`winners_found(found, ["nearest"], ["dot"])` marks the share of winners found: (wishes, scores)."""
    # As drawn: some are 0.165 or the like, which the last digit of a mean would round up or down.
    shares = rounded(found)
    rows = "; ".join(
        f"{wish}: {', '.join(f'{name} {share:.2f}' for name, share in zip(names, row, strict=True))}"
        for wish, row in zip(wishes, shares, strict=True)
    )
    alt = f"The share of queries for which each score puts the right one of eight keys first. {rows}."
    with plot(alt, size=(5.2, 3.7)) as (axes,):
        axes.axvline(1 / 8, color=COLOURS["grey"][0], ls=":", label="guessing")
        places = range(len(wishes), 0, -1)  # the first wish on top
        for number, (name, colour, marker) in enumerate(zip(names, SERIES, MARKERS, strict=False)):
            # One below the other, so that equal shares stay apart. Clipping would halve a marker at 1.
            heights = [place + 0.24 - 0.16 * number for place in places]
            axes.plot(
                shares[:, number], heights, ls="", marker=marker, color=COLOURS[colour][0], label=name,
                clip_on=False,
            )  # fmt: skip
        axes.set_yticks(places, list(wishes))
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of winners found")
        axes.tick_params(axis="y", length=0)
        axes.figure.legend(loc="outside upper left", ncols=2)


def learning(losses: Sequence[float]) -> None:
    """`learning([2.1, 1.9, …])` draws the loss over the steps, and what guessing costs."""
    with plot(
        f"The loss over {len(losses)} steps. It begins near that of guessing, falls steeply at first, and "
        "then more and more slowly.",
        size=(5.2, 2.4),
    ) as (axes,):
        axes.axhline(math.log(8), color=COLOURS["grey"][0], ls=":", label="guessing among eight: log 8")
        axes.plot(range(1, len(losses) + 1), rounded(losses), color=COLOURS["blue"][0], label="trained")
        axes.set_xlabel("steps")
        axes.set_ylabel("loss")
        axes.set_ylim(bottom=0)
        axes.legend()


def along_a_ray(imitation: nn.Module, longest: float, edge: float) -> None:
    """`along_a_ray(score, longest=8, edge=2)` draws what a key scores that is pulled outwards.

    The dot product is drawn on the scale that the imitation has learned at the edge of its training.
    """
    device = next(imitation.parameters()).device
    lengths = torch.linspace(0, longest, 17, dtype=torch.float64, device=device)
    query = torch.tensor([[1.2, 0.9]], dtype=torch.float64, device=device)
    key = lengths.unsqueeze(-1) * torch.tensor([0.8, 0.6], dtype=torch.float64, device=device)
    with torch.no_grad():
        additive = imitation(query.unsqueeze(0), key.unsqueeze(0)).squeeze(0).cpu()
    additive = additive - additive[0]  # from 0 on: only differences count
    dot, lengths = scores.dot(query, key).squeeze(0).cpu(), lengths.cpu()
    at_edge = lengths.tolist().index(edge)
    dot = dot * additive[at_edge] / dot[at_edge]
    inside = lengths <= edge
    curves(
        lengths,
        {"dot product": dot, "additive, trained to be like it": additive},
        Axis("length of the key"),
        Axis("score"),
        alt="The score of one query with a key that grows longer. The dot product is a straight line, up to "
        f"{dot[-1]:.1f} at length {lengths[-1]:g}. The additive score trained to be like it keeps within "
        f"{(additive - dot)[inside].abs().max():.2f} of the line up to length {edge:g}, then bends, "
        f"and ends at {additive[-1]:.1f}.",
    )


def largest_tensors(lengths: Sequence[int], largest: Mapping[str, Sequence[int]]) -> None:
    """`largest_tensors([64, 128], {"dot": [4096, 16384]})` draws the largest tensor against the length."""
    last = ", ".join(f"{name} {numbers[-1]:,}" for name, numbers in largest.items())
    curves(
        lengths,
        largest,
        Axis("queries, and as many keys", log=2),
        Axis("numbers in the largest tensor", log=10),
        alt="The numbers in the largest tensor that each score makes, for "
        f"{lengths[0]} to {lengths[-1]} queries and as many keys. At {lengths[-1]}: {last}.",
    )
