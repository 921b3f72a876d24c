"""Figures of what the scale of scores does. Their descriptions take their numbers from what is drawn."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from bookkit.colours import COLOURS, SERIES
from bookkit.figures import MARKERS, Axis, Seeds, curves, curves_of_seeds, histograms, plot, rounded

LENGTH = Axis("$d_k$", log=2)


def variance(lengths: Sequence[int], ratio: Tensor, error: Tensor) -> None:
    """`variance([1, 4], ratio, error)` draws the measured variance over d_k, with its 95 % interval."""
    # 95 % of a normal distribution lie within 1.96 standard errors.
    low, high = ratio * (1 - 1.96 * error), ratio * (1 + 1.96 * error)
    curves(
        lengths,
        {"measured": ratio, "predicted": [1.0] * len(lengths)},
        LENGTH,
        Axis("variance of $q\\cdot k$, divided by $d_k$"),
        spread={"measured": (low, high)},
        alt="The measured variance of the score, divided by d_k, "
        f"for d_k from {lengths[0]} to {lengths[-1]}. "
        f"It stays between {ratio.min():.2f} and {ratio.max():.2f}, close to the predicted 1.",
    )


def score_sizes(samples: Mapping[int, Tensor]) -> None:
    """`score_sizes({4: scores})` draws a histogram of the scores for each d_k."""
    spreads = ", ".join(f"{score.std():.0f} at d_k = {d_k}" for d_k, score in samples.items())
    histograms(
        {f"$d_k$ = {d_k}": score for d_k, score in samples.items()},
        Axis("$q\\cdot k$"),
        bins=range(-26, 27, 2),
        alt=f"Histograms of scores, each a bell around zero. Their standard deviation is {spreads}.",
    )


def entropy(lengths: Sequence[int], raw: Sequence[Tensor], scaled: Sequence[Tensor]) -> None:
    """`entropy([1, 4], raw, scaled)` draws the entropy of the weights, with and without the root."""
    curves(
        lengths,
        {"raw": [float(each) for each in raw], "÷ √$d_k$": [float(each) for each in scaled]},
        LENGTH,
        Axis("entropy of the weights (nats)"),
        alt="Entropy of the weights over 32 keys. "
        f"Unscaled it falls from {raw[0]:.1f} nats at d_k = {lengths[0]} to {raw[-1]:.1f} at {lengths[-1]}; "
        f"divided by the root of d_k it stays at {scaled[-1]:.1f}.",
    )


def derivative(lengths: Sequence[int], raw: Tensor, scaled: Tensor) -> None:
    """`derivative([1, 4], raw, scaled)` draws the softmax Jacobian's size; both are (lengths, queries)."""
    raw_mean, raw_median, scaled_mean = raw.mean(-1), raw.median(-1).values, scaled.mean(-1)
    curves(
        lengths,
        {"raw, mean": raw_mean, "÷ √$d_k$, mean": scaled_mean, "raw, median": raw_median},
        LENGTH,
        Axis("size of the softmax's derivative", log=10),
        alt="The size of the softmax's derivative against d_k. "
        f"Scaled, its mean stays near {scaled_mean[-1]:.2f}. Unscaled, the mean rises from {raw_mean[0]:.2f} "
        f"to {raw_mean.max():.2f} and then falls to {raw_mean[-1]:.2f} at d_k = {lengths[-1]}; "
        f"the median falls far more steeply, to {raw_median[-1]:.0e}.",
    )


def learning(lengths: Sequence[int], learned: Mapping[str, Seeds]) -> None:
    """`learning([4, 16], {"raw": results})` draws how much is fetched right after learning."""
    curves_of_seeds(
        lengths,
        learned,
        LENGTH,
        Axis("share fetched right"),
        what="The share of values fetched right",
        where=f"at d_k = {', '.join(map(str, lengths))}",
    )


def rates(rates: Sequence[float], learned: Mapping[str, Mapping[int, Tensor]]) -> None:
    """`rates([4.5, 9], {"÷ √d_k": {4: results}})` draws a panel for each divisor, a line for each length.

    The results are (rates, seeds). What is said of them are the rates that fetch nine in ten right.
    """
    enough = "; ".join(
        f"{name}: " + ", ".join(f"{_enough(rates, seeds)} at d_k = {d_k}" for d_k, seeds in each.items())
        for name, each in learned.items()
    )
    alt = (
        "The share of values fetched right against the learning rate, mean over seeds, in a band from the "
        f"worst to the best. The rates at which the mean is 0.9 or more: {enough.replace('$', '')}."
    )
    with plot(alt, size=(5.2, 2.8), panels=len(learned)) as panels:
        for axes, (name, each) in zip(panels, learned.items(), strict=True):
            for (d_k, seeds), colour, marker in zip(each.items(), SERIES, MARKERS, strict=False):
                low, high = seeds.amin(-1), seeds.amax(-1)
                axes.fill_between(
                    rates, rounded(low), rounded(high), color=COLOURS[colour][0], alpha=0.15, lw=0
                )
                axes.plot(
                    rates, rounded(seeds.mean(-1)), color=COLOURS[colour][0], marker=marker,
                    label=f"$d_k$ = {d_k}",
                )  # fmt: skip
            axes.set_title(name)
            axes.set_xscale("log", base=2)
            axes.set_xticks(rates, [f"{rate:g}" for rate in rates])
            axes.set_xlabel("learning rate")
        panels[0].set_ylabel("share fetched right")
        axes.figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)


def _enough(rates: Sequence[float], seeds: Tensor) -> str:
    good = [rate for rate, right in zip(rates, seeds.mean(-1), strict=True) if right >= 0.9]
    return " to ".join(f"{rate:g}" for rate in dict.fromkeys([good[0], good[-1]]))
