"""The chart of one sentence under a mask: what is hidden, and where the weight goes."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

# A row for each query, a column for each key: made up, in halves.
SCORES = (
    (1.0, 0.5, 0.0, 1.5, 0.5, 1.0),
    (2.0, 1.0, 0.5, 0.0, 1.0, 1.5),
    (0.0, 2.0, 1.0, 1.5, 0.5, 0.0),
    (0.5, 0.0, 2.0, 1.0, 1.5, 2.0),
    (1.0, 1.5, 0.0, 2.0, 1.0, 0.5),
    (0.0, 1.0, 1.5, 0.5, 2.0, 1.0),
)
PLACES = len(SCORES)
MASKS = ["none", "padding", "causal", "both"]
SIDES = ["at the end", "at the front"]
DESCRIPTION = (
    "A table of six queries and six keys, each cell with its weight in percent. A slider sets how many of "
    "the six places are words; the others are filler, at the end or at the front. A choice hides nothing, "
    "the filler, what comes later, or both. Hidden cells are empty and rows share out what is left. "
    "Without a mask, filler gets about its share of the places. With both masks, and filler at the front, "
    "the rows of the filler may look at nothing: they are empty and sum to 0."
)


def who_may_look() -> alt.TopLevelMixin:
    """`who_may_look()` shows the weights of one sentence of up to six words, under a mask of one's choice."""
    words = slider("words", "words among the six places", 1, PLACES, step=1, value=4)
    mask = choice("mask", "mask", MASKS, value="none")
    side = choice("side", "filler stands", SIDES, value="at the end")
    weights = _weights()
    return (
        alt.layer(_cells(weights), _percents(weights), readout(_summary(weights), "left", y=-58, dy=2))
        .add_params(words, mask, side)
        .properties(width=420, height=240, description=DESCRIPTION)
    )


def _weights() -> alt.Chart:
    """Each pair of a query and a key, with its weight: 0 where the mask hides it, and in an empty row."""
    pairs = [
        {"query": i, "key": j, "score": score}
        for i, row in enumerate(SCORES, 1)
        for j, score in enumerate(row, 1)
    ]
    filler = f"(side == 'at the end' ? datum.key > words : datum.key <= {PLACES} - words)"
    return (
        alt.Chart(alt.InlineData(pairs))
        .transform_calculate(filler=f"{filler} ? 1 : 0", later="datum.key > datum.query ? 1 : 0")
        .transform_calculate(
            hidden="((mask == 'padding' || mask == 'both') && datum.filler)"
            " || ((mask == 'causal' || mask == 'both') && datum.later) ? 1 : 0"
        )
        .transform_calculate(power="datum.hidden ? 0 : exp(datum.score)")
        .transform_joinaggregate(total="sum(power)", groupby=["query"])
        .transform_calculate(weight="datum.total > 0 ? datum.power / datum.total : 0")
        .transform_calculate(
            label="datum.hidden ? '' : format(100 * datum.weight, '.0f')",
            kind="datum.filler ? 'filler' : 'word'",
        )
    )


def _cells(weights: alt.Chart) -> alt.Chart:
    # A colour by kind, which the readout and the stroke say as well: filler's cells are orange.
    colour = alt.Color("kind:N", scale=alt.Scale(domain=["word", "filler"]), legend=None)
    size = alt.Opacity("weight:Q", scale=alt.Scale(domain=[0, 1], range=[0.04, 0.9]), legend=None)
    return weights.mark_rect(stroke="currentColor", strokeOpacity=0.25).encode(
        x=alt.X("key:O", title="key: looked at (orange: filler)", axis=alt.Axis(labelAngle=0)),
        y=alt.Y("query:O", title="query: looks"),
        color=colour,
        opacity=size,
    )


def _percents(weights: alt.Chart) -> alt.Chart:
    return weights.mark_text().encode(x=alt.X("key:O"), y=alt.Y("query:O"), text="label:N")


def _summary(weights: alt.Chart) -> alt.Chart:
    return (
        weights.transform_calculate(
            on_filler="datum.weight * datum.filler", on_later="datum.weight * datum.later"
        )
        .transform_aggregate(on_filler="sum(on_filler)", on_later="sum(on_later)", everything="sum(weight)")
        .transform_calculate(
            readout=f"['weight on filler ' + format(100 * datum.on_filler / {PLACES}, '.0f') + ' %, '"
            f" + 'on later places ' + format(100 * datum.on_later / {PLACES}, '.0f') + ' %',"
            f" 'rows that may look at nothing: ' + format({PLACES} - datum.everything, '.0f')]"
        )
    )
