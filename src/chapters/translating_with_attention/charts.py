"""The chart of the alignments: words joined by lines as thick as a translator's weights."""

from typing import Literal

import altair as alt

from bookkit.pictures.charts import choice, readout

# The chapter's own sentence and two of its test, with the alignment that is known: for each word of Lingo the
# places of its words in English.
SENTENCES = {
    "a king and his dogs": (
        "the old king 's hungry red dogs will hide",
        "hundos rubos famelos de lo rego veco se celeran",
        [[6], [5], [4], [3], [0], [2], [1], [7, 8], [7, 8]],
    ),
    "queens and friends": (
        "these queens follow these rivers ' red friends",
        "estas reginas segen amigos rubos de estos rivos",
        [[0], [1], [2], [7], [6], [5], [3], [4]],
    ),
    "houses and a star": (
        "the houses will see my white star",
        "las casas videran mia stela blanka",
        [[0], [1], [2, 3], [4], [6], [5]],
    ),
}
# What the stored translators look at while they write the right words, in per cent: for each sentence, a row
# for each word of Lingo, a column for each word of English and one for the end.
_ROWS = {
    "additive": (
        "0 0 1 2 1 1 93 0 0 1 0 0 0 1 11 81 6 0 0 2 2 1 17 9 62 4 5 0 0 0 1 1 82 12 2 0 1 0 0 0 0 0 "
        "91 7 0 0 1 0 0 0 0 0 97 1 1 0 1 0 0 0 0 94 0 0 1 1 0 2 2 0 1 1 0 0 1 1 1 13 83 0 0 0 0 0 0 0 "
        "1 6 83 9",
        "45 52 1 0 0 0 0 0 0 0 99 0 0 0 0 0 0 0 2 0 97 0 0 0 0 0 1 0 0 2 2 1 1 6 87 1 0 0 0 1 0 1 88 "
        "9 0 0 1 0 10 24 23 24 16 2 0 0 0 3 60 27 2 7 0 0 0 0 0 96 2 1 1 0",
        "3 93 1 1 1 1 1 0 0 100 0 0 0 0 0 0 3 0 17 77 0 2 0 1 2 1 1 3 20 5 68 1 0 0 0 0 0 1 98 0 0 0 "
        "0 0 1 96 0 3",
    ),
    "concat": (
        "0 0 0 0 0 3 96 0 0 0 0 0 0 0 11 88 1 0 0 0 0 0 0 2 97 1 0 0 0 0 0 0 0 51 42 4 1 1 1 0 72 2 "
        "11 3 1 2 8 0 0 0 0 4 94 0 0 1 0 0 0 0 0 75 0 0 1 0 0 9 14 0 1 21 0 2 1 0 0 26 48 0 0 0 0 0 0 "
        "0 0 31 69 0",
        "62 29 0 7 1 0 0 0 0 2 98 0 0 0 0 0 0 0 0 1 99 0 0 0 0 0 0 3 2 0 10 4 2 13 64 1 0 0 0 0 0 4 "
        "94 1 0 0 0 1 0 0 80 17 0 2 0 0 0 45 48 2 0 4 0 0 0 0 1 97 0 0 2 0",
        "39 57 3 0 1 0 0 0 0 100 0 0 0 0 0 0 1 0 62 37 0 0 0 0 1 1 0 0 93 0 5 0 0 0 0 0 0 2 98 0 0 0 "
        "0 0 0 95 0 5",
    ),
    "dot": (
        "0 0 0 0 0 0 99 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 89 11 0 0 0 0 0 94 0 "
        "6 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 1 0 0 0 1 0 0 97 1 0 0 0 0 0 0 0 "
        "0 100 0 0",
        "100 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 8 92 0 0 0 0 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 "
        "99 1 0 0 0 0 0 0 89 9 1 1 0 0 0 96 4 0 0 0 0 0 0 0 0 100 0 0 0 0",
        "99 1 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 99 0 0 0 0 0 0 0 0 0 100 0 0 0 "
        "0 0 0 98 0 2",
    ),
    "general": (
        "0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 2 98 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 100 0 "
        "0 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 "
        "0 0 0 100 0",
        "100 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 "
        "100 0 0 0 0 0 0 0 100 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 100 0 0 0 0",
        "100 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 100 0 0 0 0 0 0 0 0 0 100 0 0 "
        "0 0 0 0 99 0 1",
    ),
}
PERCENT = {name: [[int(number) for number in row.split()] for row in rows] for name, rows in _ROWS.items()}

