"""The chart of a trained layer: where each of its heads looks."""

import altair as alt

from bookkit.pictures.charts import choice, readout

# One table of the chapter: who sits where. And the weights of a trained layer's four heads, in per cent,
# eight for each guest who asks.
GUESTS = ["Dan", "Gus", "Hal", "Finn", "Gus", "Gus", "Ann", "Bob"]
_ROWS = (
    "5 1 1 0 0 6 3 84 95 1 0 0 0 0 0 4 5 93 1 0 0 0 1 0 1 4 92 0 0 0 1 1 "
    "0 1 3 95 1 0 0 0 1 0 0 3 94 2 0 0 0 0 0 0 2 98 0 0 0 3 0 0 0 7 89 0",
    "0 97 2 1 0 0 0 0 0 0 99 1 0 0 0 1 0 0 1 98 0 0 1 0 0 0 0 2 95 3 0 0 "
    "0 0 0 0 1 97 2 0 0 0 1 1 0 0 94 5 1 0 1 0 0 0 1 97 94 4 0 0 0 0 0 2",
    "0 1 22 0 0 1 76 1 0 0 1 13 2 0 2 82 77 2 0 0 20 0 0 0 4 83 1 0 0 11 1 0 "
    "0 0 90 0 0 1 8 0 1 0 1 75 2 0 0 21 20 0 0 1 78 0 0 1 1 16 2 0 0 81 1 0",
    "0 0 93 0 0 1 0 5 3 0 0 91 1 5 0 0 1 0 0 0 95 0 1 2 1 0 0 1 0 98 0 0 "
    "0 3 0 0 1 0 96 0 0 0 3 0 1 0 0 96 94 0 0 3 0 3 0 0 0 99 0 0 0 0 1 0",
)
PERCENT = [[int(number) for number in row.split()] for row in _ROWS]

MEAN = "their mean"
DESCRIPTION = (
    "A grid of the weights of eight guests on eight guests: a row for who asks, a column for who is looked "
    "at, the darker the larger the weight. A choice shows one of four heads, or the mean of all four. Each "
    "head is one dark diagonal, a fixed number of seats away from the guest who asks. In the mean four pale "
    "diagonals lie over one another."
)


def heads() -> alt.TopLevelMixin:
    """`heads()` shows one head at a time, or the mean of all."""
    options = [f"head {head}" for head in range(1, len(PERCENT) + 1)]
    chosen = choice("chosen", "show", [*options, MEAN], value=options[0])
    count, seats = len(GUESTS), [f"{seat} {name}" for seat, name in enumerate(GUESTS, start=1)]
    shown = (
        alt.Chart(alt.sequence(0, len(PERCENT) * count**2, as_="cell"))
        .transform_calculate(
            head=f"floor(datum.cell / {count**2})",
            asks=f"floor(datum.cell % {count**2} / {count})",
            seen=f"datum.cell % {count}",
        )
        .transform_calculate(part=f"percent[datum.head][datum.cell % {count**2}] / 100")
        .transform_filter(f"chosen == '{MEAN}' || chosen == 'head ' + (datum.head + 1)")
        .transform_aggregate(weight="mean(part)", groupby=["asks", "seen"])
        .transform_calculate(
            asker=f"{seats}[datum.asks]",
            guest=f"{seats}[datum.seen]",
            # How many seats to the right, from -3 to 4.
            away=f"(datum.seen - datum.asks + {count + 3}) % {count} - 3",
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
        .add_params(chosen, alt.param(name="percent", value=PERCENT))
        .properties(width=360, height=280, description=DESCRIPTION)
    )
