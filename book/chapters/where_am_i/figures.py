"""The figures of “Where am I?”. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.figures import Axis, curves

Seeds = Sequence[Tensor]  # for each length the results of all seeds: (seeds,)


def wavelengths(waves: Mapping[str, Tensor]) -> None:
    """`wavelengths({"base 10": waves})` draws how many positions each pair of columns takes for a turn."""
    pairs = len(next(iter(waves.values())))
    words = "; ".join(f"{name}: {wave[0]:.1f} to {wave[-1]:,.0f}" for name, wave in waves.items())
    curves(
        list(range(pairs)),
        waves,
        Axis("pair of columns"),
        Axis("positions in one turn", log=10),
        alt=f"The wavelengths of the {pairs} pairs of columns on a logarithmic scale, a straight line for "
        f"each base. From the first pair to the last, {words}.",
    )


def profile(alike: Mapping[str, Tensor]) -> None:
    """`profile({"16 columns": alike})` draws how alike two rows are, by their distance: 1 at distance 0."""
    farthest = len(next(iter(alike.values()))) - 1
    words = "; ".join(
        f"{name}: {line[1]:.2f} at distance 1, {line[10]:.2f} at 10, {line[-1]:.2f} at {farthest}, "
        f"rising again {int((line.diff() > 0).sum())} times on the way"
        for name, line in alike.items()
    )
    curves(
        list(range(farthest + 1)),
        alike,
        Axis("distance between two positions"),
        Axis("dot product / norm²"),
        alt=f"The dot product of two rows against their distance, 1 at distance 0. {words}.",
    )


def longer(task: str, lengths: Sequence[int], right: Mapping[str, Seeds]) -> None:
    """`longer("copying", [24, 48], {"rotary": results})` draws the mean over seeds, worst to best a band."""
    means = {name: [float(seeds.mean()) for seeds in results] for name, results in right.items()}
    words = "; ".join(f"{name}: {', '.join(f'{m:.2f}' for m in line)}" for name, line in means.items())
    curves(
        lengths,
        means,
        Axis("length of the sequence", log=2),
        Axis("share right"),
        spread={
            name: ([float(s.min()) for s in results], [float(s.max()) for s in results])
            for name, results in right.items()
        },
        alt=f"{task}: the share right, mean over {len(next(iter(right.values()))[0])} seeds, in a band from "
        f"the worst to the best, for sequences of {', '.join(map(str, lengths))}. {words}.",
        legend_above=True,
    )
