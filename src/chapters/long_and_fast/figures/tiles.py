"""The figures of attention by tiles, described by what is drawn."""

from collections.abc import Mapping, Sequence

from bookkit.pictures.figures import Axis, curves

# ---- measured once ----

LENGTHS = (256, 512, 1024, 2048)
# Times of four heads of 32 columns, forward, over those of the fused kernel: the middle of three
# medians, each of seven turns in which all took theirs. One thread of a cloud machine's core, torch 2.13.
OVER_FUSED = {
    "the whole": (1.4, 1.5, 3.6, 3.6),
    "given memory": (1.1, 1.4, 1.4, 1.5),
    "tiles": (2.3, 2.0, 2.0, 1.9),
}


def held(lengths: Sequence[int], bytes_held: Mapping[str, Sequence[int]]) -> None:
    """`held([256], {"the whole": [524_288]})` draws memory beside inputs and output, by length."""
    megabytes = {name: [each / 1e6 for each in row] for name, row in bytes_held.items()}
    said = "; ".join(
        f"{name}: " + ", ".join(f"{each:.2f} at {n}" for n, each in zip(lengths, row, strict=True))
        for name, row in megabytes.items()
    )
    curves(
        lengths,
        megabytes,
        Axis("queries and keys", log=2),
        Axis("megabytes beside inputs and output", log=10),
        alt=f"Megabytes held at most beside inputs and output, on a logarithmic scale. {said}.",
        legend_above=True,
    )


def times() -> None:
    """`times()` draws how long each way takes, in times of the fused kernel."""
    said = "; ".join(
        f"{name}: " + ", ".join(f"{each:.1f} at {n}" for n, each in zip(LENGTHS, row, strict=True))
        for name, row in OVER_FUSED.items()
    )
    curves(
        LENGTHS,
        OVER_FUSED | {"fused": (1.0,) * len(LENGTHS)},
        Axis("queries and keys", log=2),
        Axis("time, in those of the fused kernel"),
        alt=f"How many times as long as PyTorch's fused kernel it takes. {said}.",
        legend_above=True,
    )
