"""The chart: the gigabytes of a cache, by the sizes of a model and the words that it has read."""

from typing import NamedTuple

import altair as alt

from bookkit.pictures.charts import choice, readout, slider


class Sizes(NamedTuple):
    """`Sizes(layers=32, groups=32, d_k=128, weights=6_738_415_616)` is what a model is known by here."""

    layers: int
    groups: int
    d_k: int
    weights: int


# Touvron et al. (2023), and Table 3 of Grattafiori et al. (2024). The weights are counted.
MODELS = {
    "Llama 2 7B": Sizes(32, 32, 128, 6_738_415_616),
    "Llama 3 8B": Sizes(32, 8, 128, 8_030_261_248),
    "Llama 3 70B": Sizes(80, 8, 128, 70_553_706_496),
}
OWN = "the sliders"
FEWEST, MOST = 7, 20  # powers of 2: words
ROOM = 80e9  # bytes of an H100's memory
DESCRIPTION = (
    "The size of a cache of keys and values against the words in it, both on logarithmic scales: a line that "
    "rises from a few mebibytes to hundreds of gibibytes, with a dot at the present number of words, and a "
    "dashed line at the 80 gigabytes of an H100. Sliders set layers, heads that hold keys, numbers a key, "
    "and words; a choice takes the sizes of a known model instead, whose weights are then a second dashed "
    "line. 32 layers, 32 heads of 128 numbers and 32,768 words in 2 bytes make 16 gibibytes, 8 heads 4."
)


def cache_size() -> alt.TopLevelMixin:
    """`cache_size()` shows what a cache takes, for sliders' sizes or those of a known model."""
    given = choice("given", "the sizes of", [OWN, *MODELS], value=OWN)
    controls = [
        slider("layers", "layers", 4, 96, step=4, value=32),
        slider("groups", "heads that hold keys", 1, 64, step=1, value=32),
        slider("d_k", "numbers a key, d_k", 32, 256, step=32, value=128),
    ]
    doublings = slider("doublings", "words, as a power of 2", FEWEST, MOST, step=1, value=15)
    each = choice("each", "bytes a number", ["2", "1", "0.5"], value="2")

    def size(name: str) -> str:
        return f"given == '{OWN}' ? {name} : stored[given].{name}"

    per_word = alt.param(
        name="per_word",
        expr=f"2 * ({size('layers')}) * ({size('groups')}) * ({size('d_k')}) * toNumber(each)",
    )
    # Twice as many words, twice as many bytes: on both scales a step of one.
    along = (
        alt.Chart(alt.sequence(FEWEST, MOST + 1, as_="power"))
        .transform_calculate(bytes="pow(2, datum.power) * per_word")
        .transform_calculate(height="log(datum.bytes) / LN2")
    )
    across = alt.X(
        "power:Q",
        title="words",
        scale=alt.Scale(domain=[FEWEST, MOST], nice=False),
        axis=alt.Axis(values=list(range(8, MOST + 1, 3)), labelExpr="format(pow(2, datum.value), ',')"),
    )
    up = alt.Y(
        "height:Q",
        title="bytes of the cache",
        scale=alt.Scale(domain=[15, 50], nice=False),
        axis=alt.Axis(
            values=[20, 30, 40],
            domain=False,
            labelExpr="{'20': '1 MiB', '30': '1 GiB', '40': '1 TiB'}[datum.value]",
        ),
    )
    curve = along.mark_line(strokeWidth=2.5, clip=True).encode(x=across, y=up)
    now = along.transform_filter("datum.power == doublings")
    dot = now.mark_point(size=90, filled=True, opacity=1, clip=True).encode(x=across, y=up)
    weights = f"(given == '{OWN}' ? 0 : 2 * stored[given].weights)"
    lines = (
        alt.Chart(alt.sequence(0, 2, as_="which"))
        .transform_calculate(
            bytes=f"datum.which == 0 ? {ROOM:.0f} : {weights}",
            words="datum.which == 0 ? 'an H100’s 80 GB' : 'its weights'",
            # Words stand above the higher line, and below the lower one where there are two.
            aside=f"(datum.which == 0) == ({weights} > {ROOM:.0f}) ? -1.6 : 1.6",
        )
        .transform_filter("datum.bytes > 0")
        .transform_calculate(height="log(datum.bytes) / LN2")
        .transform_calculate(words_at="datum.height + datum.aside")
    )
    rules = lines.mark_rule(strokeDash=[5, 4]).encode(y=up)
    names = lines.mark_text(align="left", baseline="middle", dx=4).encode(
        x=alt.value(0), y=alt.Y("words_at:Q"), text="words:N"
    )
    told = now.transform_calculate(
        size="datum.bytes < pow(2, 30) ? format(datum.bytes / pow(2, 20), '.4~r') + ' MiB'"
        " : format(datum.bytes / pow(2, 30), '.4~r') + ' GiB'",
        beside=f"given == '{OWN}' ? format(100 * datum.bytes / {ROOM:.0f}, '.2~r') + ' % of an H100’s 80 GB'"
        " : format(datum.bytes / (2 * stored[given].weights), '.2~r') + ' times its weights'",
    ).transform_calculate(
        readout="[format(pow(2, doublings), ',') + ' words: ' + datum.size,"
        " format(per_word / 1024, ',.4~r') + ' KiB a word', datum.beside]"
    )
    stored = {name: sizes._asdict() for name, sizes in MODELS.items()}
    return (
        alt.layer(rules, names, curve, dot, readout(told, "left", y=0, dy=2))
        .add_params(given, *controls, doublings, each, alt.param(name="stored", value=stored), per_word)
        .properties(width=480, height=260, description=DESCRIPTION)
    )
