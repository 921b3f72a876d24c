"""The chart: a table of pairs in tiles, of which a rule leaves some empty and some whole."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

PLACES, SINKS, ACROSS = 128, 4, 270  # ACROSS is the table's side on the screen: all that a phone has
RULES = ["causal", "window", "window and sinks", "documents", "prefix"]
SIDES = ["8", "16", "32"]
WHOLE, SOME, EMPTY = "whole: no mask", "part: masked", "empty: skipped"
DESCRIPTION = (
    "A table of 128 queries, a row each, and 128 keys, a column each, in square tiles: strong where all of "
    "a tile's pairs may look, paler where some may, empty where none may. Choices set the rule and a tile's "
    "side, 8, 16 or 32; a slider a width from 4 to 64, which is the window's, each document's or the "
    "prefix's. A causal rule fills the lower half. A window is a band along the diagonal, to which sinks "
    "add a column at the left. Documents, each of that width, are a chain of triangles; a prefix is a "
    "square at the top left. Smaller tiles fit a rule more closely."
)


def tiles() -> alt.TopLevelMixin:
    """`tiles()` shows the tiles of 128 places by a rule, a width and a tile's side of one's choice."""
    rule = choice("rule", "rule", RULES, value="window")
    wide = slider("wide", "width of window, document, prefix", 4, 64, step=1, value=32)
    side = choice("side", "side of a tile", SIDES, value="16")
    cells = _tiles()
    scale = alt.Scale(domain=[0, PLACES], range=[0, ACROSS], nice=False)
    axis = alt.Axis(values=[0, 32, 64, 96, PLACES], grid=False)
    drawn = cells.mark_rect(stroke="currentColor", strokeOpacity=0.3).encode(
        x=alt.X("left:Q", title="key: looked at", scale=scale, axis=axis),
        x2="right:Q",
        y=alt.Y("top:Q", title="query: looks", scale=scale, axis=axis),
        y2="bottom:Q",
        **_look(),
    )
    # Above the table on a phone, right of it where there is room.
    x, y = ({"expr": f"width > {ACROSS} ? {where}"} for where in (f"{ACROSS + 26} : 0", "20 : -140"))
    words = readout(_summary(cells), "left", y=0).encode(x=alt.value(x), y=alt.value(y))
    return (
        alt.layer(drawn, *_legend(), words)
        .add_params(rule, wide, side)
        .properties(width=560, height=ACROSS, description=DESCRIPTION)
    )


def _tiles() -> alt.Chart:
    """Each tile, and what it is: the pairs seen are counted row by row, as the overlap of two stretches."""
    most = PLACES // int(SIDES[0])
    return (
        alt.Chart(alt.sequence(0, PLACES * most, as_="stretch"))
        .transform_calculate(query=f"floor(datum.stretch / {most})", left=f"datum.stretch % {most} * side")
        .transform_filter(f"datum.left < {PLACES}")
        # The side is a choice, and so a text: times 1 it is a number.
        .transform_calculate(right="datum.left + 1 * side", top="datum.query - datum.query % side")
        .transform_calculate(
            first="rule == 'window' || rule == 'window and sinks' ? max(0, datum.query - wide + 1)"
            " : rule == 'documents' ? datum.query - datum.query % wide : 0",
            last="rule == 'prefix' ? max(datum.query, wide - 1) : datum.query",
        )
        .transform_calculate(sinks=f"rule == 'window and sinks' ? min({SINKS}, datum.first) : 0")
        .transform_calculate(
            seen="max(0, min(datum.right, datum.last + 1) - max(datum.left, datum.first))"
            " + max(0, min(datum.right, datum.sinks) - datum.left)"
        )
        .transform_aggregate(seen="sum(seen)", groupby=["top", "left", "right"])
        .transform_calculate(
            hue="'key'",
            bottom="datum.top + 1 * side",
            kind=f"datum.seen == 0 ? '{EMPTY}' : datum.seen == side * side ? '{WHOLE}' : '{SOME}'",
        )
    )


def _look() -> dict[str, alt.Color | alt.FillOpacity]:
    """How a kind is drawn: in the keys' orange, the second of the series' colours."""
    strong = alt.Scale(type="ordinal", domain=[WHOLE, SOME, EMPTY], range=[0.85, 0.35, 0])
    return {
        "color": alt.Color("hue:N", scale=alt.Scale(domain=["query", "key"]), legend=None),
        "fillOpacity": alt.FillOpacity("kind:N", scale=strong, legend=None),
    }


def _legend() -> tuple[alt.Chart, alt.Chart]:
    """What the kinds are, below the readout."""
    names = [{"hue": "key", "kind": kind, "down": 22 * row} for row, kind in enumerate((WHOLE, SOME, EMPTY))]
    kinds = alt.Chart(alt.InlineData(names)).transform_calculate(
        x=f"width > {ACROSS} ? {ACROSS + 34} : 8", y=f"datum.down + (width > {ACROSS} ? 110 : -64)"
    )
    at = {"x": alt.X("x:Q", scale=None), "y": alt.Y("y:Q", scale=None)}
    squares = kinds.mark_square(size=180, opacity=1, stroke="currentColor", strokeOpacity=0.3)
    named = kinds.mark_text(align="left", baseline="middle", dx=14).encode(**at, text="kind:N")
    return squares.encode(**at, **_look()), named


def _summary(cells: alt.Chart) -> alt.Chart:
    """How many of the tiles are computed, and how much of that is needed."""
    return (
        cells.transform_calculate(computed="datum.seen > 0 ? 1 : 0", whole=f"datum.kind == '{WHOLE}' ? 1 : 0")
        .transform_aggregate(computed="sum(computed)", whole="sum(whole)", pairs="sum(seen)", every="count()")
        .transform_calculate(
            readout="['computed: ' + datum.computed + ' of ' + datum.every + ' tiles, '"
            " + format(100 * datum.computed / datum.every, '.0f') + ' %',"
            f" 'pairs that may look: ' + format(100 * datum.pairs / {PLACES**2}, '.0f') + ' %',"
            " 'whole tiles: ' + datum.whole]"
        )
    )
