"""The chart of what the language model expects next, at any temperature, beside what the grammar says."""

import altair as alt

from attnlab.corpora import agreement
from bookkit.pictures.charts import choice, readout, slider, softmax

# How surprised the stored model would be at each word of agreement.WORDS behind these beginnings, in
# hundredths of a nat.
_SURPRISES = {
    "the dogs": (
        "1057 1024 984 1000 1016 985 1068 1027 1033 1018 997 1055 962 1017 966 1010 176 241 275 318 "
        "345 343 836 874 882 903 862 871 181 249 304 334 884 144 853"
    ),
    "the dogs near the king": (
        "1082 1054 1015 1015 1035 1016 1087 1053 1067 1049 1026 1075 1005 1028 1000 1035 184 245 "
        "307 314 353 363 768 801 813 842 821 821 169 243 287 327 956 143 880"
    ),
    "the king that the dogs see near the cats": (
        "1008 1024 1018 1054 1001 982 1013 1065 989 1061 1014 986 994 1050 1040 1032 822 845 889 "
        "884 892 882 176 237 281 318 320 349 172 263 295 333 1048 152 866"
    ),
}
SURPRISES = {
    beginning: [int(number) for number in numbers.split()] for beginning, numbers in _SURPRISES.items()
}
SHOWN, OTHERS = 9, "(others)"
DESCRIPTION = (
    "Bars for the probabilities that the language model gives the next word, behind one of three beginnings: "
    "the nine likeliest words, and all others together. Ticks are the grammar's own chances. One slider "
    "sets the temperature, from 0.1 to 2. At 1 every bar ends at its tick. Towards 0 one bar swallows the "
    "others. Above 1 the bars become more equal, and the others, most of which the grammar forbids, grow."
)


def _chances(beginning: str) -> dict[str, float]:
    """`_chances("the dogs")["see"]` is what the grammar gives that word there; a word left out can't be."""
    state: agreement.State | None = agreement.FIRST
    for word in beginning.split():
        assert state is not None
        state = agreement.following(state)[word][1]
    assert state is not None
    return {word: chance for word, (chance, _) in agreement.following(state).items()}


def _ranked(beginning: str) -> dict[str, list[object]]:
    """The words behind it, the likeliest first: how surprising for the model, how likely in the grammar."""
    own = _chances(beginning)
    likeliest = sorted(zip(SURPRISES[beginning], agreement.WORDS, strict=True))
    return {
        "word": [word for _, word in likeliest[:SHOWN]],
        "surprise": [surprise for surprise, _ in likeliest],
        "chance": [round(own.get(word, 0.0), 4) for _, word in likeliest],
    }


def next_words() -> alt.TopLevelMixin:
    """`next_words()` shows the model's probabilities at a temperature, and the grammar's chances."""
    temperature = slider("temperature", "temperature", 0.1, 2, step=0.1, value=1)
    stored = {each: _ranked(each) for each in SURPRISES}
    beginning = choice("beginning", "behind", list(SURPRISES), value="the dogs near the king")
    of_one = alt.Chart(alt.sequence(0, len(agreement.WORDS), as_="rank")).transform_calculate(
        place=f"min(datum.rank, {SHOWN})",
        word=f"datum.rank < {SHOWN} ? stored[beginning].word[datum.rank] : '{OTHERS}'",
        surprise="stored[beginning].surprise[datum.rank]",
        chance="stored[beginning].chance[datum.rank]",
    )
    weighed = softmax(of_one, score="-datum.surprise / 100 / temperature")
    grouped = weighed.transform_aggregate(
        weight="sum(weight)", chance="sum(chance)", groupby=["place", "word"]
    )
    across = alt.X(
        "word:N",
        title=None,
        sort=alt.EncodingSortField("place", op="min"),
        axis=alt.Axis(labelAngle=-35, labelLimit=80),
    )
    up = alt.Scale(domain=[0, 1])
    colour = alt.Color("series:N", title=None, scale=alt.Scale(domain=["model", "grammar"]))
    bars = (
        grouped.transform_calculate(series="'model'")
        .mark_bar()
        .encode(x=across, y=alt.Y("weight:Q", title="probability", scale=up), color=colour)
    )
    ticks = (
        grouped.transform_calculate(series="'grammar'")
        .mark_tick(thickness=4, width=28)
        .encode(x=across, y=alt.Y("chance:Q", scale=up), color=colour)
    )
    summary = (
        weighed.transform_calculate(impossible="datum.chance == 0 ? datum.weight : 0")
        .transform_aggregate(impossible="sum(impossible)", largest="max(weight)")
        .transform_calculate(
            readout="['temperature ' + format(temperature, '.1f'),"
            " 'largest ' + format(datum.largest, '.2f'),"
            " 'words that the grammar forbids ' + format(datum.impossible, '.3f')]"
        )
    )
    return (
        alt.layer(bars, ticks, readout(summary, "right", y=0, dy=4))
        .add_params(temperature, beginning, alt.param(name="stored", value=stored))
        .properties(width=480, height=210, description=DESCRIPTION)
    )
