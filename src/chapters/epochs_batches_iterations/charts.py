"""The chart of one epoch: a data set in shares for its workers, cut in batches."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

KINDS = ("full batch", "short last batch", "left out")
LEGEND_PLACES = (0, 600, 1520)  # on the axis of the examples
MOST_BATCHES = 40  # of all workers together, at any setting of the sliders: 5 workers with 5 each is the most

COLOUR = alt.Color("kind:N", scale=alt.Scale(domain=list(KINDS)), legend=None)
DESCRIPTION = (
    "A row for each worker, up to eight: a bar as long as the examples that it reads in one epoch, cut "
    "in batches. Sliders set the number of examples, the batch size and the number of workers; a choice "
    "keeps or drops what does not come out even. With 2001 examples and batches of 500, one worker makes "
    "4 full batches and a fifth that holds a single example. With two workers each bar is half as long, "
    "and one example is read twice, so that both come out even."
)


def one_epoch() -> alt.TopLevelMixin:
    """`one_epoch()` cuts a data set in a share for each worker, and the shares in batches."""
    examples = slider("examples", "examples", 1900, 2100, step=1, value=2001)
    batch_size = slider("batch_size", "batch size of each worker", 100, 1000, step=50, value=500)
    workers = slider("workers", "workers", 1, 8, step=1, value=1)
    last = choice("last", "what does not come out even is", ["kept", "dropped (drop_last)"], value="kept")
    dropping = alt.param(name="dropping", expr="last !== 'kept'")
    share = alt.param(name="share", expr="dropping ? floor(examples / workers) : ceil(examples / workers)")
    pieces = alt.param(name="pieces", expr="ceil(share / batch_size)")
    updates = alt.param(name="updates", expr="dropping ? floor(share / batch_size) : pieces")
    words = readout(_summary(), "right", y="height", baseline="bottom", dy=-64)
    return (
        alt.layer(_bars(), *_legend(), words)
        .add_params(examples, batch_size, workers, last, dropping, share, pieces, updates)
        .properties(width=480, height=280, description=DESCRIPTION)
    )


def _along(field: str) -> alt.X:
    """`_along("start:Q")` puts a field on the axis of the examples."""
    return alt.X(
        field,
        title="examples that one worker reads in an epoch",
        scale=alt.Scale(domain=[0, 2100], nice=False),
        axis=alt.Axis(grid=False, tickCount=5),
    )


def _batches() -> alt.Chart:
    return (
        alt.Chart(alt.sequence(0, MOST_BATCHES, as_="place"))
        .transform_filter("datum.place < workers * pieces")
        .transform_calculate(
            worker="floor(datum.place / pieces)",
            start="(datum.place % pieces) * batch_size",
            end="min((datum.place % pieces + 1) * batch_size, share)",
        )
        .transform_calculate(
            kind=f"datum.end - datum.start == batch_size ? '{KINDS[0]}' :"
            f" dropping ? '{KINDS[2]}' : '{KINDS[1]}'",
        )
    )


def _bars() -> alt.Chart:
    worker = alt.Y(
        "worker:O",
        title="worker",
        scale=alt.Scale(domain=list(range(8)), padding=0.15),
        axis=alt.Axis(labelAngle=0),
    )
    pale = alt.Opacity("kind:N", scale=alt.Scale(domain=list(KINDS), range=[1, 1, 0.4]), legend=None)
    # The offset leaves a gap between neighbours, and makes a batch of one example visible.
    return (
        _batches()
        .mark_bar(x2Offset=-2)
        .encode(x=_along("start:Q"), x2="end:Q", y=worker, color=COLOUR, opacity=pale)
    )


def _legend() -> tuple[alt.Chart, alt.Chart]:
    """A legend made of marks: Vega's own has no colour for dark pages."""
    kinds = [{"kind": kind, "place": place} for kind, place in zip(KINDS, LEGEND_PLACES, strict=True)]
    legend = alt.Chart(alt.InlineData(kinds)).encode(x=_along("place:Q"), y=alt.value(-14))
    squares = legend.mark_square(size=90, opacity=1, xOffset=5).encode(color=COLOUR)
    words = legend.mark_text(align="left", baseline="middle", dx=13, fontSize=12).encode(text="kind:N")
    return squares, words


def _summary() -> alt.Chart:
    return (
        alt.Chart(alt.sequence(0, 1, as_="place"))
        .transform_calculate(
            iterations="updates",
            per_update="updates > 0 ? workers * min(batch_size, share) : 0",
            in_last="updates > 0 ? workers * min(batch_size, share - (updates - 1) * batch_size) : 0",
            twice="dropping ? 0 : workers * share - examples",
            left_out="dropping ? examples - workers * updates * batch_size : 0",
        )
        .transform_calculate(
            readout="['iterations per epoch: ' + datum.iterations,"
            " 'examples per update: ' + datum.per_update,"
            " 'in the last update: ' + datum.in_last,"
            " 'read twice: ' + datum.twice + ', left out: ' + datum.left_out]"
        )
    )
