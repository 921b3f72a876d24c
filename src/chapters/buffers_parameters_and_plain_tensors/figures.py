"""The figure of a table of positions. Its description takes its numbers from what is drawn."""

from collections.abc import Mapping

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
