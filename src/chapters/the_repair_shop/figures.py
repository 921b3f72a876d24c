"""The figure of losses, and the table of which test sees which fault, as it was measured."""

from collections.abc import Mapping, Sequence

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, plot, rounded
from chapters.the_repair_shop.cheap import FINDS

SEEDS = 5
TESTS = [*FINDS, "checkup"]
# With how many of five seeds a test of FINDS sees a fault of FAULTS, and in the end `checkup`.
SEEN: dict[str, list[int]] = {
    "targets not shifted": [5, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5],
    "no mask": [0, 0, 5, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5],
    "mask off by one": [0, 0, 5, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5],
    "softmax over the queries": [0, 0, 5, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5],
    "no places": [0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0],
    "filler in the loss": [0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 5],
    "weights ten times too large": [5, 0, 0, 0, 0, 0, 5, 0, 0, 5, 0, 5, 5],
    "no residual stream": [0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 5],
    "a stray detach()": [0, 0, 0, 0, 0, 0, 0, 5, 5, 0, 0, 0, 5],
    "blocks in a list": [0, 5, 5, 0, 0, 5, 5, 0, 5, 0, 0, 5, 5],
    "biases of −5": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0],
    "rate thirty times too high": [0, 0, 0, 0, 0, 0, 5, 0, 5, 0, 0, 0, 0],
    "chances for logits": [0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 5],
    "dropout that never rests": [0, 5, 5, 0, 0, 5, 0, 0, 0, 0, 0, 5, 5],
    "−1e9 in half precision": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 5],
    "scores not divided": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5],
    "another row’s targets": [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
}
# What these see there is gone when dropout rests: any change seems to move a model that differs from itself.
FALSE = {
    ("blocks in a list", "future"),
    ("blocks in a list", "filler"),
    ("dropout that never rests", "future"),
    ("dropout that never rests", "filler"),
    ("dropout that never rests", "half"),
}
# After 200 updates, nats a letter of other text, for seeds 0 to 4.
DIVIDED = (1.506, 1.468, 1.468, 1.494, 1.455)
NOT_DIVIDED = (1.427, 1.450, 1.402, 1.409, 1.409)


def curves(losses: Mapping[str, Sequence[float]], heights: Mapping[str, float]) -> None:
    """`curves({"healthy": losses}, {"ln V": 3.3})` has each training's loss, and heights that are known."""
    told = "; ".join(
        f"{name}: {', '.join(f'{each[place]:.1f}' for place in range(0, len(each), 30))} and in the end "
        f"{each[-1]:.1f}"
        for name, each in losses.items()
    )
    dotted = ", ".join(f"{name} at {height:.2f}" for name, height in heights.items())
    alt = f"Loss by update; dotted, {dotted}. Every thirtieth update, {told}."
    with plot(alt, size=(6.4, 2.8)) as (axes,):
        grey, beside = COLOURS["grey"][0], axes.get_yaxis_transform()  # where no line crosses a name
        for name, height in heights.items():
            axes.axhline(height, color=grey, lw=1.5, ls=":")
            axes.text(1.01, height, name, va="center", color=grey, fontsize=11, transform=beside)
        for (name, each), colour, dash in zip(losses.items(), SERIES, DASHES, strict=False):
            axes.plot(range(len(each)), rounded(each), color=COLOURS[colour][0], ls=dash, label=name)
        axes.set_xlabel("update")
        axes.set_ylabel("loss, nats a letter")
        axes.set_ylim(bottom=0)
        axes.figure.legend(loc="outside upper left", ncols=3, columnspacing=1, handlelength=1.7)
