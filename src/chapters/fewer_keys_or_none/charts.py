"""The chart: which keys each query sees through a window and sinks, and what the cache must hold for that."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

PLACES, WIDEST, MOST_SINKS = 24, 16, 4
LAYERS, HEADS, D_K = 3, 6, 16
GROUPS = ["6", "3", "2", "1"]
# What a cell is, and how strongly it is drawn.
SEEN, SINK, REACHED, UNSEEN = "in the window", "a sink", "through layers", "not at all"
DESCRIPTION = (
    "A triangle of twenty-four queries, a row each, and the keys at or before them, a column each. Dark "
    "cells are keys in the window of their query, purple ones sinks, pale ones what three layers reach "
    "through keys in between. Sliders set the window's width and the number of sinks, a choice the number "
    "of key heads for six heads. A narrow window leaves a dark band along the diagonal with a pale one "
    "beside it, and sinks are columns at the left. The cache holds the window's and the sinks' places alone."
)


def sight() -> alt.TopLevelMixin:
    """`sight()` shows what queries see by a window, sinks and groups of one's choice."""
    width = slider("window_width", "window", 1, WIDEST, step=1, value=6)
    sinks = slider("sinks", "sinks", 0, MOST_SINKS, step=1, value=0)
    groups = choice("groups", "key heads for six heads", GROUPS, value="2")
    cells = _cells()
    # The series' colours, in their order: keys are orange.
    colours = alt.Scale(domain=["query", "key", "value", "sink", "other"])
    # Said to be ordinal: else Vega spreads opacities evenly between the first two.
    strong = alt.Scale(type="ordinal", domain=[SEEN, SINK, REACHED, UNSEEN], range=[0.85, 0.85, 0.3, 0.08])
    axis = alt.Axis(values=[1, 6, 12, 18, PLACES], labelAngle=0)
    drawn = cells.mark_rect(stroke="currentColor", strokeOpacity=0.2).encode(
        x=alt.X("key:O", title="key: looked at", axis=axis),
        y=alt.Y("query:O", title="query: looks", axis=axis),
        color=alt.Color("hue:N", scale=colours, legend=None),
        opacity=alt.Opacity("kind:N", scale=strong, legend=None),
    )
    return (
        alt.layer(drawn, readout(_summary(cells), "right", y=0, dy=4))
        .add_params(width, sinks, groups)
        .properties(width=420, height=300, description=DESCRIPTION)
    )


def _cells() -> alt.Chart:
    """Each pair of a query and a key at or before it, and what that key is to it."""
    back = "(datum.query - datum.key)"
    return (
        alt.Chart(alt.sequence(0, PLACES**2, as_="cell"))
        .transform_calculate(query=f"floor(datum.cell / {PLACES}) + 1", key=f"datum.cell % {PLACES} + 1")
        .transform_filter("datum.key <= datum.query")
        .transform_calculate(
            kind=f"{back} < window_width ? '{SEEN}' : datum.key <= sinks ? '{SINK}'"
            f" : {back} <= {LAYERS} * (window_width - 1) ? '{REACHED}' : '{UNSEEN}'"
        )
        .transform_calculate(
            hue=f"datum.kind == '{SINK}' ? 'sink' : datum.kind == '{UNSEEN}' ? 'other' : 'key'"
        )
    )


def _summary(cells: alt.Chart) -> alt.Chart:
    """For the last query: how many places its cache holds, and what that comes to."""
    numbers = f"datum.held * 2 * groups * {D_K * LAYERS}"
    all_of_them = PLACES * 2 * HEADS * D_K * LAYERS
    return (
        cells.transform_filter(f"datum.query == {PLACES}")
        .transform_calculate(held=f"datum.kind == '{SEEN}' || datum.kind == '{SINK}' ? 1 : 0")
        .transform_aggregate(held="sum(held)")
        .transform_calculate(
            readout=f"['the cache holds ' + datum.held + ' of {PLACES} places,',"
            f" format({numbers}, ',') + ' numbers: '"
            f" + format(100 * {numbers} / {all_of_them}, '.1f') + ' % of all',"
            f" 'three layers reach ' + {LAYERS} * (window_width - 1) + ' places back']"
        )
    )
