"""The chart: what a decay leaves of a word in the state."""

import altair as alt

from bookkit.pictures.charts import readout, slider

WORDS = 64
DESCRIPTION = (
    "A curve that begins at 1 and falls: what is left of a word in the state, by how many words were read "
    "since. A slider sets the decay, from 0.5 to 1. A point marks where a half is left: at 0.9 after between "
    "six and seven words. At 1 nothing is ever lost."
)


def fading() -> alt.TopLevelMixin:
    """`fading()` shows what is left of a word by a decay of one's choice."""
    decay = slider("decay", "decay γ", 0.5, 1, step=0.01, value=0.9)
    left = alt.Y("left:Q", title="what is left", scale=alt.Scale(domain=[0, 1.05]))
    later = alt.X("later:Q", title="words later", scale=alt.Scale(domain=[0, WORDS]))
    curve = (
        alt.Chart(alt.sequence(0, WORDS + 1, as_="later"))
        .transform_calculate(left="pow(decay, datum.later)")
        .mark_line(point=True)
        .encode(x=later, y=left)
    )
    half = (
        alt.Chart(alt.sequence(0, 1, as_="one"))
        .transform_calculate(later="decay < 1 ? log(0.5) / log(decay) : -1", left="0.5")
        .transform_calculate(
            readout=f"['after 20 words ' + format(pow(decay, 20), '.2f') + ' is left,',"
            f" datum.later < 0 ? 'and nothing is ever lost'"
            f" : datum.later > {WORDS} ? 'a half after more than {WORDS}'"
            " : 'a half after ' + format(datum.later, '.1f')]"
        )
    )
    seen = f"datum.later >= 0 && datum.later <= {WORDS}"
    point = half.transform_filter(seen).mark_point(filled=True, size=110).encode(x=later, y=left)
    return (
        alt.layer(curve, point, readout(half, "right", y=0, dy=4))
        .add_params(decay)
        .properties(width=420, height=220, description=DESCRIPTION)
    )
