"""How figures are drawn: one look, light and dark, and the same file on every machine.

The figures themselves are in each chapter's folder, in `chapters/<chapter>/figures.py`.

A figure is SVG text in which colours are variables: the viewer's preference for light or dark picks their
values, so one stored picture suits both. Numbers are rounded to three decimals before they are drawn, and
places to a hundredth of a point: the last digits, in which machines differ, then hardly ever change the file.
"""

import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from IPython.core.getipython import get_ipython
from IPython.display import display
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from torch import Tensor

from bookkit.mime_types import FIGURE, as_image
from bookkit.pictures.colours import COLOURS, SERIES

Numbers = Sequence[float] | Tensor | npt.NDArray[Any]
Seeds = Sequence[Tensor]  # for each place on the x axis the results of all seeds: (seeds,)

# Four markers and dashes as well: colour is never the only difference.
MARKERS = ("o", "s", "^", "D", "v")
DASHES = ("-", "--", "-.", ":", (0, (8, 2, 1, 2, 1, 2)))

NAMED = re.compile(r"\b[mp][0-9a-f]{10}\b")
EXACT = re.compile(r"(scale\([^)]*\))|(-?\d+\.\d{3,})")

# The letters of the pages and drawings: Source Sans 3 by Adobe (SIL Open Font License 1.1), cut down to what
# figures say, and so by another name. What it lacks, such as ≤, comes from Matplotlib's own.
LETTERS = Path(__file__).with_name("letters.ttf")
font_manager.fontManager.addfont(LETTERS)
SANS = font_manager.FontProperties(fname=LETTERS).get_name()

STYLE: dict[Any, Any] = {
    "figure.facecolor": COLOURS["paper"][0],
    "savefig.facecolor": COLOURS["paper"][0],
    "figure.constrained_layout.use": True,
    "font.family": [SANS, "DejaVu Sans"],
    "mathtext.fontset": "stix",  # as the formulas of the pages
    "font.size": 14,  # on a phone, three quarters of it
    "axes.facecolor": "none",
    "axes.edgecolor": COLOURS["grey"][0],
    "axes.labelcolor": COLOURS["ink"][0],
    "axes.titlesize": 14,
    "axes.titlelocation": "left",
    "axes.titlecolor": COLOURS["ink"][0],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": COLOURS["faint"][0],
    "grid.linewidth": 0.8,
    "text.color": COLOURS["ink"][0],
    "xtick.color": COLOURS["ink"][0],
    "ytick.color": COLOURS["ink"][0],
    "legend.facecolor": COLOURS["paper"][0],  # over what it may cross
    "legend.edgecolor": "none",
    "legend.labelspacing": 0.35,
    "lines.linewidth": 2,
    "lines.markersize": 6,
    # Letters as outlines: the picture does not depend on the fonts of the reader's machine.
    "svg.fonttype": "path",
    # Without a fixed salt the ids inside the file would be new at every run.
    "svg.hashsalt": "attention-measured",
}


@contextmanager
def plot(
    alt: str,
    *,
    size: tuple[float, float] = (5.2, 3.0),
    panels: int = 1,
    share_x: bool = True,
    grid: bool = True,
) -> Iterator[Sequence[Axes]]:
    """`with plot("one rising line") as (axes,):` gives axes to draw on, and shows them with these words.

    Panels stand side by side on one vertical scale, in inches `size` together.
    """
    with mpl.rc_context(STYLE | {"axes.grid": grid}):
        figure = Figure(size)
        all_axes = figure.subplots(1, panels, sharex=share_x, sharey=True, squeeze=False)[0]
        yield all_axes
        _name_above(all_axes)
        picture = svg(figure, alt)
    if get_ipython() is not None:
        display(for_notebooks(picture, alt), raw=True)


