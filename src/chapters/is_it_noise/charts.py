"""The charts: intervals against the truth, and the best of several seeds against the best of others."""

import altair as alt

from attnlab.training.many_seeds import student
from bookkit.pictures.charts import choice, readout, slider
from chapters.is_it_noise.bank import stored
from chapters.is_it_noise.models import SEEDS

DRAWS = 30  # intervals at a time
FEWEST, MOST = 2, 20  # seeds of each
AGAINST = ("the same again", "rate 10 % higher", "rate 60 % higher", "one head")
HOW = ("other seeds", "the same seeds")
# A hash for every draw, seed and side: what a page draws is the same in every browser.
DICE = "floor({seeds} * abs(sin({key} * 12.9898 + 4.1414) * 43758.5453 % 1))"

INTERVALS = (
    "Thirty horizontal intervals, one below the other, for the difference between two variants of a "
    "training, each from as many seeds as a slider says, and a line for the difference of all forty seeds. "
    "Intervals that miss the line are marked. Intervals grow shorter with more seeds; with the same seeds on "
    "both sides they are far shorter for another learning rate, and hardly for another number of heads."
)
BEST = (
    "Two rows of forty dots, the losses of one training from forty seeds, the same in both rows. Two sliders "
    "say how many seeds we try and how many they try, and a tick in each row stands where the best of so "
    "many lies on average. The more we try, the farther left our tick stands, though nothing differs."
)


def _rounded(name: str) -> list[int]:
    """In tenths of a thousandth of a nat."""
    return [round(10_000 * each) for each in stored()[name].tolist()]


def intervals() -> alt.TopLevelMixin:
    """`intervals()` draws thirty intervals anew whenever a control moves."""
    count = slider("count", "seeds of each", FEWEST, MOST, step=1, value=3)
    again = slider("again", "draw again", 1, 40, step=1, value=1)
    against = choice("against", "as it is, against", list(AGAINST), value=AGAINST[1])
    how = choice("how", "both from", list(HOW), value=HOW[0])
    values = {name: _rounded(name) for name in ("as it is", *AGAINST)}
    truth = {name: sum(values[name]) / SEEDS - sum(values["as it is"]) / SEEDS for name in AGAINST}
    # Of two groups there are 2 (n - 1) degrees of freedom, of pairs n - 1.
    factors = {
        HOW[0]: [round(student(2 * (n - 1)), 4) for n in range(FEWEST, MOST + 1)],
        HOW[1]: [round(student(n - 1), 4) for n in range(FEWEST, MOST + 1)],
    }
    key = f"(datum.draw + {DRAWS} * again + 0.37 * datum.place)"
    each = (
        alt.Chart(alt.sequence(0, DRAWS * MOST, as_="number"))
        .transform_calculate(draw=f"floor(datum.number / {MOST})", place=f"datum.number % {MOST}")
        .transform_filter("datum.place < count")
        .transform_calculate(first=DICE.format(seeds=SEEDS, key=key))
        .transform_calculate(
            second=f"how == '{HOW[1]}' ? datum.first : " + DICE.format(seeds=SEEDS, key=f"(7.77 + {key})")
        )
        .transform_calculate(
            ours="bank['as it is'][datum.first] / 10000", theirs="bank[against][datum.second] / 10000"
        )
        .transform_calculate(apart="datum.theirs - datum.ours")
        .transform_aggregate(
            groupby=["draw"],
            middle="mean(apart)",
            ours="variance(ours)",
            theirs="variance(theirs)",
            pairs="variance(apart)",
        )
        .transform_calculate(
            half=f"factor[how][count - {FEWEST}]"
            f" * sqrt((how == '{HOW[1]}' ? datum.pairs : datum.ours + datum.theirs) / count)"
        )
        .transform_calculate(
            low="datum.middle - datum.half", high="datum.middle + datum.half", truth="truth[against] / 10000"
        )
        .transform_calculate(missed="datum.low > datum.truth || datum.high < datum.truth ? 1 : 0")
        .transform_calculate(holds="datum.missed ? 'misses it' : 'holds the truth'")
    )
    colours = alt.Scale(domain=["holds the truth", "misses it"])
    across = alt.Scale(domain=[-0.25, 0.15])
    down = alt.Y("draw:O", title=None, axis=None)
    colour = alt.Color("holds:N", title=None, scale=colours, legend=alt.Legend(orient="bottom"))
    bars = each.mark_rule(strokeWidth=3, clip=True).encode(
        x=alt.X("low:Q", title="nats a word more than as it is", scale=across, axis=alt.Axis(tickCount=8)),
        x2="high:Q", y=down,
        color=colour, strokeDash=alt.StrokeDash("holds:N", legend=None, scale=alt.Scale(
            domain=colours.domain, range=[[1, 0], [4, 2]])),
    )  # fmt: skip
    dots = each.mark_point(filled=True, size=30, opacity=1, clip=True).encode(
        x=alt.X("middle:Q", scale=across), y=down, color=colour
    )
    line = (
        alt.Chart(alt.sequence(0, 1, as_="one"))
        .transform_calculate(truth="truth[against] / 10000")
        .mark_rule(strokeWidth=1.5, color="currentColor")
        .encode(x=alt.X("truth:Q", scale=across))
    )
    told = each.transform_aggregate(missed="sum(missed)", half="mean(half)").transform_calculate(
        readout="['truth ' + format(truth[against] / 10000, '+.3f') + ', ± ' + format(datum.half, '.3f')"
        f" + ' on average', datum.missed + ' of {DRAWS} miss it']"
    )
    return (
        alt.layer(line, bars, dots, readout(told, "right", y=0, dy=-40, line_height=18))
        .add_params(
            count, again, against, how,
            alt.param(name="bank", value=values), alt.param(name="truth", value=truth),
            alt.param(name="factor", value=factors),
        )
        .properties(width=480, height=300, description=INTERVALS)
    )  # fmt: skip


