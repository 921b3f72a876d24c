"""The chart: a line of text in fewer and fewer pieces, the more merges there are."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider
from chapters.a_gpt_of_your_own import models

LINES = {
    "English": "Return the neighbours of all the nodes in G.",
    "code": ">>> graph = nx.path_graph(12345, weight=None)",
    "Lingo": "la roj kat vida do petit hund in la gardo",
}
NEVER = 9999  # no merge takes this border away
LONGEST = max(map(len, LINES.values()))
DESCRIPTION = (
    "One of three lines, letter by letter, with a bar below each piece. A slider sets how many of the stored "
    "model's 1,791 merges have been made. Without any, each letter is a piece by itself. With all of them "
    "the line of English has 14 pieces for 44 letters, code 18 for 45, and Lingo, which is not in the text, "
    "21 for 41."
)


def _borders(number: int) -> list[int]:
    """`_borders(300)` has for each border inside this piece how many merges take it away."""
    if number < 256:
        return []
    left, right = models.pieces().merges[number - 256]
    return [*_borders(left), number - 255, *_borders(right)]


def fewer_pieces() -> alt.TopLevelMixin:
    """`fewer_pieces()` cuts a line at every border that no merge has taken away yet."""
    stored = {
        given: {
            "letters": line.replace(" ", "␣"),
            "gone": [each for number in models.pieces().encode(line) for each in (NEVER, *_borders(number))],
        }
        for given, line in LINES.items()
    }
    merges = len(models.pieces().merges)
    doublings = slider("doublings", "doublings of the merges", 0, 11, step=1, value=0)
    which = choice("given", "a line of", list(LINES), value="English")
    each = (
        alt.Chart(alt.sequence(0, LONGEST, as_="place"))
        .transform_filter("datum.place < stored[given].letters.length")
        .transform_calculate(
            letter="stored[given].letters[datum.place]", gone="stored[given].gone[datum.place]"
        )
        .transform_calculate(merges=f"doublings == 0 ? 0 : min({merges}, floor(pow(2, doublings)))")
        .transform_calculate(begins="datum.gone > datum.merges ? 1 : 0")
        .transform_window(piece="sum(begins)", sort=[alt.SortField("place")], frame=[None, 0])
    )
    across = alt.Scale(domain=[0, LONGEST], nice=False)
    words = each.mark_text(font="monospace", fontSize=13, y=22).encode(
        x=alt.X("middle:Q", scale=across, axis=None), text="letter:N"
    )
    bars = (
        each.transform_aggregate(start="min(place)", last="max(place)", groupby=["piece"])
        .transform_calculate(left="datum.start + 0.1", right="datum.last + 0.9")
        .mark_bar(height=8, y=40)
        .encode(x=alt.X("left:Q", scale=across, axis=None), x2="right:Q")
    )
    told = each.transform_aggregate(
        pieces="max(piece)", letters="count()", merges="max(merges)"
    ).transform_calculate(
        readout="[format(datum.merges, ',') + ' merges: ' + datum.pieces + ' pieces for ' + datum.letters"
        " + ' letters']"
    )
    return (
        alt.layer(words.transform_calculate(middle="datum.place + 0.5"), bars, readout(told, "left", y=62))
        .add_params(which, doublings, alt.param(name="stored", value=stored))
        .properties(width=500, height=84, description=DESCRIPTION)
    )
