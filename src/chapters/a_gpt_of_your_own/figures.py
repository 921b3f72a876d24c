"""The figures of “A GPT of your own”, described by what is drawn."""

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import plot, rounded

# ---- measured once, over several trainings by the chapter's recipes ----

# Bits per byte after a thousand updates at rates of 0.002, 0.004 and 0.008, by the first weights' spread.
SPREADS = {"0.02": (2.26, 2.21, 2.45), "0.06": (2.16, 2.09, 2.12)}


def course(noted: Tensor, counted: float) -> None:
    """`course(noted, 1.68)` draws a training's bits a byte, of crops and held-out text, and a 5-gram's.

    noted has a row for each note: updates, seconds, bits a byte held out, bits a byte of the crops since the
    note before.
    """
    updates, _, held_out, of_crops = (rounded(each) for each in noted.T)
    alt = (
        f"Bits a byte by updates. The crops fall from {of_crops[0]:.2f} to {of_crops[-1]:.2f}, held-out text "
        f"from {held_out[0]:.2f} to {held_out[-1]:.2f}. A dotted line is at {counted:.2f}: the 5-gram."
    )
    with plot(alt) as (axes,):
        for colour, name, bits, marker, dash in (
            (SERIES[0], "its crops", of_crops, "o", "-"),
            (SERIES[1], "held-out text", held_out, "s", "--"),
        ):
            axes.plot(updates, bits, color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        axes.axhline(round(counted, 3), color=COLOURS["ink"][0], ls=":", label="5-gram, held-out text")
        axes.set_xlabel("updates")
        axes.set_ylabel("bits a byte")
        axes.legend()
