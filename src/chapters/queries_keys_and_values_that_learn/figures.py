"""Figures of attention that learns. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import MARKERS, Axis, curves, plot, rounded


def looks_at_itself(widths: Sequence[int], as_drawn: Sequence[float], one_length: Sequence[float]) -> None:
    """`looks_at_itself([2, 4], [0.2, 0.5], [1, 1])` draws the share of rows that weigh themselves most."""
    listed = ", ".join(f"{share:.2f}" for share in as_drawn)
    curves(
        widths,
        {"all of length one": one_length, "as drawn": as_drawn},
        Axis("numbers in a row, d", log=2),
        Axis("share of rows that weigh themselves most"),
        alt="The share of rows of random numbers that give themselves the largest weight, against the "
        f"numbers in a row, {', '.join(map(str, widths))}. As drawn: {listed}. All brought to length one: "
        "always 1.",
    )


def what_is_left_out(found: Mapping[str, Tensor]) -> None:
    """`what_is_left_out({"all three": seeds})` marks the share of right answers, a row for each model."""
    listed = "; ".join(
        f"{name.replace('$', '')}: {seeds.min():.2f} to {seeds.max():.2f}" for name, seeds in found.items()
    )
    with plot(
        f"The share of right answers of five starts each. {listed}. Guessing finds one in six.",
        size=(5.6, 3.2),
    ) as (axes,):
        axes.axvline(1 / 6, color=COLOURS["grey"][0], ls=":")
        for place, seeds in enumerate(found.values()):
            axes.plot(
                rounded(seeds), [place] * len(seeds), ls="", marker="o", color=COLOURS["blue"][0],
                alpha=0.6, clip_on=False,
            )  # fmt: skip
        axes.set_yticks(range(len(found)), list(found))
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_xlabel("share of right answers (dotted: guessing)")
        axes.tick_params(axis="y", length=0)


def who_asks_for_whom(matrix: Tensor, facts: Sequence[str]) -> None:
    """`who_asks_for_whom(M, ["name", "prey", "scarf"])` shades M, whose sides are cut in these facts."""
    size = len(matrix) // len(facts)
    blocks = {
        (row, column): matrix[row * size :, column * size :][:size, :size].diagonal().mean().item()
        for row in range(len(facts))
        for column in range(len(facts))
    }
    (row, column) = max(blocks, key=lambda place: blocks[place])
    block, others = matrix[row * size :, column * size :][:size, :size], matrix.clone()
    others[row * size :, column * size :][:size, :size] = 0
    with plot(
        "The learned matrix M as a table, cut in blocks by the facts of the one that asks and of the one "
        f"that is found. The diagonal of the block “{facts[row]}” by “{facts[column]}” is strong, its mean "
        f"is {blocks[row, column]:.1f}; off it, this block goes down to {block.min():.1f}. In the "
        f"other blocks no number is beyond ±{others.abs().max():.1f}.",
        size=(4.4, 4.2),
        grid=False,
    ) as (axes,):
        largest = float(matrix.abs().max())
        for i, numbers in enumerate(rounded(matrix)):
            for j, number in enumerate(numbers):
                axes.fill(
                    [j, j + 1, j + 1, j], [i, i, i + 1, i + 1],
                    color=COLOURS["blue" if number > 0 else "orange"][0],
                    alpha=float(rounded([abs(number) / largest])[0]), lw=0,
                )  # fmt: skip
        for edge in range(0, len(matrix) + 1, size):
            axes.axvline(edge, color=COLOURS["grey"][0], lw=1)
            axes.axhline(edge, color=COLOURS["grey"][0], lw=1)
        middles = [size * (place + 0.5) for place in range(len(facts))]
        axes.set_xticks(middles, [f"its {fact}" for fact in facts])
        axes.set_yticks(middles, [f"my {fact}" for fact in facts])
        axes.set_xlim(0, len(matrix))
        axes.set_ylim(len(matrix), 0)
        axes.set_aspect("equal")
        axes.tick_params(length=0)


def names_in_a_circle(animals: Sequence[str], key: Tensor, query: Tensor) -> None:
    """`names_in_a_circle(["cat", …], key, query)` has the names' keys in the plane, and who asks for them."""
    order = [animals[place] for place in key[:, 1].atan2(key[:, 0]).argsort().tolist()]
    with plot(
        "The keys of the six names in the plane that training laid out, around the middle in the order "
        f"{', '.join(order)}. From the middle the query for each name points towards it.",
        size=(4.2, 4.0),
    ) as (axes,):
        for name, (x, y), (to_x, to_y) in zip(animals, rounded(key), rounded(query), strict=True):
            axes.plot([0, to_x], [0, to_y], color=COLOURS[SERIES[0]][0], lw=1.5)
            axes.plot([x], [y], ls="", marker=MARKERS[0], color=COLOURS[SERIES[1]][0], markersize=8)
            axes.annotate(name, (x, y), xytext=(7, 5), textcoords="offset points")
        axes.axhline(0, color=COLOURS["grey"][0], lw=0.8)
        axes.axvline(0, color=COLOURS["grey"][0], lw=0.8)
        axes.margins(0.15)
        axes.set_aspect("equal")
        axes.set_xlabel("first number")
        axes.set_ylabel("second number")
