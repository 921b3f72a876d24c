"""Figures of training, by batch and by epoch. Their descriptions take their numbers from what is drawn."""

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, curves, plot, rounded


def gradient_noise(batch_sizes: Sequence[int], measured: Mapping[str, Tensor], predicted: Tensor) -> None:
    """`gradient_noise([1, 4], {"with replacement": noise}, predicted)` draws the noise of gradients."""
    ends = "; ".join(f"{name}: from {noise[0]:.2f} to {noise[-1]:.3f}" for name, noise in measured.items())
    curves(
        batch_sizes,
        {**measured, "σ/√B": predicted},
        Axis("batch size $B$", log=4),
        Axis("distance from the full gradient", log=10),
        alt="The typical distance of a batch's gradient from the gradient of all examples, for batches of "
        f"{batch_sizes[0]} to {batch_sizes[-1]} examples. {ends}. Drawn with replacement, it follows "
        "one over the root of the batch size all the way; without, it falls below that line as the batch "
        "comes near the whole data set.",
    )


def by_epochs_and_by_updates(losses: Mapping[int, Sequence[float]], examples: int) -> None:
    """`by_epochs_and_by_updates({500: [0.7, 0.6]}, 2000)` draws validation losses over both clocks."""
    words = "; ".join(
        f"batch {size}: {line[0]:.2f} after 1 epoch, {line[-1]:.2f} after {len(line)}"
        for size, line in losses.items()
    )
    alt = (
        "The validation loss of four batch sizes, drawn twice. Over epochs the four curves lie far "
        f"apart, the smaller batches lower. Over weight updates they nearly coincide. {words}."
    )
    with plot(alt, panels=2, share_x=False) as (left, right):
        for (size, line), colour, marker, dash in zip(losses.items(), SERIES, MARKERS, DASHES, strict=False):
            updates_in_an_epoch = -(-examples // size)
            for axes, step in ((left, 1), (right, updates_in_an_epoch)):
                axes.plot(
                    range(step, step * len(line) + 1, step), rounded(line), label=f"batch {size}",
                    color=COLOURS[colour][0], marker=marker, ls=dash, markersize=4,
                )  # fmt: skip
        for axes, ticks, label in ((left, (1, 3, 10, 30), "epochs"), (right, (1, 10, 100, 500), "updates")):
            axes.set_xscale("log")
            axes.set_xticks(ticks, [str(tick) for tick in ticks])
            axes.minorticks_off()
            axes.set_xlabel(label)
        left.set_ylabel("validation loss")
        right.legend(fontsize=9)


def schedules(steps: int, warm_up: int) -> None:
    """`schedules(steps=120, warm_up=12)` draws the share of its rate that each step takes, by three ways."""
    step = torch.arange(steps)
    rise = ((step + 1) / warm_up).clamp(max=1)
    shares = {
        "constant": torch.ones(steps),
        "down a line": rise * (1 - step / steps),
        "down half a cosine": rise * (1 + (math.pi * step / steps).cos()) / 2,
    }
    alt = (
        f"The share of the learning rate at each step: {', '.join(shares)}. Those that go down rise over "
        "the first tenth of the steps, and end next to 0."
    )
    with plot(alt) as (axes,):
        for (name, each), colour, dash in zip(shares.items(), SERIES, DASHES, strict=False):
            axes.plot(range(1, len(each) + 1), rounded(each), color=COLOURS[colour][0], ls=dash, label=name)
        axes.set_xlabel("step")
        axes.set_ylabel("share of the rate")
        axes.legend()


def sweep(rates: Sequence[float], losses: Mapping[str, Sequence[float]], *, said: str) -> None:
    """`sweep([0.1, 0.3], {"stays": [0.5, 0.6]}, said="…")` draws the validation loss at each rate.

    What is `said` of them ends the description; training moves their digits.
    """
    curves(
        rates,
        {f"the rate {name}": each for name, each in losses.items()},
        Axis("learning rate", log=10),
        Axis("validation loss", log=2),
        alt=f"The validation loss at rates of {', '.join(f'{rate:g}' for rate in rates)}. {said}",
    )


def under_and_over(training: Sequence[float], validation: Sequence[float], patience: int) -> None:
    """`under_and_over([0.7, 0.2], [0.7, 0.5], 20)` draws both losses by epoch, the best epoch and the stop.

    The stop is drawn where that many epochs have passed since the best one.
    """
    best, epochs = validation.index(min(validation)) + 1, len(validation)
    stop = best + patience
    alt = (
        f"Training and validation loss over {epochs} epochs. The training loss falls all the way, from "
        f"{training[0]:.2f} to {training[-1]:.2f}. The validation loss falls from {validation[0]:.2f} to "
        f"its lowest, {validation[best - 1]:.2f}, at epoch {best}, and then rises to "
        f"{validation[-1]:.2f}. With a patience of {patience}, training stops at epoch {stop}."
    )
    with plot(alt) as (axes,):
        ticks = range(1, epochs + 1)
        axes.plot(ticks, rounded(training), color=COLOURS["blue"][0], label="training")
        axes.plot(ticks, rounded(validation), color=COLOURS["orange"][0], ls="--", label="validation")
        axes.axvline(best, color=COLOURS["ink"][0], lw=1, label=f"best: epoch {best}")
        axes.axvline(stop, color=COLOURS["grey"][0], lw=1, ls=":", label=f"stopped: epoch {stop}")
        axes.set_xlabel("epoch")
        axes.set_ylabel("loss")
        axes.set_ylim(0, None)
        axes.legend(loc="lower right", ncols=2, fontsize=9)


def best_epochs(best: Sequence[int], epochs: int) -> None:
    """`best_epochs([39, 33, 58], 100)` has a dot for each run, at its best epoch."""
    middle = sorted(best)[len(best) // 2]
    alt = (
        f"The best epoch of each of {len(best)} runs, as dots on a line from 0 to {epochs}. They lie "
        f"between epoch {min(best)} and epoch {max(best)}, the middle ones near {middle}."
    )
    with plot(alt, size=(5.2, 1.9)) as (axes,):
        # Runs with the same best epoch stand above each other.
        height = [best[:place].count(epoch) for place, epoch in enumerate(best)]
        axes.plot(best, height, color=COLOURS["orange"][0], marker="o", ls="")
        axes.set_xlim(0, epochs)
        axes.set_ylim(-0.7, max(height) + 0.7)
        axes.set_yticks([])
        axes.set_xlabel("best epoch")
