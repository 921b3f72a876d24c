"""Drawings of data in batches and epochs, of gradients added up, and of workers that share an epoch."""

from collections.abc import Sequence

from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    faded,
    grid,
    joined,
    note,
    operator,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import SMALL, Place, rectangle


def epochs_in_rows(examples: int, batch_size: int, epochs: int) -> None:
    """`epochs_in_rows(2000, 500, epochs=3)` has a row for each epoch, cut in batches, numbered by updates."""
    batches = examples // batch_size
    names = [[f"update {epoch * batches + batch + 1}" for batch in range(batches)] for epoch in range(epochs)]

    def arrange(narrow: bool) -> Part:
        if narrow:
            names_in_short = [[name.removeprefix("update ") for name in line] for line in names]
            lines = grid(names_in_short, rows=[f"epoch {i + 1}" for i in range(epochs)], cell=(58, 34))
            above = note(f"{examples} examples, in batches of {batch_size}")
            return column(above, lines, note("The numbers count the updates."))
        lines = grid(
            names,
            rows=[f"epoch {i + 1}" for i in range(epochs)],
            columns=[f"{batch_size} examples"] * batches,
            colour="query",
            cell=(130, 36),
        )
        said = note(
            f"One row is one epoch: all {examples} examples, read once. One box is one batch, one "
            "iteration, one update.",
            width=600,
        )
        return column(lines, said, gap=10)

    draw(
        arrange,
        alt=f"{epochs} rows, one for each epoch, of {batches} boxes each, batches of {batch_size} "
        f"examples. The boxes are numbered through from update 1 to update {epochs * batches}.",
    )


def left_over(batches: Sequence[int]) -> None:
    """`left_over([500, 500, 1])` is an epoch whose last batch is short, kept and dropped."""

    def arrange(narrow: bool) -> Part:
        cell = (46 if narrow else 96, 32)
        full, last = [str(size) for size in batches[:-1]], str(batches[-1])
        small = (24, 32)
        kept = row(grid([full], colour="query", cell=cell), grid([[last]], colour="key", cell=small), gap=0)
        dropped = row(grid([full], colour="query", cell=cell), grid([[""]], cell=small, absent=""), gap=0)
        updates = len(batches)
        return column(
            across(narrow, kept, note(f"{updates} updates"), gap=14 if not narrow else 4),
            across(
                narrow,
                dropped,
                note(f"{updates - 1} updates, if the last is dropped"),
                gap=14 if not narrow else 4,
            ),
            gap=14,
            align="left",
        )

    draw(
        arrange,
        alt=f"Batches of {', '.join(map(str, batches))} examples are {len(batches)} updates. With drop_last "
        f"the short last batch is left out, and {len(batches) - 1} remain.",
    )


def accumulation(examples: int, pieces: Sequence[int], told: bool = True) -> None:
    """`accumulation(500, [166, 166, 166, 2])` is a large batch in pieces, whose gradients add up to one.

    Without `told` the shares are left to the reader.
    """

    def arrange(narrow: bool) -> Part:
        parts = [
            box(text(_counted(size, "example"), size=SMALL), name=f"piece {place}", colour="query")
            for place, size in enumerate(pieces)
        ]
        shares = [
            box(
                text(f"gradient × {f'{size}/{examples}' if told else '?'}", size=SMALL),
                name=f"share {place}",
                colour="key",
            )
            for place, size in enumerate(pieces)
        ]
        add = operator("+", name="add")
        update = box("one update", name="update", colour="output", learned=True)
        arrows = [
            *(Arrow(f"piece {place}", f"share {place}") for place in range(len(pieces))),
            *(
                Arrow(f"share {place}", "add", sides=("right", "left"))
                for place in range(len(pieces))
                if not narrow
            ),
            Arrow("add", "update"),
        ]
        if narrow:
            lines = column(*(row(*both, gap=30) for both in zip(parts, shares, strict=True)), gap=6)
            below = column(lines, add, update, gap=22)
            return joined(below, *arrows)
        lines = row(column(*parts, gap=6), column(*shares, gap=6), gap=40)
        return joined(row(lines, add, update, gap=50), *arrows)

    sizes = ", ".join(map(str, pieces))
    counts = "counts by its share" if told else "counts by a share that you have to find"
    draw(
        arrange,
        alt=f"A batch of {examples} examples in pieces of {sizes}. The gradient of each {counts}; they are "
        "added up, and make one update.",
    )