def _name_above(all_axes: Sequence[Axes]) -> None:
    """The vertical axis is named above it: nobody tilts their head, and no long name is cut off."""
    for axes in all_axes:
        lines = [axes.get_ylabel(), axes.get_title(loc="left")]
        axes.set_ylabel("")
        axes.set_title("\n".join(filter(None, lines)), loc="left")


@dataclass(frozen=True)
class Axis:
    """`Axis("d_k", log=2)` is a label and, where the axis is logarithmic, its base."""

    label: str
    log: int | None = None


def curves(
    x: Numbers,
    series: Mapping[str, Numbers],
    x_axis: Axis,
    y_axis: Axis,
    *,
    alt: str,
    spread: Mapping[str, tuple[Numbers, Numbers]] | None = None,
    legend_above: bool = False,
) -> None:
    """`curves([1, 2], {"raw": [3.0, 4.0]}, Axis("d_k"), Axis("nats"), alt="…")` draws one line a series.

    `spread` gives a series its lower and upper edge, drawn as a band: say in `alt` or the text what it is.
    `legend_above` is for lines that leave no room between them.
    """
    with plot(alt) as (axes,):
        _scale(axes, x_axis, y_axis)
        if x_axis.log:
            axes.set_xticks(rounded(x), [f"{value:g}" for value in rounded(x)])
            axes.minorticks_off()
        for (name, y), colour, marker, dash in zip(series.items(), SERIES, MARKERS, DASHES, strict=False):
            if spread and name in spread:
                low, high = spread[name]
                axes.fill_between(
                    rounded(x), rounded(low), rounded(high), color=COLOURS[colour][0], alpha=0.15, lw=0
                )
            axes.plot(rounded(x), rounded(y), color=COLOURS[colour][0], marker=marker, ls=dash, label=name)
        if legend_above:
            axes.figure.legend(loc="outside upper left", ncols=3)
        elif len(series) > 1:
            axes.legend()


def curves_of_seeds(
    x: Numbers,
    results: Mapping[str, Seeds],
    x_axis: Axis,
    y_axis: Axis,
    *,
    what: str,
    where: str,
    legend_above: bool = False,
) -> None:
    """`curves_of_seeds([24, 48], {"rotary": results}, x_axis, y_axis, what="The share right", where="…")`.

    Each line is the mean over seeds, in a band from the worst to the best. What the lines are and where they
    were measured is said in words, to which the means are added.
    """
    means = {name: [float(seeds.mean()) for seeds in each] for name, each in results.items()}
    count = len(next(iter(results.values()))[0])
    words = "; ".join(f"{name}: {', '.join(f'{m:.2f}' for m in line)}" for name, line in means.items())
    curves(
        x,
        means,
        x_axis,
        y_axis,
        spread={
            name: ([float(seeds.min()) for seeds in each], [float(seeds.max()) for seeds in each])
            for name, each in results.items()
        },
        alt=f"{what}, mean over {count} seeds, in a band from the worst to the best, {where}. "
        f"{words.replace('$', '')}.",
        legend_above=legend_above,
    )


def heat_map(
    matrix: Tensor | npt.NDArray[Any],
    rows: Sequence[object],
    columns: Sequence[object],
    *,
    axes: tuple[str, str],
    alt: str,
) -> None:
    """`heat_map(weights, ["the", "cat"], ["le", "chat"], axes=("query", "key"), alt="…")` shades each cell.

    Each cell has its number written in it: blue is above zero, orange below. `axes` says what rows and
    columns are.
    """
    import seaborn as sns  # here, since it takes half a second and only heat maps need it

    beside = 0.5 + 0.11 * max(len(str(row)) for row in rows)  # inches for the rows' names
    size = (beside + 0.55 * len(columns), 1.0 + 0.5 * len(rows))
    with plot(alt, size=size, grid=False) as (cells,):
        # seaborn picks black or white for each number by the shade under it, so the shades are the same on
        # dark pages: their hues are a hair off the series' own, which turn light there.
        shades = sns.blend_palette(["#b34e00", "#f2f2f2", "#0068a6"], as_cmap=True)
        written = np.array([[f"{number:.2f}" for number in row] for row in matrix.tolist()])
        numbers = rounded(matrix)
        most = abs(numbers).max()
        sns.heatmap(
            numbers, vmin=-most, vmax=most, annot=written, fmt="", cmap=shades, cbar=False, square=True,
            xticklabels=list(columns), yticklabels=list(rows), linewidths=1, linecolor=COLOURS["paper"][0],
            ax=cells,
        )  # fmt: skip
        cells.set_ylabel(axes[0])
        cells.set_xlabel(axes[1])
        cells.tick_params(length=0, rotation=0)


