"""The chart of three scores: a plane of keys, shaded by their score with one query."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider, softmax

# Five keys in the plane.
KEYS = {"A": (2.5, 0.5), "B": (0.5, 2.0), "C": (-2.0, 1.5), "D": (-1.5, -2.0), "E": (1.5, -1.5)}
CELLS = 20  # the field has so many cells each way
EDGE = 3  # the plane goes from -3 to 3

# Vega has no tanh. This form of it does not overflow: exp(…) may be infinite, and the result is then 1.
TANH = "(1 - 2 / (exp(2 * ({})) + 1))"

PLANE = alt.Scale(domain=[-EDGE, EDGE], nice=False)
DESCRIPTION = (
    "A plane of keys, shaded by their score with one query: one colour above 0, another below, the "
    "deeper the further from 0. Five keys, A to E, are marked with their softmax weights. Sliders turn "
    "the query and change its length; a choice takes the dot product, the general score with a quarter "
    "turn, or the additive score. Dot and general are tilted planes, with straight bands of one shade, "
    "and grow steeper with the query, so that one key takes ever more of the weight. The additive score is "
    "four flat terraces, at 2, 0, 0 and -2: the query moves their edges, and never lifts them."
)


def score_field() -> alt.TopLevelMixin:
    """`score_field()` shows the score of every key in the plane, for a query that the reader turns."""
    direction = slider("direction", "direction of the query, in degrees", -180, 180, step=15, value=30)
    length = slider("length", "length of the query", 0, 6, step=0.5, value=2)
    formula = choice("formula", "score", ["dot", "general", "additive"], value="dot")
    query_x = alt.param(name="query_x", expr="length * cos(direction * PI / 180)")
    query_y = alt.param(name="query_y", expr="length * sin(direction * PI / 180)")
    weights = _weights()
    words = readout(_summary(weights), "left", y=350, line_height=18)
    return (
        alt.layer(_field(), *_marked(weights), words)
        .add_params(direction, length, formula, query_x, query_y)
        .properties(width=480, height=300, description=DESCRIPTION)
    )


def _score(x: str, y: str) -> str:
    """The score of the query with the key (x, y), as Vega reckons it.

    General turns the query by a quarter turn to the left before it multiplies. Additive has the identity for
    both its matrices and ones for its vector, as in the chapter's example by hand.
    """
    additive = " + ".join(TANH.format(term) for term in (f"query_x + {x}", f"query_y + {y}"))
    return (
        f"formula == 'dot' ? query_x * {x} + query_y * {y}"
        f" : formula == 'general' ? -query_y * {x} + query_x * {y} : {additive}"
    )


def _cells() -> alt.Chart:
    """The plane cut in squares, each with the score of its middle."""
    step = 2 * EDGE / CELLS
    return (
        alt.Chart(alt.sequence(0, CELLS * CELLS, as_="cell"))
        .transform_calculate(
            left=f"(datum.cell % {CELLS}) * {step} - {EDGE}",
            low=f"floor(datum.cell / {CELLS}) * {step} - {EDGE}",
        )
        .transform_calculate(right=f"datum.left + {step}", high=f"datum.low + {step}")
        .transform_calculate(field=_score(f"(datum.left + {step / 2})", f"(datum.low + {step / 2})"))
        .transform_calculate(
            sign="datum.field < 0 ? 'score below 0' : 'score above 0'", size="abs(datum.field)"
        )
    )


def _field() -> alt.Chart:
    axis = alt.Axis(grid=False, tickCount=7)
    sign = alt.Color(
        "sign:N",
        title=None,
        scale=alt.Scale(domain=["score above 0", "score below 0"]),
        legend=alt.Legend(orient="top", symbolType="square", labelFontSize=12, labelColor="currentColor"),
    )
    size = alt.Opacity("size:Q", scale=alt.Scale(domain=[0, 6], range=[0, 0.75], clamp=True), legend=None)
    return (
        _cells()
        .mark_rect()
        .encode(
            x=alt.X("left:Q", title="key, first component", scale=PLANE, axis=axis),
            x2="right",
            y=alt.Y("low:Q", title="key, second component", scale=PLANE, axis=axis),
            y2="high",
            color=sign,
            opacity=size,
        )
    )


def _weights() -> alt.Chart:
    keys = [{"key": name, "x": x, "y": y} for name, (x, y) in KEYS.items()]
    return softmax(alt.Chart(alt.InlineData(keys)), score=_score("datum.x", "datum.y")).transform_calculate(
        label="datum.key + ' ' + format(datum.weight, '.0%')"
    )


def _marked(weights: alt.Chart) -> tuple[alt.Chart, alt.Chart]:
    """A ring at each key, and its name and weight above it."""
    place = {"x": alt.X("x:Q", scale=PLANE), "y": alt.Y("y:Q", scale=PLANE)}
    rings = weights.mark_point(filled=False, size=70, strokeWidth=2, color="currentColor").encode(**place)
    labels = weights.mark_text(dy=-13, fontWeight="bold").encode(**place, text="label:N")
    return rings, labels


def _summary(weights: alt.Chart) -> alt.Chart:
    return weights.transform_aggregate(
        highest="max(score)", lowest="min(score)", best="argmax(score)", keys="count()"
    ).transform_calculate(
        readout="['query (' + format(query_x, '.2f') + ', ' + format(query_y, '.2f') + ')',"
        " 'best key ' + datum.best['key'] + ', score ' + format(datum.highest, '.2f'),"
        " 'its weight ' + format(datum.best['weight'], '.3f'),"
        " 'lowest score ' + format(datum.lowest, '.2f')]"
    )