def two_clocks(batch_sizes: Sequence[int], examples: int, updates: int) -> None:
    """`two_clocks([20, 500], 2000, 100)` says how much each batch size reads for so many updates."""
    epochs = [updates * size / examples for size in batch_sizes]

    def arrange(narrow: bool) -> Part:
        room = 140 if narrow else 440
        lines = []
        for size, read in zip(batch_sizes, epochs, strict=True):
            wide = max(3.0, room * read / max(epochs))
            bar = over(wide, 20, rectangle(Place(0, 0, wide, 20), "key", fill="key", opacity=0.3))
            name = text(f"batch {size}", size=SMALL)
            start = over(
                80, name.height, (name, 80 - name.width, 0)
            )  # so that the bars begin below each other
            lines.append(row(start, bar, note(_counted(read, "epoch")), gap=8))
        return column(note(f"what {updates} updates read"), *lines, gap=6, align="left")

    pairs = zip(batch_sizes, epochs, strict=True)
    words = "; ".join(f"batches of {size}, {read:g}" for size, read in pairs)
    draw(arrange, alt=f"How many epochs {updates} updates take: {words}.")


def patience(losses: Sequence[float], patience: int) -> None:
    """`patience([0.5, 0.7, 0.6], 2)` is early stopping: the best so far, the waiting, what was never run."""
    run = next(
        (epoch for epoch in range(1, len(losses) + 1) if epoch - _best(losses[:epoch]) == patience),
        len(losses),
    )
    best = _best(losses[:run])

    def arrange(narrow: bool) -> Part:
        cells = []
        for epoch, loss in enumerate(losses, 1):
            colour = "output" if epoch == best else "key" if best < epoch <= run else "grey"
            cell = grid([[f"{loss:g}"]], columns=[str(epoch)], colour=colour, cell=(46 if narrow else 70, 30))
            cells.append(cell if epoch <= run else faded(cell))
        said = f"Epoch {best} is the best. After {patience} without a new best, training stops."
        return column(row(*cells, gap=4), note(said, width=310 if narrow else None), gap=10)

    draw(
        arrange,
        alt=f"Validation losses of {len(losses)} epochs. The lowest by the stop is at epoch {best}; with a "
        f"patience of {patience} training stops after epoch {run}, and the epochs after that are never run.",
    )


def _best(losses: Sequence[float]) -> int:
    """`_best([0.5, 0.4])` is 2: epochs are counted from 1."""
    return losses.index(min(losses)) + 1


def workers(shares: Sequence[int], batch_size: int) -> None:
    """`workers([1000, 1000], 500)` is one update of several processes, each with its own batch."""

    def arrange(narrow: bool) -> Part:
        each = [
            panel(
                column(
                    text(f"{share} examples", size=SMALL),
                    box(text(f"batch of {batch_size}", size=SMALL), colour="query"),
                    box(text("its gradient", size=SMALL), colour="key"),
                    gap=8,
                ),
                f"worker {place}",
                name=f"worker {place}",
            )
            for place, share in enumerate(shares)
        ]
        mean = operator("mean", name="mean")
        update = box(
            text("the same update\nin each copy", size=SMALL), name="update", colour="output", learned=True
        )
        arrows = [
            *(Arrow(f"worker {place}", "mean") for place in range(len(shares))),
            Arrow("mean", "update"),
        ]
        if narrow:
            return joined(column(row(*each, gap=14), mean, update, gap=30), *arrows)
        return joined(row(column(*each, gap=14), mean, update, gap=60), *arrows)

    draw(
        arrange,
        alt=f"{len(shares)} workers, each with its share of the examples, take a batch of {batch_size} "
        "each. Their gradients are averaged, and every copy of the model makes the same update.",
    )


def _counted(number: float, thing: str) -> str:
    """`_counted(2, "epoch")` is "2 epochs"."""
    return f"{number:g} {thing}" if number == 1 else f"{number:g} {thing}s"
