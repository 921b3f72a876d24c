"""The chart: the gradient and the attention of eight layers, while one thing is turned too far."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider
from chapters.the_repair_shop.screws import LAYERS, SIZES

# For each setting of SIZES, from the first layer to the last, in hundredths: the mean of five models.
# log₁₀ of the size of its gradient.
GRADIENTS: dict[str, tuple[str, ...]] = {
    "weights larger": (
        "38 31 24 18 15 16 13 11",
        "47 40 31 26 22 23 21 18",
        "55 47 38 33 29 29 27 24",
        "68 56 46 42 38 37 35 33",
        "78 62 52 47 43 42 40 37",
        "111 76 61 54 50 47 46 43",
        "154 99 75 62 55 52 49 46",
        "231 157 121 95 74 61 56 50",
        "259 176 136 106 85 70 63 54",
    ),
    "scores larger": (
        "38 31 24 18 15 16 13 11",
        "37 31 24 18 14 16 13 11",
        "38 30 23 17 13 14 11 10",
        "39 29 22 16 12 12 9 7",
        "49 35 25 17 12 10 7 4",
        "77 52 35 23 14 10 6 2",
        "133 94 66 46 29 17 8 2",
        "195 151 114 83 53 31 13 3",
        "217 169 134 102 66 37 21 5",
    ),
    "stream fades": (
        "38 31 24 18 15 16 13 11",
        "45 42 38 37 38 42 45 45",
        "52 51 50 52 55 57 61 63",
        "56 58 59 59 63 65 69 71",
        "59 62 62 61 65 69 72 76",
        "56 59 58 58 68 73 76 81",
        "78 80 83 83 87 86 89 85",
        "79 80 83 82 90 86 88 85",
        "85 91 94 87 87 84 87 86",
    ),
}
# The entropy of the last query’s weights.
BITS: dict[str, tuple[str, ...]] = {
    "weights larger": (
        "492 494 494 495 494 494 495 496",
        "459 472 475 478 476 477 481 484",
        "394 428 436 442 439 439 454 456",
        "239 288 310 325 325 329 353 353",
        "136 172 196 208 218 214 236 229",
        "55 69 83 87 105 84 94 105",
        "31 40 39 55 57 41 50 54",
        "13 18 19 20 19 13 21 21",
        "7 12 12 11 16 12 10 11",
    ),
    "scores larger": (
        "492 494 494 495 494 494 495 496",
        "467 476 477 479 478 478 481 485",
        "394 417 419 426 423 423 434 445",
        "263 294 296 304 304 303 329 330",
        "136 160 162 165 162 170 186 182",
        "63 77 71 73 69 82 88 83",
        "31 37 27 32 33 39 37 40",
        "15 20 13 20 13 14 21 14",
        "7 8 8 10 9 7 13 8",
    ),
    "stream fades": (
        "492 494 494 495 494 494 495 496",
        "492 494 494 495 495 496 497 497",
        "492 494 495 496 496 497 498 498",
        "492 494 495 497 498 498 499 499",
        "492 495 496 498 499 499 499 500",
        "492 495 497 498 499 499 500 500",
        "492 495 498 499 500 500 500 500",
        "492 497 499 500 500 500 500 500",
        "492 498 499 499 500 500 500 500",
    ),
}

DESCRIPTION = (
    "Eight dots and eight bars, one for each layer: how large the gradient of its weights is, and how "
    "many bits its attention has. Pale is the model as it should be. A choice and a slider in nine "
    "steps turn one of three things too far: weights larger, scores larger, a stream that fades. With scores "
    "8 times too large the bits fall from 5 to about 3, and gradients hardly change. With weights 16 times "
    "too large the bits fall to about 0.1, and the first layer's gradient is about 160 times the usual. With "
    "a stream that is gone, bits are at their most, and no layer's gradient is small."
)


def by_layer() -> alt.TopLevelMixin:
    """`by_layer()` shows two tests of eight layers, for a fault of any size."""
    stored = {
        screw: {
            "gradient": [[int(each) / 100 for each in row.split()] for row in GRADIENTS[screw]],
            "bits": [[int(each) / 100 for each in row.split()] for row in BITS[screw]],
            "size": list(sizes),
        }
        for screw, sizes in SIZES.items()
    }
    screw = choice("screw", "too far:", list(SIZES), value="scores larger")
    step = slider("step", "turned", 0, 8, step=1, value=3)
    layers = alt.Chart(alt.sequence(0, LAYERS, as_="place")).transform_calculate(
        layer="datum.place + 1",
        gradient="pow(10, stored[screw].gradient[step][datum.place])",
        usual="pow(10, stored[screw].gradient[0][datum.place])",
        bits="stored[screw].bits[step][datum.place]",
        usual_bits="stored[screw].bits[0][datum.place]",
    )
    across = alt.X("layer:O", title="layer", axis=alt.Axis(labelAngle=0))
    bits = alt.Scale(domain=[0, 8])  # room above the bars for what is read out
    steep = alt.Scale(type="log", domain=[0.1, 100_000])
    colours = alt.Scale(domain=["bits", "gradient"])
    bars, dots = [], []
    for usual, strong in (("usual_", 0.3), ("", 1.0)):
        now = layers.transform_calculate(what="'bits'")
        bars.append(
            now.mark_bar(opacity=strong, width={"band": 0.9 if usual else 0.45}).encode(
                x=across,
                y=alt.Y(
                    f"{usual}bits:Q",
                    scale=bits,
                    axis=alt.Axis(title="bits (bars)", values=[0, 1, 2, 3, 4, 5]),
                ),
                color=alt.Color("what:N", scale=colours, legend=None),
            )
        )
        now = layers.transform_calculate(what="'gradient'")
        dots.append(
            now.mark_circle(opacity=0.5 if usual else 1.0, size=260 if usual else 90).encode(
                x=across,
                y=alt.Y(
                    f"{usual}gradient:Q",
                    scale=steep,
                    axis=alt.Axis(title="gradient (dots)", values=[1, 10, 100, 1000], grid=False),
                ),
                color=alt.Color("what:N", scale=colours, legend=None),
            )
        )
    told = layers.transform_filter("datum.place == 0").transform_calculate(
        last=f"pow(10, stored[screw].gradient[step][{LAYERS - 1}])",
        readout="[screw + (screw == 'stream fades' ? ': ' + format(100 * stored[screw].size[step], 'd') + ' %"
        " is kept' : ': ' + format(stored[screw].size[step], '~') + ' times'),"
        " 'gradient of layer 1: ' + format(datum.gradient, '.3~r')"
        " + ', of layer 8: ' + format(datum.last, '.3~r'),"
        " 'bits in layer 1: ' + format(datum.bits, '.2f')]",
    )
    return (
        alt.layer(
            alt.layer(*bars),
            alt.layer(*dots),
            readout(told, "right", y=0, dy=4).encode(x=alt.value(alt.ExprRef("width - 8"))),
        )
        .resolve_scale(y="independent")
        .add_params(screw, step, alt.param(name="stored", value=stored))
        .properties(width=440, height=280, description=DESCRIPTION)
    )
