"""The chart of ragged reviews in rows of one length."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

# The first ten reviews of the IMDB data set as Keras gives it, in tokens.
FAMOUS_LENGTHS = (218, 189, 141, 550, 147, 43, 123, 562, 233, 130)
PARTS = ["kept", "cut off", "padding"]
COLOUR = alt.Color("part:N", scale=alt.Scale(domain=PARTS), legend=None)
DESCRIPTION = (
    "Ten reviews as bars, fitted into rows of one length, which a slider sets from 20 to 600. A short "
    "review is filled up with padding, a long one is cut; two choices say at which end. At 500, two "
    "of the ten are cut and lose 4.8 % of all tokens, while more than half of the array is padding. "
    "Shorter rows have less padding and lose more."
)


def padding_and_cutting() -> alt.TopLevelMixin:
    """`padding_and_cutting()` fits ten ragged reviews into rows of one length, padded and cut at either end.

    Row by row: what is kept, what is cut off (outside the row), and the padding that fills it up.
    """
    row = slider("row", "length of a row", 20, 600, step=20, value=500)
    pad = choice("pad", "a short review", ["pad the front", "pad the back"], value="pad the front")
    cut = choice("cut", "a long review", ["cut the front", "cut the back"], value="cut the front")
    reviews = _reviews()
    words = readout(_summary(reviews), "left", y=-62, baseline="bottom", line_height=18)
    return (
        alt.layer(_bars(reviews), _legend(), words)
        .add_params(row, pad, cut)
        .properties(width=480, height=240, description=DESCRIPTION)
    )


def _reviews() -> alt.Chart:
    """Each review, with how many of its tokens are kept and cut off, and how many places are filled up."""
    reviews = [{"review": place, "tokens": tokens} for place, tokens in enumerate(FAMOUS_LENGTHS, start=1)]
    return (
        alt.Chart(alt.InlineData(reviews))
        .transform_calculate(kept="min(datum.tokens, row)")
        .transform_calculate(cut_off="datum.tokens - datum.kept", filled="row - datum.kept")
    )


def _bars(reviews: alt.Chart) -> alt.Chart:
    """A bar for each of a review's three parts, from its start to its end in the row."""
    return (
        reviews.transform_fold(["kept", "cut_off", "filled"], as_=["name", "size"])
        .transform_calculate(part="{kept: 'kept', cut_off: 'cut off', filled: 'padding'}[datum.name]")
        .transform_calculate(
            start="datum.part == 'kept' ? (pad == 'pad the front' ? datum.filled : 0)"
            " : datum.part == 'padding' ? (pad == 'pad the front' ? 0 : datum.kept)"
            " : cut == 'cut the front' ? -datum.size : row"
        )
        .transform_calculate(end="datum.start + datum.size")
        .mark_bar()
        .encode(
            x=alt.X(
                "start:Q",
                title="place in the row",
                axis=alt.Axis(grid=False),
                scale=alt.Scale(domain=[-560, 620], nice=False),
            ),
            x2="end:Q",
            y=alt.Y("review:O", title="review"),
            color=COLOUR,
            # Colour is not the only difference: padding is pale, and what is cut off lies outside the row.
            opacity=alt.Opacity("part:N", scale=alt.Scale(domain=PARTS, range=[1, 0.75, 0.3]), legend=None),
        )
    )


def _legend() -> alt.Chart:
    """A legend of text marks: the site knows their colours in the dark, too."""
    names = [{"part": part, "at": at} for part, at in zip(PARTS, (-560, -220, 160), strict=True)]
    return (
        alt.Chart(alt.InlineData(names))
        .transform_calculate(label="'■ ' + datum.part")
        .mark_text(align="left", baseline="bottom")
        .encode(x="at:Q", y=alt.value(-6), text="label:N", color=COLOUR)
    )


def _summary(reviews: alt.Chart) -> alt.Chart:
    return (
        reviews.transform_aggregate(
            tokens="sum(tokens)", lost="sum(cut_off)", padding="sum(filled)", reviews="count()"
        )
        .transform_calculate(lost_share="datum.lost / datum.tokens")
        .transform_calculate(padding_share="datum.padding / (datum.reviews * row)")
        .transform_calculate(
            readout="['array of ' + datum.reviews + ' × ' + row,"
            " 'tokens lost ' + format(100 * datum.lost_share, '.1f') + ' %',"
            " 'padding ' + format(100 * datum.padding_share, '.1f') + ' % of the array']"
        )
    )
