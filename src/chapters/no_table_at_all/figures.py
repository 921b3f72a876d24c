"""The figures of “No table at all”: what a state costs beside a table, and what it can hold."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import torch
from torch import Tensor
from torch.nn import functional as F

from attnlab.runtime import generator
from attnlab.today.linear import linear
from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, Axis, curves_of_seeds, plot, rounded
from chapters.no_table_at_all.models import PERIODS

HEADS, WIDTH = 4, 32
LENGTHS = tuple(2**power for power in range(8, 17))

# ---- measured once, by `python -m chapters.no_table_at_all.figures` ----

# Milliseconds of one forward pass of 4 heads of 32 numbers, in float32, on one thread of a processor with
# AVX-512, by LENGTHS: the median of nine turns up to 8,192 words, of three at 16,384, and one above that.
FUSED = (0.53, 2.19, 6.15, 20.57, 71.25, 270.0, 1076.0, 4224.0, 16590.0)
LINEAR = (1.40, 2.76, 5.01, 10.69, 19.74, 37.13, 77.79, 145.8, 317.0)

# Bits a byte of three trainings of each kind, by the recipe `states`.
TRAINED = {
    "attention": (2.179, 2.189, 2.199),
    "states": (2.125, 2.114, 2.123),
    "hybrid": (2.141, 2.131, 2.132),
}
# Measured once, with the layers of attnlab.today, on the recipe's texts at seed 0; no recipe makes them anew:
# states whose queries, keys and values are made of their own word alone, and attention whose are not.
ALONE, MIXED = 2.143, 2.157
# The share of a riddle's letters that are right, by PERIODS, of three trainings each.
RIGHT = {
    "attention": ((0.94, 0.92, 0.93), (0.93, 0.92, 0.92), (0.93, 0.94, 0.92)),
    "states": ((0.97, 0.97, 0.97), (0.92, 0.88, 0.90), (0.83, 0.71, 0.74)),
    "hybrid": ((1.00, 1.00, 0.99), (0.99, 1.00, 1.00), (1.00, 1.00, 1.00)),
}


def seconds_of(run: Callable[[], object]) -> float:
    """`seconds_of(run)` is what the processor needed for one call."""
    began = time.process_time()
    run()
    return time.process_time() - began


def measured(words: int, turns: int) -> tuple[float, float]:
    """`fused, state = measured(1024, turns=9)` are the medians of a forward pass's seconds, in turns."""
    query, key, value = torch.randn(3, 1, HEADS, words, WIDTH, generator=generator(0), device="cpu")
    runs = (
        partial(F.scaled_dot_product_attention, query, key, value, is_causal=True),
        partial(linear, query, key, value),
    )
    with torch.no_grad():
        if turns > 1:
            for run in runs:
                run()  # the first call sets things up
        taken = [[seconds_of(run) for run in runs] for _ in range(turns)]
    fused, state = (statistics.median(each) for each in zip(*taken, strict=True))
    return fused, state


def lengths() -> None:
    """`lengths()` draws time, and the numbers that are kept for the next word, by words that were read."""
    # In millions, so that both panels read off one scale.
    cache = [2 * HEADS * WIDTH * words / 1e6 for words in LENGTHS]
    state = [HEADS * WIDTH * (WIDTH + 1) / 1e6] * len(LENGTHS)
    panels = {
        "seconds to read": {
            "softmax, fused": [each / 1000 for each in FUSED],
            "state, in chunks": [each / 1000 for each in LINEAR],
        },
        "millions of numbers kept": {"softmax, fused": cache, "state, in chunks": state},
    }
    told = ". ".join(
        f"{name.capitalize()}: "
        + "; ".join(
            f"{line}: " + ", ".join(f"{y:.2g} at {n:,}" for n, y in zip(LENGTHS, each, strict=True))
            for line, each in lines.items()
        )
        for name, lines in panels.items()
    )
    alt = f"By the words of a text, all on logarithmic scales, of {HEADS} heads of {WIDTH} numbers. {told}."
    with plot(alt, size=(7.2, 3.2), panels=len(panels), share_x=False) as all_axes:
        for axes, (name, lines) in zip(all_axes, panels.items(), strict=True):
            for (line, each), colour, marker, dash in zip(
                lines.items(), SERIES, MARKERS, DASHES, strict=False
            ):
                axes.plot(
                    LENGTHS, rounded(each), color=COLOURS[colour][0], marker=marker, ls=dash, label=line
                )
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xticks(LENGTHS[::2], ["256", "1k", "4k", "16k", "64k"])
            axes.set_yticks([0.001, 0.01, 0.1, 1, 10], ["0.001", "0.01", "0.1", "1", "10"])
            axes.minorticks_off()
            axes.set_title(name)
            axes.set_xlabel("words")
        all_axes[0].figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=2)


def recall(pairs: Sequence[int], lines: Mapping[str, Tensor], when: str) -> None:
    """`recall([4, 8], {"softmax": shares}, "each key once")` draws the share that comes back right.

    shares has a row for each of pairs and a column for each seed, (pairs, seeds).
    """
    curves_of_seeds(
        pairs,
        {name: list(each) for name, each in lines.items()},
        Axis("keys", log=2),
        Axis("share right"),
        what=f"With {when}, the share of values that come back right by their keys",
        where="by how many keys there are: " + ", ".join(map(str, pairs)),
        legend_above=True,
    )


def riddles() -> None:
    """`riddles()` draws what is right of the riddle's letters, by how long its rounds are."""
    curves_of_seeds(
        [sum(period) / 2 for period in PERIODS],
        {kind: [torch.tensor(each) for each in shares] for kind, shares in RIGHT.items()},
        Axis("letters in a round"),
        Axis("share right"),
        what="The share of letters that are right where they can be known",
        where="by the letters in a round: 8 to 12, 13 to 18, 19 to 24",
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    for words in LENGTHS:
        fused, state = measured(words, turns=9 if words <= 8192 else 3 if words == 16384 else 1)
        print(f"{words:,} words: fused {1000 * fused:.4g} ms, state {1000 * state:.4g} ms", flush=True)
