"""The chart of words on a map, and of who is near to whom by which measure."""

from typing import Any

import altair as alt

from bookkit.pictures.charts import choice, readout, slider
from chapters.from_words_to_vectors.counting import count, neighbours, on_a_map
from chapters.from_words_to_vectors.grammar import CLASSES, VOCABULARY, written

NEAR = 3  # the nearest words that are shown
MEASURES = ["dot product", "cosine", "distance"]
# Those of known class first, in the slider's order; then the words around them.
OFFERED = [*(word for members in CLASSES.values() for word in members), "bat"]
# Words of one class are drawn so far apart; the words around them stand in a row below the map.
APART, BELOW, SHELF = 0.16, -1.3, [round(-1.04 + 0.16 * place, 2) for place in range(14)]
KINDS = ["person", "food", "animal", "tool", "other"]
WIDTH, HEIGHT = 480, 380
X = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-1.1, 1.1]))
Y = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[-1.65, 1.2]))
COLOUR = alt.Color("kind:N", scale=alt.Scale(domain=KINDS), legend=None)
DESCRIPTION = (
    "A map of words. Foods lie at the left, animals at the upper right and tools at the lower right, with "
    "“bat” between the two, people in the middle; all other words stand in a row below. A slider chooses a "
    "word, a choice says how its row of counts is compared with the others, and lines lead to the three "
    "nearest. By cosine the nearest is of the same class, and mostly the second; the third is often a "
    "verb, or “bat”. By dot product there are frequent words among them, such as “the”."
)


def word_map() -> alt.TopLevelMixin:
    """`word_map()` is a map of the words, by whom they meet, and the nearest three of a chosen one."""
    chosen = slider("chosen", "word", 0, len(OFFERED) - 1, step=1, value=7)
    measure = choice("measure", "nearest by", MEASURES, value="cosine")
    words = _compared()
    return (
        alt.layer(_lines(words), _points(words), _names(words), _summary(words))
        .add_params(chosen, measure)
        .properties(width=WIDTH, height=HEIGHT, description=DESCRIPTION)
    )


def _rows() -> list[dict[str, object]]:
    """Each word with its counts, its class, and its place on the map."""
    counts = count(neighbours(written(400, seed=0)))
    places = on_a_map(counts, OFFERED)
    order = [*OFFERED, *(word for word in VOCABULARY if word not in OFFERED)]
    numbers = [VOCABULARY.index(word) for word in order]
    classes = {word: kind for kind, members in CLASSES.items() for word in members}
    at = {word: (x, BELOW) for word, x in zip(order[len(OFFERED) :], SHELF, strict=True)}
    for members in (*CLASSES.values(), ("bat",)):
        x, y = places[[OFFERED.index(word) for word in members]].mean(0).tolist()
        # Words of one class lie nearly on one spot: they are drawn one below the other.
        middle = (len(members) - 1) / 2
        at |= {word: (x, y + APART * (middle - place)) for place, word in enumerate(members)}
    return [
        {
            "word": word,
            "kind": classes.get(word, "other"),
            "place": place,
            "x": round(at[word][0], 2),
            "y": round(at[word][1], 2),
            "counts": row,
        }
        for place, (word, row) in enumerate(zip(order, counts[numbers].int().tolist(), strict=True))
    ]


def _compared() -> alt.Chart:
    """Each word with its likeness to the chosen one, and its rank by that; the chosen one has rank 0."""
    return (
        alt.Chart(alt.InlineData(_rows()))
        .transform_calculate(column=f"sequence(0, {len(VOCABULARY)})")
        .transform_flatten(["counts", "column"])
        .transform_calculate(own="datum.place == chosen ? datum.counts : 0")
        .transform_joinaggregate(other="sum(own)", groupby=["column"])
        .transform_calculate(
            product="datum.counts * datum.other",
            square="datum.counts * datum.counts",
            other_square="datum.other * datum.other",
            gap="pow(datum.counts - datum.other, 2)",
        )
        .transform_aggregate(
            product="sum(product)",
            square="sum(square)",
            other_square="sum(other_square)",
            gap="sum(gap)",
            groupby=["word", "kind", "place", "x", "y"],
        )
        .transform_calculate(
            alike="measure == 'dot product' ? datum.product : measure == 'distance' ? -sqrt(datum.gap)"
            " : datum.product / sqrt(datum.square * datum.other_square)",
            chosen_x="datum.place == chosen ? datum.x : -9",
            chosen_y="datum.place == chosen ? datum.y : -9",
        )
        .transform_joinaggregate(from_x="max(chosen_x)", from_y="max(chosen_y)")
        .transform_calculate(order="datum.place == chosen ? 1e9 : datum.alike")
        .transform_window(sort=[alt.SortField("order", order="descending")], row="row_number()")
        .transform_calculate(rank="datum.row - 1")
    )


def _points(words: alt.Chart) -> alt.Chart:
    return words.mark_point(filled=True, size=50).encode(
        x=X, y=Y, color=COLOUR, shape=alt.Shape("kind:N", scale=alt.Scale(domain=KINDS), legend=None)
    )


def _lines(words: alt.Chart) -> alt.Chart:
    return (
        words.transform_filter(f"datum.rank > 0 && datum.rank <= {NEAR}")
        .mark_rule(strokeWidth=2)
        .encode(x=X, y=Y, x2="from_x:Q", y2="from_y:Q", color=COLOUR)
    )


def _names(words: alt.Chart) -> Any:
    """Every word beside its point; those of the row below are written upwards."""
    kept = words.transform_calculate(bold="datum.rank <= 3 ? 1 : 0.55")
    beside = kept.transform_filter("datum.y > -1.2").mark_text(align="left", dx=8, fontSize=13)
    under = kept.transform_filter("datum.y < -1.2").mark_text(align="right", angle=270, dx=-8, fontSize=12)
    shade = alt.Opacity("bold:Q", scale=alt.Scale(domain=[0, 1], range=[0, 1]), legend=None)
    return alt.layer(*(names.encode(x=X, y=Y, text="word:N", opacity=shade) for names in (beside, under)))


def _summary(words: alt.Chart) -> alt.Chart:
    line = (
        words.transform_filter(f"datum.rank <= {NEAR}")
        .transform_calculate(
            said="datum.word + ' ' + (measure == 'distance' ? format(-datum.alike, '.1f')"
            " : measure == 'cosine' ? format(datum.alike, '.2f') : format(datum.alike, ',.0f'))"
        )
        .transform_calculate(
            zero="datum.rank == 0 ? datum.word : ''",
            one="datum.rank == 1 ? datum.said : ''",
            two="datum.rank == 2 ? datum.said : ''",
            three="datum.rank == 3 ? datum.said : ''",
        )
        .transform_aggregate(zero="max(zero)", one="max(one)", two="max(two)", three="max(three)")
        .transform_calculate(
            readout="[datum.zero + ', nearest by ' + measure + ':',"
            " datum.one + ', ' + datum.two + ', ' + datum.three]"
        )
    )
    return readout(line, "left", y=-44, baseline="top")
