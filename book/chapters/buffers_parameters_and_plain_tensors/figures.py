"""Figures of a table of positions. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.figures import Axis, curves


def row_lengths(rows: Mapping[str, Tensor], read: int) -> None:
    """`row_lengths({"before": lengths, "AdamW": others}, read=20)` draws how long each row of a table is.

    Only every third row is drawn, so that the markers stay apart.
    """
    shown = {name: values[::3] for name, values in rows.items()}
    unread = {name: values[read:] for name, values in rows.items()}
    words = ", ".join(f"{name} {values.mean():.2f}" for name, values in unread.items())
    curves(
        range(0, len(next(iter(rows.values()))), 3),
        shown,
        Axis("position"),
        Axis("length of the row"),
        alt=f"The length of each row of the table, before and after training. The first {read} rows, which "
        "are read, have shrunk under both optimizers. Of the others, which are never read, the lengths are: "
        f"{words}.",
    )


def rounding(places: Sequence[int], computed: Tensor, finished: Tensor) -> None:
    """`rounding([1, 4], computed, finished)` draws a table's largest error at some positions."""
    curves(
        places,
        {"computed in bfloat16": computed, "finished, then rounded": finished},
        Axis("position", log=2),
        Axis("largest error in the row", log=10),
        alt=f"The largest error in a row of the table, for positions from {places[0]} to {places[-1]}. "
        f"Rounded when finished, it stays below {finished.max():.4f}. Computed in bfloat16, it grows with "
        f"the position from {computed[0]:.4f} to {computed.max():.1f}.",
    )
