"""The figures of “What length costs”, of times that were measured once, described by what is drawn."""

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, plot, rounded

# A page can't hold times that change with each run: these are medians on one thread of a cloud machine's
# core, torch 2.13, in which all took turns. The chapter claims of its own run what they have in common.

# Milliseconds of a block of 96 numbers a word without its attention, and of attention with heads of 16 and
# of 96 numbers.
LENGTHS = (36, 72, 144, 288, 576, 1152, 2304)
TIMES = {
    "all weights": (0.123, 0.193, 0.367, 0.844, 1.6, 3.6, 6.55),
    "6 heads of 16": (0.052, 0.111, 0.246, 1.28, 6.05, 38.8, 279),
    "1 head of 96": (0.027, 0.051, 0.124, 0.601, 2.37, 7.61, 34.2),
}
# At 576 words, parts of attention alone: the time with 6 heads over that with one.
SIX_OVER_ONE = {"products": 1.83, "softmax": 3.5}
EVEN = 576  # words at which weights and table cost as many operations
# What a row costs, over what one costs alone: of a product with 4,096 × 4,096 weights in float32, and of
# attention by one query in each of 8 heads of 64, over 4,096 words in a cache of its own.
ROWS = (1, 2, 4, 8, 16, 32)
PER_ROW = {
    "weights, shared": (1, 1.06, 0.604, 0.361, 0.228, 0.169),
    "a cache each": (1, 0.821, 0.902, 0.912, 0.88, 0.872),
}
# An H100's, in 10¹² a second: operations in bfloat16, and bytes.
OPERATIONS, BYTES = 989, 3.35


def clock() -> None:
    """`clock()` draws time by words, of weights and of tables, beside what the operations predict."""
    unit = TIMES["all weights"][LENGTHS.index(EVEN)]
    times = {name: [each / unit for each in taken] for name, taken in TIMES.items()}
    told = "; ".join(
        f"{name}: " + ", ".join(f"{time:.3g} at {n}" for n, time in zip(LENGTHS, taken, strict=True))
        for name, taken in times.items()
    )
    alt = (
        f"Time by the words of a text, in times of what all weights take at {EVEN} words; both scales are "
        f"logarithmic. {told}. By the operations a table takes as long as the weights at {EVEN} words, a "
        "quarter of that at half as many."
    )
    with plot(alt, size=(5.2, 3.8)) as (axes,):
        for (name, taken), colour, marker, dash in zip(times.items(), SERIES, MARKERS, DASHES, strict=False):
            axes.plot(LENGTHS, rounded(taken), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        counted = rounded([(n / EVEN) ** 2 for n in LENGTHS])
        axes.plot(LENGTHS, counted, color=COLOURS["grey"][0], ls=":", label="a table, by its operations")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(LENGTHS[::2], [f"{n:,}" for n in LENGTHS[::2]])
        axes.set_yticks([0.01, 0.1, 1, 10, 100], ["0.01", "0.1", "1", "10", "100"])
        axes.minorticks_off()
        axes.set_xlabel("words")
        axes.set_ylabel("time, over that of the weights at 576")
        axes.figure.legend(loc="outside upper left", ncols=2)


def per_row() -> None:
    """`per_row()` draws what one row costs by the rows that are computed together."""
    told = "; ".join(
        f"{name}: " + ", ".join(f"{cost:.2f} of {n}" for n, cost in zip(ROWS, costs, strict=True))
        for name, costs in PER_ROW.items()
    )
    with plot(
        f"Time for each row, over that of one row alone, by rows at a time. {told}.", size=(5.2, 2.6)
    ) as (axes,):
        for (name, costs), colour, marker, dash in zip(
            PER_ROW.items(), SERIES, MARKERS, DASHES, strict=False
        ):
            axes.plot(ROWS, rounded(costs), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        axes.set_xscale("log")
        axes.set_xticks(ROWS, [f"{n}" for n in ROWS])
        axes.minorticks_off()
        axes.set_ylim(0, 1.15)
        axes.set_xlabel("rows at a time")
        axes.set_ylabel("time for each row")
        axes.legend(fontsize=10, loc="center left")


def roofline() -> None:
    """`roofline()` draws what an H100 can do at most, by the operations that each byte from memory serves."""
    even = OPERATIONS / BYTES
    marked = {"one row": 1, f"{even:.0f} rows": even}
    told = "; ".join(f"{name}: {min(BYTES * x, OPERATIONS):,.4g}" for name, x in marked.items())
    alt = (
        "Million million operations a second against operations a byte, both scales logarithmic. A slope "
        f"rises to {OPERATIONS} at {even:.0f} operations a byte, memory-bound, and goes on as a flat "
        f"roof, compute-bound. {told}."
    )
    with plot(alt, size=(5.2, 3.0)) as (axes,):
        ends = rounded([0.25, even, 4096])
        roof = rounded([BYTES * 0.25, OPERATIONS, OPERATIONS])
        axes.plot(ends, roof, color=COLOURS["blue"][0])
        for (name, x), marker in zip(marked.items(), MARKERS, strict=False):
            y = min(BYTES * x, OPERATIONS)
            axes.plot(rounded([x]), rounded([y]), color=COLOURS["orange"][0], marker=marker, ls="")
            axes.annotate(name, (x, y), xytext=(8, -16), textcoords="offset points")
        axes.text(4, 60, "memory-bound", ha="right")
        axes.text(4096, 1400, "compute-bound", ha="right")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(0.6, 6000)  # room for words above the roof
        axes.set_xticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        axes.set_yticks([1, 10, 100, 1000], ["1", "10", "100", "1,000"])
        axes.minorticks_off()
        axes.set_xlabel("operations a byte, or rows")
        axes.set_ylabel("million million operations a second")
