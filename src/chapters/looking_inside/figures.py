"""The figures of “Looking inside”, described by what is drawn."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, curves, heat_map, plot, rounded

# ---- measured once, over several trainings by the chapters' recipes ----

# Of four more translators (seeds 1 to 4), of each of eight heads that read across: the share of words for
# which it looks where gold does, and what its removal adds to the loss on 200 sentences.
OTHER_TRANSLATORS = (
    (
        (0.559, 0.075),
        (0.791, 0.003),
        (0.769, 0.006),
        (0.582, 0.045),
        (0.871, 0.023),
        (0.894, 0.024),
        (0.688, 0.016),
        (0.781, 0.043),
    ),
    (
        (0.537, 0.026),
        (0.768, 0.036),
        (0.619, 0.014),
        (0.528, 0.032),
        (0.848, 0.037),
        (0.893, 0.023),
        (0.812, 0.043),
        (0.637, 0.051),
    ),
    (
        (0.588, 0.024),
        (0.665, 0.084),
        (0.69, 0.036),
        (0.437, 0.028),
        (0.796, 0.031),
        (0.662, 0.012),
        (0.743, 0.028),
        (0.859, 0.027),
    ),
    (
        (0.76, 0.007),
        (0.529, 0.037),
        (0.636, 0.059),
        (0.652, 0.018),
        (0.88, 0.021),
        (0.903, 0.012),
        (0.867, 0.016),
        (0.644, 0.06),
    ),
)
# Of five language models (seeds 0 to 4): the chance of “see” behind “the dog near the king” and behind “the
# dogs near the king”, once the one head that does most is exchanged.
ONE_HEAD_EXCHANGED = ((0.995, 0.002), (0.94, 0.004), (0.217, 0.03), (0.121, 0.335), (0.483, 0.011))


def by_place(looked: Tensor) -> None:
    """`by_place(looked)` draws the weight that two heads, (2, T - 1), give to the word before."""
    places = range(1, looked.shape[1] + 1)
    curves(
        places,
        {"head 1": looked[0], "head 2": looked[1]},
        Axis("place in the sequence"),
        Axis("weight on the place before"),
        alt="The weight on the place just before, by place in the sequence, for the two heads of layer 1. "
        f"Head 1: {looked[0, :22].min():.2f} and more up to place 22, {looked[0, 24:].max():.2f} and less "
        f"from 25 on. Head 2: {looked[1, :12].mean():.2f} on average up to place 12, then next to nothing.",
    )


def training(steps: Sequence[int] | Tensor, measured: Mapping[str, Tensor]) -> None:
    """`training(steps, {"loss": losses})` has a thin line for each seed of each series, (seeds, steps)."""
    told = "; ".join(
        f"{name}: from {each[:, 0].mean():.2f} to {each[:, -1].mean():.2f}" for name, each in measured.items()
    )
    alt = (
        "Ten trainings, each a thin line, against the update. Losses on repeated letters are shares of a "
        f"guess's. {told}. With two layers each loss falls, and both its scores rise, within a few dozen "
        "updates, at a time of its own between update 150 and 300."
    )
    with plot(alt, size=(7.2, 2.9), panels=2) as panels:
        for place, (name, each) in enumerate(measured.items()):
            axes = panels[place // 2]
            for seed, line in enumerate(each):
                axes.plot(
                    rounded(torch.as_tensor(steps)),
                    rounded(line),
                    color=COLOURS[SERIES[place]][0],
                    ls=DASHES[place % 2],
                    lw=1,
                    label=name.split(", ")[-1] if seed == 0 else None,
                )
            axes.set_xlabel("update")
            axes.legend(loc=("center right", "lower right")[place // 2], fontsize=11)
        panels[0].set_title("loss, as share of a guess's")
        panels[1].set_title("scores, two layers")


NAMES = {"zeroed": "zero", "averaged": "mean", "exchanged": "exchange"}


def removed(whole: float, losses: Mapping[tuple[int, int, str], float]) -> None:
    """`removed(0.25, {(1, 1, "zeroed"): 4.2})` draws the loss once a head of a layer is changed, as bars."""
    heads = sorted({key[:2] for key in losses})
    told = "; ".join(
        f"layer {layer}, head {head}: "
        + ", ".join(f"{name} {losses[layer, head, change]:.2f}" for change, name in NAMES.items())
        for layer, head in heads
    )
    alt = f"The loss on repeated letters once a head is changed; {whole:.2f} as it is. {told}."
    with plot(alt, size=(6.4, 2.9)) as (axes,):
        for number, ((change, name), colour) in enumerate(zip(NAMES.items(), SERIES, strict=False)):
            heights = [losses[*head, change] for head in heads]
            places = [place + 0.26 * (number - 1) for place in range(len(heads))]
            axes.bar(places, rounded(heights), 0.24, color=COLOURS[colour][0], alpha=0.8, label=name)
        axes.axhline(rounded([whole])[0], color=COLOURS["ink"][0], lw=1.5, label="as it is")
        axes.axhline(4.16, color=COLOURS["grey"][0], lw=1.5, ls=":")
        axes.text(3.45, 4.2, "a guess", ha="right", va="bottom", color=COLOURS["grey"][0])
        axes.set_xticks(range(len(heads)), [f"layer {layer}\nhead {head}" for layer, head in heads])
        axes.set_ylabel("loss on repeated letters")
        axes.figure.legend(loc="outside upper left", ncols=4)


def exchanged(shares: Mapping[str, Sequence[float]]) -> None:
    """`exchanged({"none": [0, 1], "1.1": [0, 1]})` has the chance of “see” behind “the dog …”, “the dogs …”.

    A column for each exchange, of the head of that layer and number.
    """
    told = ", ".join(f"{name}: {dog:.2f} and {dogs:.2f}" for name, (dog, dogs) in shares.items())
    heat_map(
        torch.tensor([*shares.values()]).T,
        rows=["the dog …", "the dogs …"],
        columns=[*shares],
        axes=("chance of “see” behind", "exchanged: layer.head"),
        alt="The chance of “see” behind “the dog near the king” and behind “the dogs near the king”, by the "
        f"head that is exchanged. {told}.",
    )


def read_off(shares: Mapping[tuple[str, str, int], float]) -> None:
    """`read_off({("one or several", "trained", 0): 0.57})` has a panel for each question, a line a model."""
    questions = [*dict.fromkeys(question for question, _, _ in shares)]
    names = [*dict.fromkeys(name for _, name, _ in shares)]
    lines = {
        (question, name): [shares[question, name, layer] for layer in range(3)]
        for question in questions
        for name in names
    }
    told = "; ".join(
        f"{question}, {name}: {', '.join(f'{share:.2f}' for share in line)}"
        for (question, name), line in lines.items()
    )
    alt = f"The share that a probe reads off before the layers, after layer 1 and after layer 2. {told}."
    with plot(alt, size=(7.2, 2.7), panels=len(questions)) as panels:
        for axes, question in zip(panels, questions, strict=True):
            for name, colour, marker, dash in zip(names, SERIES, MARKERS, DASHES, strict=False):
                line = rounded(lines[question, name])
                axes.plot(range(3), line, color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
            axes.set_xticks(range(3), ["before", "1", "2"])
            axes.set_xlabel("after layer")
            axes.set_title(question, loc="left")
        panels[0].set_ylim(0.5, 1.03)
        panels[0].set_ylabel("share read off")
        panels[-1].legend(loc="lower right")


def looks_and_cost(
    ours: Mapping[str, Sequence[tuple[float, float]]], others: Sequence[Sequence[tuple[float, float]]]
) -> None:
    """`looks_and_cost({"layer 1": [(0.7, 0.05)]}, others)` sets each head's looks against what it is for.

    Each point is a head: the share of words for which it looks where gold does, and what its loss costs.
    """
    told = "; ".join(
        f"{name}: " + ", ".join(f"{looks:.2f} and {cost:.3f}" for looks, cost in points)
        for name, points in ours.items()
    )
    alt = (
        "Heads that read across: the share of words for which each looks where gold does, and by how much "
        f"the loss rises without it. {told}. Pale dots are the heads of four "
        "other trainings. No slope can be seen."
    )
    with plot(alt, size=(5.2, 3.0)) as (axes,):
        for points in others:
            x, y = rounded(torch.tensor(points).T)
            axes.plot(x, y, "o", color=COLOURS["grey"][0], alpha=0.35, ms=5)
        for (name, points), colour, marker in zip(ours.items(), SERIES, "os", strict=False):
            x, y = rounded(torch.tensor(points).T)
            axes.plot(x, y, marker, color=COLOURS[colour][0], ms=9, label=name)
        axes.set_xlabel("share of words at which it looks where gold does")
        axes.set_ylabel("loss that its removal adds")
        axes.figure.legend(loc="outside upper left", ncols=2)
