"""The chart of what the scale of the scores does to the softmax."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider, softmax

# The dot products of one query with 16 keys, divided by √d_k: 16 draws from N(0, 1), the highest first.
STANDARD_SCORES = (
    1.24, 1.12, 0.85, 0.69, 0.35, 0.32, 0.31, 0.12, -0.25, -0.25, -0.32, -0.43, -1.13, -1.15, -1.26, -2.12,
)  # fmt: skip
DESCRIPTION = (
    "Bars for the softmax weights of 16 keys, the highest score first, between 0 and 1. One slider sets "
    "d_k from 1 to 1024; a choice divides the scores by nothing, by √d_k or by d_k. Undivided, the first "
    "bar swallows the others as d_k grows: at 64 it holds most of the weight. Divided by √d_k, the bars "
    "are the same at every d_k. Divided by d_k, they become equal."
)


def softmax_saturation() -> alt.TopLevelMixin:
    """`softmax_saturation()` shows the weights of 16 keys as d_k grows, with the scores divided or not.

    The keys keep their places and their standardised scores; only the scale of the scores changes.
    """
    exponent = slider("exponent", "d_k, as a power of 2", 0, 10, step=1, value=6)
    divisor = choice("divisor", "scores are divided by", ["1 (nothing)", "√d_k", "d_k"], value="1 (nothing)")
    d_k = alt.param(name="d_k", expr="pow(2, exponent)")
    divide_by = alt.param(name="divide_by", expr="{'1 (nothing)': 1, '√d_k': sqrt(d_k), 'd_k': d_k}[divisor]")

    keys = [{"key": place, "standard": score} for place, score in enumerate(STANDARD_SCORES, start=1)]
    weights = softmax(alt.Chart(alt.InlineData(keys)), score="datum.standard * sqrt(d_k) / divide_by")
    bars = weights.mark_bar().encode(
        x=alt.X("key:O", title="key, from the highest score to the lowest", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("weight:Q", title="weight", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(grid=False)),
    )
    summary = (
        weights.transform_calculate(surprise="datum.weight > 0 ? -datum.weight * log(datum.weight) : 0")
        .transform_aggregate(largest="max(weight)", entropy="sum(surprise)", keys="count()")
        .transform_calculate(
            readout="['d_k = ' + d_k + ', scores divided by ' + format(divide_by, '.4~g'),"
            " 'largest weight ' + format(datum.largest, '.3f'),"
            " 'entropy ' + format(datum.entropy, '.2f') + ' nats of ' + format(log(datum.keys), '.2f')]"
        )
    )
    return (
        alt.layer(bars, readout(summary, "right", y=0, dy=4))
        .add_params(exponent, divisor, d_k, divide_by)
        .properties(width=480, height=200, description=DESCRIPTION)
    )