DESCRIPTION = (
    "The words of an English sentence stand one below the other on the left, those of its translation on the "
    "right. Lines join each word of Lingo with the words that a translator looks at while it writes it, the "
    "thicker the larger the weight. Wide pale bands are gold, the alignment that is known. One choice sets "
    "the sentence, another the translator. With general nearly every thick line lies on a band. With "
    "additive "
    "the lines from articles, and from the word de, go to a noun instead."
)
WEIGHT_LEAST = 3  # per cent: thinner lines are not drawn


def alignments() -> alt.TopLevelMixin:
    """`alignments()` joins the words of a sentence as a translator's weights do, with gold behind."""
    sentence = choice("sentence", "sentence", list(SENTENCES), value=next(iter(SENTENCES)))
    translator = choice("translator", "translator", list(PERCENT), value="additive")
    stored = {
        name: {
            "english": [*english.split(), "(end)"],
            "lingo": lingo.split(),
            "gold": gold,
            "percent": {each: rows[place] for each, rows in PERCENT.items()},
        }
        for place, (name, (english, lingo, gold)) in enumerate(SENTENCES.items())
    }
    links = _links()
    return (
        alt.layer(
            _lines(links, "gold", "datum.gold ? 100 : 0"),
            _lines(links, "weight", "datum.percent"),
            _words("english", "right", 0.31),
            _words("lingo", "left", 0.69),
            readout(_summary(links), "left", y="height", dy=14),
        )
        .add_params(sentence, translator, alt.param(name="stored", value=stored))
        .properties(width=360, height=240, description=DESCRIPTION)
    )


def _links() -> alt.Chart:
    """A row for each word of Lingo with each of English: their places, the weight, and whether gold "
    "joins them."""
    most = max(len(row) for rows in PERCENT.values() for row in rows)
    return (
        alt.Chart(alt.sequence(0, most, as_="cell"))
        .transform_calculate(
            columns="length(stored[sentence].english)", rows="length(stored[sentence].lingo)"
        )
        .transform_filter("datum.cell < datum.columns * datum.rows")
        .transform_calculate(i="datum.cell % datum.columns", j="floor(datum.cell / datum.columns)")
        .transform_calculate(
            percent="stored[sentence].percent[translator][datum.cell]",
            gold="indexof(stored[sentence].gold[datum.j], datum.i) >= 0",
            english="(datum.i + 0.5) / datum.columns",
            lingo="(datum.j + 0.5) / datum.rows",
        )
    )


def _down(field: str) -> alt.Y:
    return alt.Y(field, axis=None, scale=alt.Scale(domain=[0, 1], reverse=True))


def _across(place: float) -> alt.XDatum:
    return alt.XDatum(place, axis=None, scale=alt.Scale(domain=[0, 1]))


def _lines(links: alt.Chart, series: str, strength: str) -> alt.Chart:
    """Weights are lines, as thick as they are; gold is a wide pale band."""
    thickness = alt.Scale(domain=[0, 100], range=[0, 14 if series == "gold" else 5])
    return (
        links.transform_calculate(strength=strength, series=f"'{series}'")
        .transform_filter(f"datum.strength >= {WEIGHT_LEAST}")
        .mark_rule(opacity=0.25 if series == "gold" else 0.85, strokeCap="round")
        .encode(
            x=_across(0.35),
            x2=alt.X2Datum(0.65),
            y=_down("english:Q"),
            y2="lingo:Q",
            strokeWidth=alt.StrokeWidth("strength:Q", legend=None, scale=thickness),
            color=alt.Color("series:N", title=None, scale=alt.Scale(domain=["weight", "gold"])),
        )
    )


def _words(language: str, align: Literal["left", "right"], place: float) -> alt.Chart:
    most = max(len(english.split()) for english, _, _ in SENTENCES.values()) + 1
    return (
        alt.Chart(alt.sequence(0, most, as_="place"))
        .transform_calculate(word=f"stored[sentence].{language}[datum.place]")
        .transform_filter("isValid(datum.word)")
        .transform_calculate(down=f"(datum.place + 0.5) / length(stored[sentence].{language})")
        .mark_text(align=align, baseline="middle", fontSize=14)
        .encode(x=_across(place), y=_down("down:Q"), text="word:N")
    )


def _summary(links: alt.Chart) -> alt.Chart:
    """How many words of Lingo look most at a word that gold joins them with."""
    return (
        links.transform_window(
            place="row_number()", sort=[alt.SortField("percent", order="descending")], groupby=["j"]
        )
        .transform_filter("datum.place == 1")
        .transform_calculate(hit="datum.gold ? 1 : 0")
        .transform_aggregate(hits="sum(hit)", words="count()")
        .transform_calculate(
            readout="[translator + ': ' + datum.hits + ' of ' + datum.words + ' words of Lingo',"
            " 'look most where gold does']"
        )
    )
