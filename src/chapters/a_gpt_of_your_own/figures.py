"""The figures of “A GPT of your own”, described by what is drawn."""

from torch import Tensor

from bookkit.pictures.figures import Axis, curves

# ---- measured once, over several trainings by the chapter's recipes ----

# Bits per byte after a thousand updates at rates of 0.002, 0.004 and 0.008, by the first weights' spread.
SPREADS = {"0.02": (2.26, 2.21, 2.45), "0.06": (2.16, 2.09, 2.12)}


def course(noted: Tensor) -> None:
    """`course(noted)` draws a training as it was noted: its crops' bits a byte, and those of held-out text.

    noted has a row for each note: updates, seconds, bits a byte held out, bits a byte of the crops since the
    note before.
    """
    updates, _, held_out, of_crops = noted.T
    curves(
        updates.tolist(),
        {"its crops": of_crops.tolist(), "held-out text": held_out.tolist()},
        Axis("updates"),
        Axis("bits a byte"),
        alt=(
            f"Bits a byte by updates. The crops fall from {of_crops[0]:.2f} to {of_crops[-1]:.2f}, "
            f"held-out text from {held_out[0]:.2f} to {held_out[-1]:.2f}."
        ),
    )
