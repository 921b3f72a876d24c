"""The chart of how far one output reaches, by layers, kernel and dilation."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

READERS = ("recurrence", "convolution", "attention")
WORDS, HIGHEST = 48, 6
# A place is so many words back from the last, at the outputs of a layer; the words themselves are layer 0.
# In base `growth`, with layer by layer one digit, the last output of the top layer hears the places whose
# digits are all less than the kernel; and every place up to `reach`, where no digit can be missed.
GAPS = "(growth == 1 ? above : (pow(growth, above) - 1) / (growth - 1))"
DIGITS = " && ".join(
    f"(floor(datum.quotient / pow(growth, {digit})) % growth) < kernel" for digit in range(HIGHEST)
)
HEARD = (
    "datum.layer <= layers && (reader != 'convolution' ? (datum.layer < layers || datum.back == 0)"
    " : datum.quotient == floor(datum.quotient) && datum.quotient <= datum.gaps * (kernel - 1)"
    f" && (kernel >= growth || ({DIGITS})))"
)
DESCRIPTION = (
    "Rows of dots: 48 words at the bottom, and above them the outputs of up to six layers. Filled are the "
    "dots that can move the last output of the top layer. A choice sets the reader; for a convolution, "
    "sliders set layers, kernel and how much the dilation grows by from layer to layer. Windows of two whose "
    "dilation doubles hear twice as many words with each layer. Recurrence and attention hear all the words "
    "with a single layer, the first in 47 steps from word to word and the second in one."
)


def reach() -> alt.TopLevelMixin:
    """`reach()` fills the dots that the last output hears."""
    reader = choice("reader", "reader", list(READERS), value="convolution")
    layers = slider("layers", "layers", 1, HIGHEST, step=1, value=4)
    kernel = slider("kernel", "words in a window", 2, 4, step=1, value=2)
    growth = slider("growth", "the dilation grows by", 1, 3, step=1, value=2)
    places = (
        alt.Chart(alt.sequence(0, WORDS * (HIGHEST + 1), as_="number"))
        .transform_calculate(back=f"datum.number % {WORDS}", layer=f"floor(datum.number / {WORDS})")
        .transform_filter("datum.layer <= layers")
        .transform_calculate(above="layers - datum.layer")
        .transform_calculate(
            quotient="datum.back / pow(growth, datum.layer)", gaps=GAPS.replace("above", "datum.above")
        )
        .transform_calculate(heard=HEARD, place=f"{WORDS} - datum.back")
    )
    dots = places.mark_point(filled=True, size=34, opacity=1).encode(
        x=alt.X(
            "place:Q",
            title="word",
            scale=alt.Scale(domain=[0.5, WORDS + 0.5], nice=False),
            axis=alt.Axis(grid=False, values=[1, 8, 16, 24, 32, 40, 48]),
        ),
        y=alt.Y(
            "layer:Q",
            title="layer",
            scale=alt.Scale(domain=[-0.3, HIGHEST + 0.3], nice=False),
            axis=alt.Axis(grid=False, values=list(range(HIGHEST + 1)), format="d"),
        ),
        opacity=alt.condition("datum.heard", alt.value(1), alt.value(0.14)),
    )
    said = (
        places.transform_filter("datum.layer == 0 && datum.heard")
        .transform_aggregate(count="count()", farthest="max(back)")
        .transform_calculate(
            holes="datum.farthest + 1 - datum.count",
            steps=f"reader == 'attention' ? layers : reader == 'recurrence' ? {WORDS - 2} + layers : layers",
        )
        .transform_calculate(
            readout="[reader + (reader == 'convolution' ? ', dilations 1' + (layers == 1 ? '' :"
            " ', ' + growth) + (layers < 3 ? '' : ', ' + pow(growth, 2) + (layers > 3 ? ', …' : '')) : ''),"
            f" 'hears ' + datum.count + ' of {WORDS} words, up to ' + datum.farthest + ' back'"
            " + (datum.holes > 0 ? ', with ' + datum.holes + ' holes' : ''),"
            " 'path: ' + datum.steps + (datum.steps == 1 ? ' step' : ' steps')]"
        )
    )
    return (
        alt.layer(dots, readout(said, "left", y=-58, baseline="bottom", line_height=18))
        .add_params(reader, layers, kernel, growth)
        .properties(width=560, height=190, description=DESCRIPTION)
    )
