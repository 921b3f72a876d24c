"""The chart of a trained layer: where each of its heads looks."""

from collections.abc import Sequence

import altair as alt
from torch import Tensor

from bookkit.charts import choice, readout

MEAN = "their mean"
DESCRIPTION = (
    "A grid of the weights of eight guests on eight guests: a row for who asks, a column for who is looked "
    "at, the darker the larger the weight. A choice shows one of four heads, or the mean of all four. Each "
    "head is one dark diagonal, a fixed number of seats away from the guest who asks. In the mean four pale "
    "diagonals lie over one another."
)


def heads(weights: Tensor, names: Sequence[str]) -> alt.TopLevelMixin:
    """`heads(weights, names)` shows one head at a time of (heads, guests, guests), or the mean of all."""
    options = [f"head {head}" for head in range(1, len(weights) + 1)]
    chosen = choice("chosen", "show", [*options, MEAN], value=options[0])
    seats = [f"{seat} {name}" for seat, name in enumerate(names, start=1)]
    rows = [
        {"head": head, "asks": i, "seen": j, "part": round(weight, 2)}
        for head, table in zip(options, weights.tolist(), strict=True)
        for i, line in enumerate(table)
        for j, weight in enumerate(line)
    ]
    shown = (
        alt.Chart(alt.InlineData(rows))
        .transform_filter(f"chosen == '{MEAN}' || datum.head == chosen")
        .transform_aggregate(weight="mean(part)", groupby=["asks", "seen"])
        .transform_calculate(
            asker=f"{seats}[datum.asks]",
            guest=f"{seats}[datum.seen]",
            # How many seats to the right, from -3 to 4.
            away=f"(datum.seen - datum.asks + {len(names) + 3}) % {len(names)} - 3",
        )
    )
    place = {
        "x": alt.X("guest:N", title="is looked at", sort=seats, axis=alt.Axis(labelAngle=-40)),
        "y": alt.Y("asker:N", title="asks", sort=seats),
    }
    ground = shown.mark_rect(stroke=None).encode(
        **place, opacity=alt.Opacity("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.03, 1]), legend=None)
    )
    summary = (
        shown.transform_aggregate(weight="mean(weight)", groupby=["away"])
        .transform_window(place="row_number()", sort=[alt.SortField("weight", order="descending")])
        .transform_filter("datum.place == 1")
        .transform_calculate(side="datum.away < 0 ? 'left' : 'right'")
        .transform_calculate(
            readout="[chosen + ': most weight ' + abs(datum.away) + ' to the ' + datum.side,"
            " 'on average ' + format(datum.weight, '.2f')]"
        )
    )
    return (
        alt.layer(ground, readout(summary, "left", y=-46))
        .add_params(chosen)
        .properties(width=360, height=280, description=DESCRIPTION)
    )
