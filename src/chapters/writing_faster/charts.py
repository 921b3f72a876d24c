"""The chart: what guesses would gain, by how good and how cheap the model is that makes them."""

import altair as alt

from bookkit.pictures.charts import readout, slider

MOST = 8  # guesses at a time
LINES = ("pieces written", "cost")
DESCRIPTION = (
    "Two lines against the guesses at a time, from none to eight: the pieces that a reading of the large "
    "model writes, and what it costs with its guesses, both 1 where nothing is guessed. The pieces rise less "
    "and less, the cost in a straight line. A dashed line stands at the guesses that are made. Sliders set "
    "the chance that a guess is kept, the guesses at a time, and what each adds to the cost. At 0.53, four "
    "guesses and 0.55, a reading writes 2.04 pieces and costs 3.2; at 0.05 it costs 1.2."
)


def gain() -> alt.TopLevelMixin:
    """`gain()` shows pieces and cost of a reading, for a draft model as good and as cheap as is chosen."""
    chance = slider("chance", "chance that a guess is kept", 0, 0.99, step=0.01, value=0.53)
    guesses = slider("guesses", "guesses at a time", 0, MOST, step=1, value=4)
    cost = slider("cost", "cost of a guess", 0, 1, step=0.01, value=0.55)
    each = alt.Chart(alt.sequence(0, MOST + 1, as_="many")).transform_calculate(
        written="(1 - pow(chance, datum.many + 1)) / (1 - chance)", cost="1 + datum.many * cost"
    )
    across = alt.X("many:Q", title="guesses at a time", axis=alt.Axis(grid=False, tickCount=MOST, format="d"))
    names, legend = alt.Scale(domain=list(LINES)), alt.Legend(orient="bottom")
    lines = (
        each.transform_fold(["written", "cost"], as_=["which", "size"])
        .transform_calculate(name=f"datum.which == 'cost' ? '{LINES[1]}' : '{LINES[0]}'")
        .mark_line(point=True)
        .encode(
            x=across,
            y=alt.Y("size:Q", title="for each reading", scale=alt.Scale(domain=[0, MOST + 1])),
            color=alt.Color("name:N", title=None, scale=names, legend=legend),
            shape=alt.Shape("name:N", title=None, scale=names, legend=legend),
        )
    )
    now = each.transform_filter("datum.many == guesses")
    rule = now.mark_rule(strokeDash=[5, 4]).encode(x=across)
    told = now.transform_calculate(
        readout="[format(datum.written, '.2f') + ' pieces a reading, at a cost of '"
        " + format(datum.cost, '.2f'), format(datum.written / datum.cost, '.2f') + ' times as fast']"
    )
    return (
        alt.layer(rule, lines, readout(told, "left", y=-48, baseline="bottom", line_height=18))
        .add_params(chance, guesses, cost)
        .properties(width=480, height=240, description=DESCRIPTION)
    )
