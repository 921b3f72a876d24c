"""The chart of attention that learns: the weights of one game of tag, through training."""

import altair as alt

from bookkit.pictures.charts import readout, slider

# One game of the chapter: the animals by their places, and the place of the one that each chases.
ANIMALS = ["dog", "pig", "cat", "hen", "fox", "owl"]
CHASED = [2, 0, 5, 1, 3, 4]

# The weights after no step, after 10 and so on, in per cent.
EVERY = 10
_ROWS = (
    "11 12 11 12 12 42 31 8 17 24 10 9 12 12 34 16 23 4 9 11 10 54 9 7 12 10 15 23 14 27 8 27 16 6 24 19",
    "12 12 13 12 14 36 35 8 16 23 9 9 13 12 31 13 26 5 10 14 10 47 10 9 11 11 16 20 15 27 9 24 16 8 20 23",
    "14 12 16 11 15 32 41 8 15 20 8 9 13 14 29 12 24 8 9 18 8 45 11 9 12 10 15 21 15 27 9 24 14 10 18 26",
    "13 9 20 12 15 31 54 6 13 13 7 7 13 17 25 13 21 11 6 29 6 42 11 7 12 9 15 26 13 25 7 28 11 13 21 21",
    "11 6 25 12 14 32 74 2 11 5 4 4 11 20 22 16 17 15 4 52 3 29 9 4 13 8 15 32 11 22 4 31 8 13 29 16",
    "11 2 36 11 13 26 89 0 7 1 1 1 8 23 17 19 12 21 2 78 1 11 5 3 15 7 15 38 8 17 2 22 6 8 49 13",
    "11 1 55 11 9 14 93 0 6 0 0 0 6 26 11 19 8 31 1 93 0 2 2 1 11 6 12 54 4 13 1 7 3 3 80 6",
    "5 0 79 9 3 4 91 0 8 0 0 0 3 23 4 18 4 48 0 97 0 1 1 1 5 2 5 78 1 7 0 2 2 1 94 2",
    "2 0 91 5 1 1 94 0 6 0 0 0 1 7 1 11 1 80 0 95 0 0 1 3 2 0 2 92 0 4 0 1 1 0 97 1",
    "1 0 97 2 0 0 97 0 2 0 0 0 0 1 0 3 0 95 0 93 0 0 0 6 1 0 1 95 0 3 0 1 1 0 97 0",
    "1 0 98 1 0 0 99 0 1 0 0 0 0 1 0 2 0 97 0 95 0 0 0 4 0 0 1 97 0 2 0 1 1 0 98 0",
)
PERCENT = {EVERY * place: [int(number) for number in row.split()] for place, row in enumerate(_ROWS)}

DESCRIPTION = (
    "A table of weights, a row for each of six animals that asks and a column for each that is found. A "
    "slider goes through the training, from no step to 100. At first the weights are spread by chance; then "
    "the framed cells, where each animal meets the one that it chases, grow darker, one sooner than another, "
    "and after 100 steps they hold nearly everything: the mean of the six rises from 17 % to 98 %."
)


def through_training() -> alt.TopLevelMixin:
    """`through_training()` shows who looks at whom, from before the training to its end."""
    steps = slider("steps", "steps of training", 0, max(PERCENT), step=EVERY, value=50)
    history = alt.param(name="history", value=list(PERCENT.values()))
    animals = alt.param(name="animals", value=ANIMALS)
    chased = alt.param(name="chased", value=CHASED)
    cells = _cells()
    words = readout(_summary(cells), "left", y="height", dy=14)
    return (
        alt.layer(_shades(cells), _frames(cells), _written(cells), words)
        .add_params(steps, history, animals, chased)
        .properties(width=330, height=330, description=DESCRIPTION)
    )


def _cells() -> alt.Chart:
    """A row for each animal that asks and each that is found, with the weight and whether it is chased."""
    count = len(ANIMALS)
    return (
        alt.Chart(alt.sequence(0, count * count, as_="cell"))
        .transform_calculate(
            asking=f"floor(datum.cell / {count})",
            place=f"datum.cell % {count}",
            percent=f"history[steps / {EVERY}][datum.cell]",
        )
        .transform_calculate(
            asks="animals[datum.asking] + ' chases ' + animals[chased[datum.asking]]",
            found="animals[datum.place]",
            right="chased[datum.asking] == datum.place",
        )
    )


def _axes() -> dict[str, alt.X | alt.Y]:
    across = alt.Axis(labelAngle=0, orient="top", ticks=False, domain=False)
    down = alt.Axis(ticks=False, domain=False)
    asks = [f"{animal} chases {ANIMALS[chased]}" for animal, chased in zip(ANIMALS, CHASED, strict=True)]
    return {
        "x": alt.X("found:N", title="looks at", axis=across, scale=alt.Scale(domain=ANIMALS)),
        "y": alt.Y("asks:N", title=None, axis=down, scale=alt.Scale(domain=asks)),
    }


def _shades(cells: alt.Chart) -> alt.Chart:
    # Strength and not a scale of hues: paper shows through, light or dark.
    strength = alt.Opacity("percent:Q", legend=None, scale=alt.Scale(domain=[0, 100], range=[0.04, 0.6]))
    return cells.mark_rect().encode(**_axes(), opacity=strength)


def _frames(cells: alt.Chart) -> alt.Chart:
    return (
        cells.transform_filter("datum.right")
        .transform_calculate(series="'chased'")
        .mark_rect(filled=False, strokeWidth=2)
        .encode(
            **_axes(),
            stroke=alt.Stroke("series:N", legend=None, scale=alt.Scale(domain=["weight", "chased"])),
        )
    )


def _written(cells: alt.Chart) -> alt.Chart:
    return cells.mark_text(fontSize=12).encode(**_axes(), text="percent:Q")


def _summary(cells: alt.Chart) -> alt.Chart:
    return (
        cells.transform_filter("datum.right")
        .transform_aggregate(mean="mean(percent)", least="min(percent)")
        .transform_calculate(
            readout="['after ' + steps + ' steps',"
            " 'weight on the chased one: mean ' + format(datum.mean, '.0f')"
            " + ' %, least ' + datum.least + ' %']"
        )
    )