def best_of() -> alt.TopLevelMixin:
    """`best_of()` has the best of n seeds beside the best of m, where nothing differs."""
    ours = slider("ours", "seeds that we try", 1, 20, step=1, value=5)
    theirs = slider("theirs", "seeds that they try", 1, 20, step=1, value=1)
    values = sorted(_rounded("as it is"))
    rows = ["we", "they"]
    dots = (
        alt.Chart(alt.sequence(0, 2 * SEEDS, as_="number"))
        .transform_calculate(rank=f"datum.number % {SEEDS}", row=f"datum.number < {SEEDS} ? 'we' : 'they'")
        .transform_calculate(loss="sorted[datum.rank] / 10000", tried="datum.row == 'we' ? ours : theirs")
        # Of `tried` drawn, each put back, the best is the one of this rank with this chance.
        .transform_calculate(
            chance=f"pow(1 - datum.rank / {SEEDS}, datum.tried)"
            f" - pow(1 - (datum.rank + 1) / {SEEDS}, datum.tried)"
        )
    )
    down = alt.Y("row:N", title=None, sort=rows, axis=alt.Axis(ticks=False, labelPadding=8))
    across = alt.Scale(zero=False, nice=True)
    spread = dots.mark_point(size=70, opacity=0.6).encode(
        x=alt.X("loss:Q", title="nats a word", scale=across, axis=alt.Axis(tickCount=6)), y=down
    )
    best = dots.transform_calculate(part="datum.chance * datum.loss").transform_aggregate(
        best="sum(part)", groupby=["row"]
    )
    ticks = best.mark_tick(thickness=4, size=44, color="currentColor").encode(
        x=alt.X("best:Q", scale=across), y=down
    )
    told = (
        dots.transform_calculate(part="(datum.row == 'they' ? 1 : -1) * datum.chance * datum.loss")
        .transform_aggregate(gain="sum(part)")
        .transform_calculate(
            readout="['the best of ' + ours + ' against the best of ' + theirs + ': we win '"
            " + format(100 * ours / (ours + theirs), '.0f') + ' times in a hundred',"
            " 'by ' + format(datum.gain, '+.3f') + ' nats a word on average']"
        )
    )
    return (
        alt.layer(spread, ticks, readout(told, "right", y=0, dy=-44, line_height=18))
        .add_params(ours, theirs, alt.param(name="sorted", value=values))
        .properties(width=480, height=120, description=BEST)
    )
