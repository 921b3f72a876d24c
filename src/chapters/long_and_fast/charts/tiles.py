"""The chart of a table of scores that is filled in tile by tile, and never there as a whole."""

import altair as alt
import torch

from attnlab.runtime import generator
from bookkit.pictures.charts import choice, readout, slider

LENGTH, TILE = 6, 2  # with more, a phone has no room for the numbers
ACROSS = LENGTH // TILE  # tiles in a row
TILES = ACROSS**2
NONE, CAUSAL = "nothing hidden", "causal"
_NEVER = -99  # stands for minus infinity, which JSON does not have
COLUMNS = (6.6, 7.75, 8.9, 10.0)  # where maximum, sum, output so far and in the end stand
DESCRIPTION = (
    "An empty table of six queries by six keys, and a slider for the number of 2 × 2 tiles that were "
    "seen, from 0 to 9, row of tiles by row of tiles. Each step writes four scores into the table. Beside "
    "every query stand its maximum so far, its sum of exponentials, the output so far, and the output in "
    "the end, which it reaches with the last tile of its row. A switch hides later keys: tiles above the "
    "diagonal then stay empty."
)


def numbers() -> tuple[torch.Tensor, torch.Tensor]:
    """`scores, values = numbers()` are (6, 6) and (6,), in tenths: as they stand in the chart."""
    scores = torch.randn(LENGTH, LENGTH, generator=generator(38), device="cpu")
    values = 10 * torch.rand(LENGTH, generator=generator(1), device="cpu")
    return (1.5 * scores).mul(10).round() / 10 + 0.0, values.round()  # + 0: no negative zero


def filling() -> alt.TopLevelMixin:
    """`filling()` shows what is known of each query after so many tiles."""
    scores, values = numbers()
    step = slider("step", "tiles seen", 0, TILES, step=1, value=5)
    mask = choice("mask", "hidden", [NONE, CAUSAL], value=NONE)
    kept = f"? datum.score : {_NEVER}"
    cells = (
        alt.Chart(alt.sequence(0, LENGTH**2, as_="cell"))
        .transform_calculate(row=f"floor(datum.cell / {LENGTH})", column=f"datum.cell % {LENGTH}")
        .transform_calculate(
            score="scores[datum.cell]",
            tile=f"floor(datum.row / {TILE}) * {ACROSS} + floor(datum.column / {TILE})",
            visible=f"mask == '{NONE}' || datum.column <= datum.row",
            below="datum.row + 1",
            right="datum.column + 1",
        )
        .transform_calculate(
            seen="datum.visible && datum.tile < step",
            now=f"datum.visible && datum.tile < step {kept}",
            before=f"datum.visible && datum.tile < step - 1 {kept}",
            ever=f"datum.visible {kept}",
        )
        .transform_joinaggregate(
            highest="max(now)", highest_before="max(before)", highest_ever="max(ever)", groupby=["row"]
        )
        .transform_calculate(
            weight="datum.seen ? exp(datum.score - datum.highest) : 0",
            last="datum.visible ? exp(datum.score - datum.highest_ever) : 0",
        )
        .transform_calculate(
            mixed="datum.weight * values[datum.column]", mixed_last="datum.last * values[datum.column]"
        )
        .transform_joinaggregate(
            total="sum(weight)",
            mixed_all="sum(mixed)",
            total_last="sum(last)",
            mixed_in_the_end="sum(mixed_last)",
            groupby=["row"],
        )
    )
    x = alt.X("column:Q", axis=None, scale=alt.Scale(domain=[-0.7, 10.6], nice=False, zero=False))
    y = alt.Y("row:Q", axis=None, scale=alt.Scale(domain=[LENGTH, -0.8], nice=False, zero=False))
    corner = {"x": x, "y": y, "x2": "right:Q", "y2": "below:Q"}
    frames = cells.mark_rect(fill=None, stroke="grey", strokeOpacity=0.35).encode(**corner)
    filled = cells.transform_filter("datum.seen")
    ground = (
        filled.transform_calculate(share="datum.weight / datum.total")
        .mark_rect(stroke=None)
        .encode(
            **corner,
            opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0.08, 0.6]), legend=None),
        )
    )
    written = (
        filled.transform_calculate(
            x="datum.column + 0.5", y="datum.row + 0.5", words="format(datum.score, '.1f')"
        )
        .mark_text(fontSize=12)
        .encode(x="x:Q", y="y:Q", text="words:N")
    )
    current = (
        cells.transform_filter("datum.tile == step - 1")
        .transform_aggregate(
            left="min(column)", right="max(right)", top="min(row)", below="max(below)", groupby=["tile"]
        )
        .mark_rect(fill=None, strokeWidth=2.5, stroke="#c04a00")
        .encode(x=alt.X("left:Q"), x2="right:Q", y=alt.Y("top:Q"), y2="below:Q")
    )
    told = cells.transform_filter("datum.column == 0").transform_calculate(y="datum.row + 0.5")
    known = "datum.total == 0 ? '–' : "
    columns = [
        told.transform_calculate(words=words, x=str(place))
        .mark_text(fontSize=12)
        .encode(x="x:Q", y="y:Q", text="words:N")
        for place, words in zip(
            COLUMNS,
            (
                known + "format(datum.highest, '.1f')",
                known + "format(datum.total, '.2f')",
                known + "format(datum.mixed_all / datum.total, '.2f')",
                "format(datum.mixed_in_the_end / datum.total_last, '.2f')",
            ),
            strict=True,
        )
    ]
    names = (
        told.transform_calculate(words="'q' + (datum.row + 1)", x="-0.5")
        .mark_text(fontSize=12)
        .encode(x="x:Q", y="y:Q", text="words:N")
    )
    headings = (
        alt.Chart(alt.sequence(0, LENGTH + len(COLUMNS), as_="place"))
        .transform_calculate(
            x=f"datum.place < {LENGTH} ? datum.place + 0.5 : {list(COLUMNS)}[datum.place - {LENGTH}]",
            y="-0.4",
            words=f"datum.place < {LENGTH} ? 'k' + (datum.place + 1) : "
            f"['max', 'sum', 'now', 'end'][datum.place - {LENGTH}]",
        )
        .mark_text(fontSize=12)
        .encode(x="x:Q", y="y:Q", text="words:N")
    )
    return (
        alt.layer(
            frames, ground, written, current, names, *columns, headings,
            readout(_said(cells), "left", y="height", dy=6),
        )
        .add_params(
            step,
            mask,
            alt.param(name="scores", value=[round(each, 1) for each in scores.flatten().tolist()]),
            alt.param(name="values", value=values.tolist()),
        )
        .properties(width=500, height=210, description=DESCRIPTION)
    )  # fmt: skip


