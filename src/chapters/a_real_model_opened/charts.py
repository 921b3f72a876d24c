"""The chart: how far up the right piece stands behind each block, as the logit lens reads it."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider

# Of each text: its next piece, how far up the lens has it behind 0 to 30 blocks, and what it has on top.
LENS = {
    "a capital": (
        "The capital of France is", " Paris",
        (4316, 2678, 3068, 3640, 3396, 3636, 4699, 5012, 4367, 3242, 3384, 3083, 3071, 2870, 2747, 3157, 2452,
         2519, 2465, 2005, 2636, 3241, 2818, 2079, 396, 92, 113, 34, 7, 3, 1),
    ),
    "an opposite": (
        "The opposite of hot is", " cold",
        (1380, 3922, 2513, 2849, 2943, 2334, 1724, 2150, 2072, 2208, 1573, 2560, 2696, 1942, 1750, 1517, 1622,
         1332, 1149, 1177, 1459, 1218, 858, 215, 218, 90, 15, 19, 2, 1, 1),
    ),
    "a name again": (
        "When Mary and John went to the store, John gave a drink to", " Mary",
        (1868, 1340, 1333, 1651, 1361, 1193, 971, 861, 930, 1158, 1391, 1101, 865, 898, 868, 820, 891, 1004,
         900, 932, 972, 1063, 1129, 1072, 148, 186, 193, 137, 91, 20, 1),
    ),
    "code": (
        "def area(width, height):\n    return width *", " height",
        (1125, 8725, 6154, 6589, 11290, 14738, 14823, 17823, 16064, 18703, 13635, 16706, 28037, 29062, 26963,
         13608, 12469, 11240, 9687, 7426, 11923, 3809, 2140, 1118, 151, 71, 54, 19, 9, 3, 1),
    ),
}  # fmt: skip
DESCRIPTION = (
    "How far up the right next piece stands, as the lens reads it behind each of 30 blocks, on a scale of "
    "powers of ten, from 30,000 down to 1. One choice sets the text: a capital, an opposite, a name that "
    "comes again, or code. In all four about a thousand pieces or more come before the right one for twenty "
    "blocks, and none at the end. A slider picks a block, whose place is read out."
)


def lens() -> alt.TopLevelMixin:
    """`lens()` shows how far up the right piece stands, for a text and behind a block of one's choice."""
    text = choice("text", "text", list(LENS), value="a capital")
    block = slider("block", "blocks read", 0, 30, step=1, value=20)
    stored = {
        name: {"text": said, "piece": piece, "rank": ranks} for name, (said, piece, ranks) in LENS.items()
    }
    rows = alt.Chart(alt.sequence(0, 31, as_="behind")).transform_calculate(
        rank="stored[text].rank[datum.behind]"
    )
    x = alt.X("behind:Q", title="blocks read", scale=alt.Scale(domain=[0, 30]))
    y = alt.Y(
        "rank:Q", title="place of the right piece",
        scale=alt.Scale(type="log", domain=[30000, 1]), axis=alt.Axis(values=[1, 10, 100, 1000, 10000]),
    )  # fmt: skip
    line = rows.mark_line(point=True).encode(x=x, y=y)
    chosen = rows.transform_filter("datum.behind == block")
    point = chosen.mark_point(filled=True, size=110).encode(x=x, y=y)
    told = chosen.transform_calculate(
        readout="['“' + replace(stored[text].text, '\\n', ' ') + '”:',"
        " 'behind ' + block + ' blocks, “' + trim(stored[text].piece) + '” is number '"
        " + format(datum.rank, ',')]"
    )
    return (
        alt.layer(line, point, readout(told, "left", y=0, dy=4))
        .add_params(text, block, alt.param(name="stored", value=stored))
        .properties(width=420, height=200, description=DESCRIPTION)
    )
