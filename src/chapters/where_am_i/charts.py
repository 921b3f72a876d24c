"""The chart of the sinusoidal table, and of how alike positions are."""

import altair as alt

from bookkit.pictures.charts import readout, slider

POSITIONS = 32  # the rows that are drawn
# From top to bottom: the table, the words under it, and the profile. In pixels.
TABLE, WORDS, PROFILE = (0, 136), 150, (212, 312)

ACROSS = alt.X(
    "position:O",
    title="position",
    axis=alt.Axis(labelAngle=0, values=list(range(0, POSITIONS, 8))),
    scale=alt.Scale(padding=0),
)
DESCRIPTION = (
    f"Above, the sinusoidal table on its side: positions 0 to {POSITIONS - 1} from left to right, "
    "columns from top to bottom. The first pair turns once in about six positions, each further "
    "pair more slowly, the last hardly at all. Beneath, how alike each position is to the chosen one: 1 "
    "there, falling to both sides in the same way, with ripples. Three sliders set the "
    "number of columns, the base and the chosen position. Moving the position moves the profile and "
    "leaves its shape; with base 1 all pairs turn together and far positions become as alike as near ones."
)


def position_table() -> alt.TopLevelMixin:
    """`position_table()` draws the sinusoidal table, and how alike each position is to a chosen one.

    Sliders set d_model, the base and the chosen position. The table lies on its side, so that it shares its
    horizontal axis with the profile beneath it.
    """
    d_model = slider("d_model", "columns (d_model)", 2, 32, step=2, value=16)
    exponent = slider("exponent", "base, as a power of 10", 0, 6, step=0.5, value=4)
    chosen = slider("chosen", "chosen position", 0, POSITIONS - 1, step=1, value=20)
    base = alt.param(name="base", expr="pow(10, exponent)")
    numbers = _numbers()
    alike = _alike(numbers)
    words = readout(_summary(alike), "left", y=WORDS, line_height=18)
    return (
        alt.layer(_table(numbers), _chosen(*TABLE), _chosen(*PROFILE), _profile(alike), words)
        .resolve_scale(y="independent")
        .add_params(d_model, exponent, chosen, base)
        .properties(width=480, height=PROFILE[1], description=DESCRIPTION)
    )


def _numbers() -> alt.Chart:
    """Every number of the table, and the number that stands `there`: in its column of the chosen row."""
    return (
        alt.Chart(alt.sequence(0, POSITIONS, as_="position"))
        .transform_calculate(column="sequence(0, d_model)")
        .transform_flatten(["column"])
        .transform_calculate(frequency="pow(base, -(datum.column - datum.column % 2) / d_model)")
        .transform_calculate(
            value="datum.column % 2 ? cos(datum.position * datum.frequency)"
            " : sin(datum.position * datum.frequency)",
            there="datum.column % 2 ? cos(chosen * datum.frequency) : sin(chosen * datum.frequency)",
        )
    )


def _table(numbers: alt.Chart) -> alt.Chart:
    """A square for each number: its colour is the sign, its strength the size."""
    return (
        numbers.transform_calculate(size="abs(datum.value)", sign="datum.value < 0 ? 'below 0' : 'above 0'")
        .mark_rect(aria=False)
        .encode(
            x=ACROSS,
            y=alt.Y(
                "column:O",
                title="column",
                axis=alt.Axis(orient="left", labelOverlap=True, ticks=False, domain=False),
                scale=alt.Scale(range=list(TABLE), padding=0),
            ),
            # Strength and not a scale of hues: paper shows through, light or dark.
            opacity=alt.Opacity("size:Q", legend=None, scale=alt.Scale(domain=[0, 1], range=[0, 1])),
            color=alt.Color("sign:N", legend=None, scale=alt.Scale(domain=["above 0", "below 0", "chosen"])),
        )
    )


def _chosen(top: int, bottom: int) -> alt.Chart:
    """A line through the chosen position."""
    return (
        alt.Chart(alt.sequence(0, POSITIONS, as_="position"))
        .transform_filter("datum.position == chosen")
        .transform_calculate(sign="'chosen'")
        .mark_rule(strokeWidth=2)
        .encode(x=ACROSS, color="sign:N", y=alt.value(top), y2=alt.value(bottom))
    )


def _alike(numbers: alt.Chart) -> alt.Chart:
    # Rows have the length √(d_model / 2) each, so this is the cosine of the angle between them.
    return (
        numbers.transform_calculate(product="datum.value * datum.there")
        .transform_aggregate(product="sum(product)", groupby=["position"])
        .transform_calculate(alike="datum.product / (d_model / 2)")
    )


def _profile(alike: alt.Chart) -> alt.Chart:
    return alike.mark_line(point={"size": 16}).encode(
        x=ACROSS,
        y=alt.Y(
            "alike:Q",
            title="alikeness",
            axis=alt.Axis(orient="left", tickCount=5),
            scale=alt.Scale(domain=[-1, 1], range=[PROFILE[1], PROFILE[0]]),
        ),
    )


def _summary(alike: alt.Chart) -> alt.Chart:
    return (
        # Two rows at the same distance are equally alike but for the last digits.
        alike.transform_calculate(rounded="round(datum.alike * 1e9) / 1e9")
        .transform_filter("datum.position != chosen")
        .transform_joinaggregate(closest="max(rounded)")
        .transform_filter("datum.rounded == datum.closest")
        .transform_aggregate(first="min(position)", last="max(position)", closest="max(closest)")
        .transform_calculate(longest="2 * PI * pow(base, (d_model - 2) / d_model)")
        .transform_calculate(
            readout="['position ' + chosen + ', ' + d_model + ' columns, base ' + format(base, ',.4~r'),"
            " 'longest wave ' + format(datum.longest, ',.0f') + ' positions',"
            " 'most alike: ' + (datum.first == datum.last ? 'position ' + datum.first"
            " : 'positions ' + datum.first + ' and ' + datum.last) + ', ' + format(datum.closest, '.3f')]"
        )
    )
