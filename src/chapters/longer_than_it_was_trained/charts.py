"""The chart: at which angle each pair of a rotary model stands, and whether training has ever shown it."""

import math

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

PAIRS, BASE, LONGEST = 8, 10_000, 128  # of the stored model
SLOW, FAST = 1, 16  # turns within LONGEST, between which "mixed" has its ramp
WAYS = ("interpolated", "larger base", "mixed")
FARTHEST, STEP = 1016, 8  # 1,016 is 8 × 127, the farthest that training has shown
LARGEST = 128  # factor
DESCRIPTION = (
    "Eight rows, one for each pair of columns, from the fastest to the slowest. A pale bar is the part of "
    "the circle that the pair has gone through within 128 places: all of it for the first three, less and "
    "less for the others. A dot is the angle at a chosen distance, marked where it lies outside the bar. "
    "Sliders set the distance and the factor; one of three remedies can be chosen. At factor 1 and 508 "
    "places, four dots lie outside; with places interpolated by 4, none does."
)


def angles() -> alt.TopLevelMixin:
    """`angles()` shows where eight pairs stand at a distance, and which never stood there in training."""
    distance = slider("distance", "places back", STEP, FARTHEST, step=STEP, value=508)
    factor = slider("factor", "factor", 1, LARGEST, step=1, value=1)
    how = choice("how", "remedy", list(WAYS), value="interpolated")
    circle = 2 * math.pi
    pairs = (
        alt.Chart(alt.sequence(0, PAIRS, as_="pair"))
        .transform_calculate(frequency=f"pow({BASE}, -datum.pair / {PAIRS})")
        .transform_calculate(
            turns=f"{LONGEST} * datum.frequency / {circle}",
            seen=f"min({circle}, {LONGEST - 1} * datum.frequency)",
        )
        .transform_calculate(stays=f"clamp((datum.turns - {SLOW}) / {FAST - SLOW}, 0, 1)")
        .transform_calculate(
            share=f"how == '{WAYS[0]}' ? 1 / factor : how == '{WAYS[1]}' ?"
            f" pow(factor, -datum.pair / {PAIRS - 1}) : datum.stays + (1 - datum.stays) / factor"
        )
        .transform_calculate(turned="distance * datum.frequency * datum.share")
        .transform_calculate(angle=f"datum.turned % {circle}")
        .transform_calculate(
            never="datum.angle > datum.seen + 1e-9 ? 1 : 0",
        )
        .transform_calculate(stands="datum.never ? 'never seen' : 'seen in training'")
    )
    down = alt.Y(
        "pair:O",
        title="radians a place",
        axis=alt.Axis(
            labelExpr=f"format(pow({BASE}, -datum.value / {PAIRS}), '.2~r')", ticks=False, labelPadding=6
        ),
        scale=alt.Scale(padding=0.25),
    )
    across = alt.X(
        "angle:Q",
        title="angle, as a part of the circle",
        scale=alt.Scale(domain=[0, circle], nice=False),
        axis=alt.Axis(
            values=[0, math.pi / 2, math.pi, 1.5 * math.pi, circle],
            labelExpr="['0', '¼', '½', '¾', '1'][round(datum.value * 2 / PI)]",
        ),
    )
    colours = alt.Scale(domain=["seen in training", "never seen"])
    bars = pairs.mark_bar(opacity=0.25).encode(x=alt.X("seen:Q").scale(domain=[0, circle]), y=down)
    dots = pairs.mark_point(filled=True, size=110, opacity=1).encode(
        x=across,
        y=down,
        color=alt.Color("stands:N", title=None, scale=colours, legend=alt.Legend(orient="bottom")),
        shape=alt.Shape("stands:N", scale=alt.Scale(domain=colours.domain, range=["circle", "diamond"])),
    )
    told = pairs.transform_aggregate(never="sum(never)", slowest="min(turned)").transform_calculate(
        readout="[format(distance, ',') + ' places back: ' + datum.never + ' of 8 pairs never seen',"
        " 'the slowest has turned ' + format(datum.slowest, '.4r') + ' radians']"
    )
    return (
        alt.layer(bars, dots, readout(told, "right", y=0, dy=-40, line_height=18))
        .add_params(distance, factor, how)
        .properties(width=480, height=230, description=DESCRIPTION)
    )
