"""The chart of what depth does to the size of signals and gradients."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

ARRANGEMENTS = ("plain", "residual", "post-norm", "pre-norm")
DEEPEST = 32
# With a block that multiplies the size of what comes in by g, and layers counted from 0 to depth.
SIGNAL = (
    "{'plain': pow(g, datum.layer), 'residual': pow(1 + g * g, datum.layer / 2), 'post-norm': 1,"
    " 'pre-norm': sqrt(1 + datum.layer * g * g)}[arrangement]"
)
GRADIENT = (
    "{'plain': pow(g, depth - datum.layer), 'residual': pow(1 + g * g, (depth - datum.layer) / 2),"
    " 'post-norm': 1, 'pre-norm': sqrt((1 + depth * g * g) / (1 + datum.layer * g * g))}[arrangement]"
)
# What is beyond is drawn at the edge.
LOWEST, HIGHEST = 1e-6, 1e6
DESCRIPTION = (
    "Two lines against the layer, on a logarithmic scale: the size of the signal on its way up, and that "
    "of the gradient on its way down, each as a multiple of where it begins. Sliders set the depth and how "
    "much a block multiplies by; a choice sets the arrangement. Plain stacks die out below a factor of 1 "
    "and explode above it. Residual ones grow at any factor, faster and faster. With post-norm both stay "
    "at 1, and with pre-norm they grow slowly."
)


def depth_and_arrangement() -> alt.TopLevelMixin:
    """`depth_and_arrangement()` shows signal and gradient by layer, for a depth and an arrangement."""
    arrangement = choice("arrangement", "arrangement", list(ARRANGEMENTS), value="plain")
    depth = slider("depth", "layers", 1, DEEPEST, step=1, value=12)
    factor = slider("g", "a block multiplies by", 0.2, 1.6, step=0.1, value=0.6)
    layers = (
        alt.Chart(alt.sequence(0, DEEPEST + 1, as_="layer"))
        .transform_filter("datum.layer <= depth")
        .transform_calculate(signal=SIGNAL, gradient=GRADIENT)
    )
    lines = (
        layers.transform_fold(["signal", "gradient"], as_=["name", "size"])
        .transform_calculate(seen=f"clamp(datum.size, {LOWEST}, {HIGHEST})")
        .mark_line(point=True)
        .encode(
            x=alt.X(
                "layer:Q", title="layer", scale=alt.Scale(domain=[0, DEEPEST]), axis=alt.Axis(grid=False)
            ),
            y=alt.Y(
                "seen:Q",
                title="size",
                scale=alt.Scale(type="log", domain=[LOWEST, HIGHEST]),
                axis=alt.Axis(values=[1e-6, 1e-3, 1, 1e3, 1e6], format=".0e"),
            ),
            color=alt.Color("name:N", title=None, scale=alt.Scale(domain=["signal", "gradient"])),
            shape=alt.Shape("name:N", title=None, scale=alt.Scale(domain=["signal", "gradient"])),
        )
    )
    summary = layers.transform_aggregate(
        last="max(signal)", least="min(signal)", first="max(gradient)", lowest="min(gradient)"
    ).transform_calculate(
        end="arrangement == 'plain' && g < 1 ? datum.least : datum.last",
        start="arrangement == 'plain' && g < 1 ? datum.lowest : datum.first",
    )
    said = summary.transform_calculate(
        readout="[arrangement + ', ' + depth + (depth == 1 ? ' layer' : ' layers')"
        " + ', factor ' + format(g, '.1f'),"
        " 'signal at the last layer × ' + format(datum.end, '.2~g'),"
        " 'gradient at the first layer × ' + format(datum.start, '.2~g')]"
    )
    return (
        alt.layer(lines, readout(said, "left", y=-62, baseline="bottom", line_height=18))
        .add_params(arrangement, depth, factor)
        .properties(width=480, height=260, description=DESCRIPTION)
    )
