"""The figure of longer texts: what places past the training length cost, before and after some training."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from bookkit.pictures.colours import COLOURS, SERIES
from bookkit.pictures.figures import DASHES, MARKERS, plot, rounded

# ---- measured once ----

# Nats a piece more than the stored model with a window of 128, at places 0 to 127, 128 to 255, 256 to 511
# and 512 to 1,023 of 24 windows, after 100 updates of 2 crops of 1,024 ids of all texts (rate 1e-3, warm-up
# 10): one row for each seed.
TUNED: dict[str, tuple[tuple[float, ...], ...]] = {
    "as it is": ((0.114, 0.118, 0.19, 0.228), (0.128, 0.135, 0.214, 0.236), (0.141, 0.143, 0.216, 0.236)),
    "interpolated": ((0.148, 0.14, 0.146, 0.14), (0.165, 0.158, 0.172, 0.153), (0.171, 0.168, 0.184, 0.16)),
    "larger base": ((0.056, 0.049, 0.049, 0.046), (0.068, 0.067, 0.068, 0.055), (0.079, 0.079, 0.083, 0.064)),
    "mixed": ((0.064, 0.054, 0.057, 0.049), (0.076, 0.071, 0.075, 0.058), (0.086, 0.083, 0.09, 0.066)),
}
# The window itself after as many updates of 16 crops of 128 ids.
TUNED_WINDOW: tuple[tuple[float, ...], ...] = (
    (0.012, 0.006, -0.007, 0.001),
    (0.009, 0.002, 0.016, 0.007),
    (0.026, 0.027, 0.015, 0.014),
)
# Before training, places 512 to 1,023 of 12 or 16 windows, by the factor of the base's rule and by the ends
# of the ramp: how the best of each was found.
SWEPT_BASE = {8: 1.29, 16: 1.20, 32: 0.92, 64: 0.47, 96: 0.37, 128: 0.40, 192: 0.46}
SWEPT_RAMP = {
    (0.5, 2): 0.93,
    (1, 4): 0.47,
    (1, 8): 0.42,
    (1, 16): 0.41,
    (0, 20): 0.40,
    (2, 16): 0.46,
    (1, 32): 0.48,
}
# The same with scores sharpened as YaRN does, by (0.1 · ln 8 + 1)², and without; mixed from 1 to 4 turns.
SHARPENED = {"interpolated": (0.906, 0.834), "mixed": (0.448, 0.468)}
# Places 512 to 1,023 of a model from seed 1: as it is, its fourth hand slowed, its four slower ones slowed.
ANOTHER_SEED = (1.474, 0.822, 1.198)


def by_place(
    ends: Sequence[int], before: Mapping[str, Tensor], after: Mapping[str, Sequence[Sequence[float]]]
) -> None:
    """`by_place([128, 256], {"as it is": costs}, TUNED)` has costs (places, windows) above a window's.

    A band is a standard error over the windows at the left, from the best to the worst seed at the right.
    """
    panels: dict[str, dict[str, tuple[Tensor, Tensor, Tensor]]] = {
        "without training": {},
        "after 100 updates": {},
    }
    for name, each in before.items():
        mean, error = each.mean(1), each.std(1) / each.shape[1] ** 0.5
        panels["without training"][name] = mean, mean - error, mean + error
    for name, rows in after.items():
        seeds = torch.tensor(rows)  # (seeds, places)
        panels["after 100 updates"][name] = seeds.mean(0), seeds.amin(0), seeds.amax(0)
    told = ". ".join(
        f"{title.capitalize()}: "
        + "; ".join(
            f"{name} {', '.join(f'{x:.2f}' for x in line[0].tolist())}" for name, line in lines.items()
        )
        for title, lines in panels.items()
    )
    alt = (
        "Nats a piece more than the same model with a window of 128, at places up to "
        f"{', '.join(f'{end:,}' for end in ends)}. {told}."
    )
    looks = dict(zip(before, zip(SERIES, MARKERS, DASHES, strict=False), strict=False))
    with plot(alt, size=(7.2, 3.9), panels=2) as all_axes:
        for axes, (title, lines) in zip(all_axes, panels.items(), strict=True):
            axes.axhline(0, color=COLOURS["grey"][0], lw=1.5, ls=":")
            for name, (mean, low, high) in lines.items():
                colour, marker, dash = looks[name]  # the same in both panels
                shade = COLOURS[colour][0]
                axes.fill_between(rounded(ends), rounded(low), rounded(high), color=shade, alpha=0.15, lw=0)
                axes.plot(rounded(ends), rounded(mean), color=shade, marker=marker, ls=dash, label=name)
            axes.set_xscale("log", base=2)
            axes.set_xticks(ends, [f"{end:,}" for end in ends])
            axes.minorticks_off()
            axes.margins(x=0.12)  # numbers at the ends of two panels must not touch
            axes.set_title(title)
            axes.set_xlabel("places up to")
        all_axes[0].set_ylabel("nats a piece more than a window of 128")
        all_axes[0].figure.legend(*all_axes[0].get_legend_handles_labels(), loc="outside upper left", ncols=3)