def _scale(axes: Axes, x_axis: Axis, y_axis: Axis) -> None:
    axes.set_xlabel(x_axis.label)
    axes.set_ylabel(y_axis.label)
    if x_axis.log:
        axes.set_xscale("log", base=x_axis.log)
    if y_axis.log:
        axes.set_yscale("log", base=y_axis.log)


def rounded(numbers: Numbers) -> npt.NDArray[Any]:
    """`rounded([0.12345, 1e-5])` keeps three decimals, or three significant digits of what is smaller.

    A logarithmic axis shows those too.
    """
    array = (
        numbers.detach().cpu().numpy() if isinstance(numbers, Tensor) else np.asarray(numbers, dtype=float)
    )
    magnitude = np.abs(np.where(array == 0, 1, array))
    decimals = np.maximum(3, 2 - np.floor(np.log10(magnitude)).astype(int))
    kept = [round(float(n), int(d)) for n, d in zip(array.ravel(), decimals.ravel(), strict=True)]
    return np.array(kept).reshape(array.shape)


def for_notebooks(picture: str, alt: str) -> dict[str, str]:
    """`for_notebooks("<svg>…</svg>", "one rising line")` is what a cell stores of a figure.

    Viewers of notebooks show an SVG only where they trust its author, without its colours, or without its
    words. As the source of an image in HTML it is shown by all of them.

    >>> for_notebooks("<svg/>", "one rising line")["text/html"]
    '<img alt="one rising line" src="data:image/svg+xml;base64,PHN2Zy8+">'
    """
    return {
        FIGURE: picture,
        "text/html": f'<img alt="{escape(alt)}" src="{as_image(picture)}">',
        "text/plain": alt,
    }


def svg(figure: Figure, alt: str) -> str:
    """`svg(figure, "one rising line")` is the figure as text, colours as variables, with its description."""
    if not alt.strip():
        raise ValueError("alt must describe the figure in words, got an empty text")
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = _short(file.getvalue())
    for name, (light, _) in COLOURS.items():
        text = text.replace(light, f"var(--{name})")
    light_values = "".join(f"--{name}:{light};" for name, (light, _) in COLOURS.items())
    dark_values = "".join(f"--{name}:{dark};" for name, (_, dark) in COLOURS.items())
    head = (
        f"<title>{escape(alt, quote=False)}</title>"
        f"<style>:root{{{light_values}}}@media(prefers-color-scheme:dark){{:root{{{dark_values}}}}}</style>"
    )
    return re.sub(r"(<svg[^>]*>)", lambda match: match.group(1) + head, text, count=1)


def _short(text: str) -> str:
    """Matplotlib's file without what nobody sees: places to a hundredth, names of parts that are counted.

    It names parts by a digest of their numbers, so that a last digit would change every place that uses one.
    """
    text = text[text.index("<svg") :]
    names = {name: f"{name[0]}{number}" for number, name in enumerate(dict.fromkeys(NAMED.findall(text)), 1)}
    text = NAMED.sub(lambda found: names[found[0]], text)
    # A letter's outline is made smaller by .015625: that is no place.
    text = EXACT.sub(lambda found: found[1] or f"{float(found[2]):.2f}".rstrip("0").rstrip("."), text)
    return re.sub(r"\s+", " ", text).replace("> <", "><")
