"""The chart of the front page: one query over four words."""

import altair as alt

from bookkit.charts import readout, slider, softmax

# Each word's key is an arrow of length 1, at this many degrees; its value is how many legs the animal has.
ANIMALS = {"snake": (0, 0), "bird": (30, 2), "dog": (60, 4), "spider": (90, 8)}
DESCRIPTION = (
    "Four bars, the weights that one query gives to the words snake (0 legs), bird (2), dog (4) and "
    "spider (8), which point at 0, 30, 60 and 90 degrees. One slider turns the query, the other "
    "multiplies its scores. The output stands above the bars: the legs, mixed by the weights. Multiplied "
    "by 0, all weights are equal and the output is 3.50 legs, whatever the query. Multiplied by 100, the "
    "word that points nearest to the query has almost all of the weight, and the output is its number of "
    "legs."
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
    ).transform_calculate(label="[datum.word, datum.angle + '°', datum.legs + ' legs']")
    # Above the bars there is room for their numbers and for the readout.
    scale = alt.Scale(domain=[0, 1.5])
    axis = alt.Axis(grid=False, domain=False, values=[0, 0.5, 1])
    bars = weights.mark_bar(width={"band": 0.7}).encode(
        x=alt.X("word:N", sort=list(ANIMALS), title=None, axis=alt.Axis(labels=False, ticks=False)),
        y=alt.Y("weight:Q", title="weight", scale=scale, axis=axis),
    )
    numbers = bars.mark_text(dy=-8).encode(text=alt.Text("weight:Q", format=".2f"))
    names = bars.mark_text(baseline="top", lineHeight=17, dy=8).encode(y=alt.datum(0), text="label:N")
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
        alt.layer(bars, numbers, names, readout(summary, "right", y=0, dy=4))
        .add_params(degrees, factor)
        .properties(width=480, height=240, description=DESCRIPTION)
    )
