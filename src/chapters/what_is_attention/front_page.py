"""The chart of the front page: the chapter's one idea, as one query over four words."""

import altair as alt

from bookkit.pictures.charts import readout, slider, softmax

# Each word's key is an arrow of length 1, at this many degrees; its value is how many legs the animal has.
ANIMALS = {"snake": (0, 0), "bird": (30, 2), "dog": (60, 4), "spider": (90, 8)}
# From top to bottom: the arrows, in a quarter of a circle, and the bars. In pixels.
ARROWS, ACROSS, BARS = (34, 184), (16, 166), (226, 316)
DESCRIPTION = (
    "Above, arrows from one point: a query, and the keys of the words snake (0 legs), bird (2), dog (4) and "
    "spider (8), which point at 0, 30, 60 and 90 degrees. The more weight the query gives to a word, the "
    "thicker its arrow; four bars beneath show the weights. One slider turns the query, the other multiplies "
    "its scores. The output stands beside the arrows: the legs, mixed by the weights. Multiplied by 0, all "
    "weights are equal and the output is 3.50 legs, whatever the query. Multiplied by 100, the word that "
    "points nearest to the query has almost all of the weight, and the output is its number of legs."
)


def soft_look_up() -> alt.TopLevelMixin:
    """`soft_look_up()` shows one query over four words: it turns, and its scores grow.

    The query is an arrow of length 1 too, so that a score before scaling is the cosine between the two.
    """
    degrees = slider("degrees", "where the query points, in degrees", 0, 90, step=5, value=50)
    factor = slider("factor", "scores are multiplied by", 0, 100, step=5, value=20)
    words = [{"word": word, "angle": angle, "legs": legs} for word, (angle, legs) in ANIMALS.items()]
    weights = softmax(
        alt.Chart(alt.InlineData(words)), score="factor * cos((degrees - datum.angle) * PI / 180)"
    )
    query = alt.Chart(alt.sequence(0, 1, as_="angle")).transform_calculate(
        angle="degrees", word="'query'", weight="0.3"
    )
    summary = (
        weights.transform_calculate(part="datum.weight * datum.legs")
        .transform_aggregate(output="sum(part)", largest="max(weight)")
        .transform_calculate(
            readout="['query at ' + degrees + '°, scores × ' + factor,"
            " 'largest weight ' + format(datum.largest, '.2f'),"
            " 'output ' + format(datum.output, '.2f') + ' legs']"
        )
    )
    return (
        alt.layer(
            _bars(weights), _arrows(weights, "key"), _arrows(query, "query"), readout(summary, "right", y=0)
        )
        .resolve_scale(x="independent", y="independent")
        .add_params(degrees, factor)
        .properties(width=480, height=BARS[1], description=DESCRIPTION)
    )


def _arrows(rows: alt.Chart, role: str) -> alt.LayerChart:
    """From one point, each in its direction: the heavier, the thicker and the stronger."""
    turned = rows.transform_calculate(
        role=f"'{role}'",
        x="cos(datum.angle * PI / 180)",
        y="sin(datum.angle * PI / 180)",
        # A hand's breadth beyond the tip, and the head turned from upright.
        beyond_x="1.09 * datum.x",
        beyond_y="1.09 * datum.y",
        turn="90 - datum.angle",
    )

    def across(field: str) -> alt.X:
        return alt.X(field, axis=None, scale=alt.Scale(domain=[0, 1], range=list(ACROSS)))

    def up(field: str) -> alt.Y:
        return alt.Y(field, axis=None, scale=alt.Scale(domain=[0, 1], range=list(reversed(ARROWS))))

    colour = alt.Color("role:N", legend=None, scale=alt.Scale(domain=["query", "key"]))
    strength = alt.Opacity(
        "weight:Q", legend=None, scale=alt.Scale(domain=[0, 0.3], range=[0.35, 1], clamp=True)
    )
    shafts = turned.mark_rule(aria=False).encode(
        x=across("x:Q"), y=up("y:Q"), x2=alt.datum(0), y2=alt.datum(0), color=colour, opacity=strength,
        strokeWidth=alt.StrokeWidth("weight:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[1.5, 8])),
    )  # fmt: skip
    heads = turned.mark_point(shape="triangle", filled=True, size=110, aria=False).encode(
        x=across("x:Q"), y=up("y:Q"), angle=alt.Angle("turn:Q", scale=None), color=colour, opacity=strength
    )
    names = turned.mark_text(align="left", baseline="middle", dx=2).encode(
        x=across("beyond_x:Q"), y=up("beyond_y:Q"), text="word:N", color=colour
    )
    return alt.LayerChart(layer=[shafts, heads, names])


def _bars(weights: alt.Chart) -> alt.LayerChart:
    """A bar for each word, its number above it and its name beneath."""
    named = weights.transform_calculate(label="[datum.word, datum.angle + '°', datum.legs + ' legs']")
    axis = alt.Axis(grid=False, domain=False, values=[0, 0.5, 1])
    bars = named.mark_bar(width={"band": 0.7}).encode(
        x=alt.X("word:N", sort=list(ANIMALS), title=None, axis=alt.Axis(labels=False, ticks=False)),
        y=alt.Y(
            "weight:Q",
            title="weight",
            axis=axis,
            scale=alt.Scale(domain=[0, 1], range=list(reversed(BARS))),
        ),
    )
    numbers = bars.mark_text(dy=-8).encode(text=alt.Text("weight:Q", format=".2f"))
    names = bars.mark_text(baseline="top", lineHeight=17, dy=8).encode(y=alt.datum(0), text="label:N")
    return alt.LayerChart(layer=[bars, numbers, names])