def _said(cells: alt.Chart) -> alt.Chart:
    """The one row whose `readout` tells what the latest tile has changed for each of its queries."""
    rows = range(TILE)
    first = f"floor((step - 1) / {ACROSS}) * {TILE}"  # the tile's first query
    left = f"((step - 1) % {ACROSS}) * {TILE}"
    of_rows = {
        f"{name}{row}": f"datum.row == {first} + {row} ? datum.{field} : {_NEVER}"
        for row in rows
        for name, field in (("after", "highest"), ("before", "highest_before"))
    }
    of_rows["fresh"] = "datum.seen && datum.tile == step - 1 ? 1 : 0"
    one = cells.transform_calculate(**of_rows).transform_aggregate(
        after0="max(after0)",
        before0="max(before0)",
        after1="max(after1)",
        before1="max(before1)",
        fresh="max(fresh)",
    )
    told = [
        f"'q' + ({first} + {row + 1}) + ': ' + "
        f"(datum.before{row} == {_NEVER} ? 'its first tile, max ' + format(datum.after{row}, '.1f') : "
        f"datum.after{row} > datum.before{row} ? "
        f"'max ' + format(datum.before{row}, '.1f') + ' → ' + format(datum.after{row}, '.1f') + "
        f"', so sum × ' + format(exp(datum.before{row} - datum.after{row}), '.2f') : "
        f"'max stays ' + format(datum.after{row}, '.1f') + ', nothing rescaled')"
        for row in rows
    ]
    tile = (
        f"'tile ' + step + ' of {TILES}: q' + ({first} + 1) + ' and q' + ({first} + 2) + "
        f"', k' + ({left} + 1) + ' and k' + ({left} + 2)"
    )
    return one.transform_calculate(
        readout=f"step == 0 ? ['nothing seen yet', '', ''] : datum.fresh == 0 ? "
        f"[{tile}, 'all hidden, so it is skipped', ''] : [{tile}, {', '.join(told)}]"
    )
