"""The chart of a soft dictionary: three keys on a line, and a query that moves over them."""

import altair as alt

from bookkit.pictures.charts import readout, slider, softmax

# Visitors counted in a museum, by the hour.
VISITORS = {10: 20, 13: 80, 16: 50}

SCALE = "bars: weight (%) · curve: visitors"
HOUR = alt.X(
    "key:Q",
    title="hour",
    scale=alt.Scale(domain=[9, 17], nice=False),
    axis=alt.Axis(values=list(range(9, 18)), grid=False, format="d"),
)
ASKED = alt.X("asked:Q", title="hour")
DESCRIPTION = (
    "Three keys on a line: 20 visitors at 10 o'clock, 80 at 13 and 50 at 16. A slider moves the query "
    "from 9 to 17, another the temperature from 1/32 to 32. Bars show the weight of each key, a curve "
    "the answer to every query, and a dot the answer to the present one. At a low temperature one bar "
    "has everything and the curve is a staircase of the three values; at a high one the bars are almost "
    "equal and the curve almost flat, near their mean, 50. In between it glides from value to "
    "value and never leaves their range."
)


def soft_dictionary() -> alt.TopLevelMixin:
    """`soft_dictionary()` asks three keys on a line: weights as bars, answers to every query as a curve.

    One slider moves the query, the other the temperature.
    """
    query = slider("query", "query (o'clock)", 9, 17, step=0.25, value=14)
    exponent = slider("exponent", "temperature, as a power of 2", -5, 5, step=1, value=0)
    temperature = alt.param(name="temperature", expr="pow(2, exponent)")
    weights = _weights()
    answer = _answer(weights)
    words = readout(_summary(answer), "right", y=0, dy=2)
    return (
        alt.layer(_bars(weights), _curve(), _stem(answer), _values(weights), _point(answer), words)
        .add_params(query, exponent, temperature)
        .properties(width=480, height=300, description=DESCRIPTION)
    )


def _series(name: str) -> alt.Color:
    """`_series("answer")` gives a mark the second of the page's colours; "weight" has the first."""
    order = ["weight", "answer"]
    return alt.Color(f"{name}_series:N", scale=alt.Scale(domain=order), legend=None)


def _weights() -> alt.Chart:
    keys = alt.InlineData([{"key": hour, "value": value} for hour, value in VISITORS.items()])
    return (
        softmax(alt.Chart(keys), score="-abs(query - datum.key) / temperature")
        .transform_calculate(percent="100 * datum.weight")
        .transform_calculate(weight_series="'weight'", answer_series="'answer'")
    )


def _bars(weights: alt.Chart) -> alt.Chart:
    # The room above 100 is for the readout.
    scale = alt.Scale(domain=[0, 150], nice=False)
    axis = alt.Axis(values=[0, 20, 40, 60, 80, 100])
    return weights.mark_bar(size=22, opacity=0.8).encode(
        x=HOUR, y=alt.Y("percent:Q", title=SCALE, scale=scale, axis=axis), color=_series("weight")
    )


def _values(weights: alt.Chart) -> alt.Chart:
    return weights.mark_point(size=70, filled=False, strokeWidth=2).encode(
        x=HOUR, y=alt.Y("value:Q", title=SCALE), color=_series("answer")
    )


def _curve() -> alt.Chart:
    """The same steps for every query from 9 to 17: each meets the three keys."""
    hours, visitors = list(VISITORS), list(VISITORS.values())
    return (
        alt.Chart(alt.sequence(9, 17.05, 0.1, as_="asked"))
        .transform_calculate(hour=str(hours), visitors=str(visitors))
        .transform_flatten(["hour", "visitors"])
        .transform_calculate(score="-abs(datum.asked - datum.hour) / temperature")
        .transform_joinaggregate(highest="max(score)", groupby=["asked"])
        .transform_calculate(power="exp(datum.score - datum.highest)")
        .transform_calculate(part="datum.power * datum.visitors")
        .transform_aggregate(parts="sum(part)", powers="sum(power)", groupby=["asked"])
        .transform_calculate(curve="datum.parts / datum.powers", answer_series="'answer'")
        .mark_line()
        .encode(x=ASKED, y=alt.Y("curve:Q", title=SCALE), color=_series("answer"))
    )


def _answer(weights: alt.Chart) -> alt.Chart:
    return weights.transform_calculate(
        part="datum.weight * datum.value", listed="format(datum.percent, '.1f')"
    ).transform_aggregate(answer="sum(part)", largest="max(weight)", shares="values(listed)")


def _here(answer: alt.Chart) -> alt.Chart:
    return answer.transform_calculate(asked="query", floor="0", answer_series="'answer'")


def _point(answer: alt.Chart) -> alt.Chart:
    return (
        _here(answer)
        .mark_point(size=150, filled=True, opacity=1)
        .encode(x=ASKED, y=alt.Y("answer:Q", title=SCALE), color=_series("answer"))
    )


def _stem(answer: alt.Chart) -> alt.Chart:
    return (
        _here(answer)
        .mark_rule(strokeDash=[4, 4])
        .encode(x=ASKED, y=alt.Y("floor:Q", title=SCALE), y2=alt.Y2("answer:Q"), color=_series("answer"))
    )


def _summary(answer: alt.Chart) -> alt.Chart:
    return answer.transform_calculate(
        readout="['query ' + format(query, '.2f') + ', temperature ' + format(temperature, '.4~g'),"
        " 'weights ' + join(pluck(datum.shares, 'listed'), ', ') + ' %',"
        " 'answer ' + format(datum.answer, '.1f') + ' visitors',"
        " 'largest weight ' + format(100 * datum.largest, '.1f') + ' %']"
    )
