"""The charts: a line of text in fewer pieces the more merges there are, and which piece may come next."""

import altair as alt

from bookkit.pictures.charts import choice, readout, slider, softmax
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


# ---- what may come next ----

# The forty likeliest next pieces of the stored model behind these beginnings, how surprising each would be
# (in hundredths of a nat), and what they hold together of all chances (in hundredths of a per cent) at the
# temperatures 0.2, 0.3 and so on to 2: so chances are those among all pieces, which the page need not bring.
_LIKELIEST = {
    "Return the": (
        "676 756 898 322 278 554 566 1661 453 280 290 1168 349 896 776 775 769 930 1455 628 257 303 "
        "587 590 1177 542 712 337 287 286 269 297 682 552 1497 455 621 530 360 260",
        "376 388 397 411 412 418 428 435 453 454 456 457 459 459 464 465 465 478 479 483 484 484 "
        "486 488 489 490 491 491 494 495 496 502 503 504 506 509 513 513 518 519",
        "9961 9571 8703 7636 6613 5729 4998 4399 3908 3502 3163 2876 2632 2421 2238 2077 1936 1810 1699",
    ),
    "A graph is": (
        "260 267 405 592 435 1458 1948 900 305 608 289 1408 1205 1089 867 393 1072 287 300 914 742 "
        "269 32 280 297 360 278 406 724 303 1981 1468 1762 1277 322 756 1061 1593 286 1482",
        "110 250 274 338 372 416 449 457 459 473 494 498 501 505 516 531 531 538 539 540 543 545 "
        "546 558 561 562 566 566 566 569 569 571 571 577 577 580 581 582 583 583",
        "10000 10000 9998 9971 9846 9513 8913 8101 7201 6327 5541 4864 4293 3815 3414 3077 2791 2548 2339",
    ),
    ">>> import numpy as": (
        "686 99 428 260 121 469 278 1307 1086 290 107 296 303 550 524 764 1400 95 542 110 10 344 "
        "297 789 284 1225 112 584 280 405 311 1044 358 120 325 702 590 307 413 382",
        "14 465 513 530 556 574 589 589 589 591 611 613 616 620 622 632 634 645 656 660 662 667 669 "
        "670 670 671 678 690 690 690 693 698 701 704 716 717 717 720 722 724",
        "10000 10000 10000 10000 9998 9984 9930 9782 9470 8945 8216 7358 6473 5640 4905 4280 3757 3324 2965",
    ),
}
IDS, SURPRISES, SHARES = (
    {given: [int(each) for each in rows[row].split()] for given, rows in _LIKELIEST.items()}
    for row in range(3)
)
KNOWN, SHOWN = 40, 14
COOLEST = 0.2
CHOICE = (
    "Bars for the fourteen likeliest next pieces behind one of three beginnings. A pale bar is a piece's "
    "chance among all 2,048 at the temperature, a dark one its chance once others are cut off. Three sliders "
    "set temperature, top-k (40 at most) and top-p. A low temperature, a small k and a small p leave few "
    "dark bars, which grow; at temperature 2 all pale bars are short."
)


def next_piece() -> alt.TopLevelMixin:
    """`next_piece()` shows the chances of the next piece, before and after what is cut off."""
    pieces = models.pieces()
    stored = {
        given: {
            "piece": [pieces.decode([number]).replace(" ", "␣").replace("\n", "↵") for number in IDS[given]],
            "surprise": surprises,
            "share": SHARES[given],
        }
        for given, surprises in SURPRISES.items()
    }
    temperature = slider("temperature", "temperature", COOLEST, 2, step=0.1, value=1)
    top_k = slider("top_k", "top-k", 1, KNOWN, step=1, value=KNOWN)
    top_p = slider("top_p", "top-p", 0.05, 1, step=0.05, value=0.5)
    given = choice("given", "behind", list(SURPRISES), value="A graph is")
    each = alt.Chart(alt.sequence(0, KNOWN, as_="rank")).transform_calculate(
        piece="stored[given].piece[datum.rank]", surprise="stored[given].surprise[datum.rank]"
    )
    cut = (
        softmax(each, score="-datum.surprise / 100 / temperature")
        .transform_calculate(
            share=f"datum.weight * stored[given].share[round(10 * (temperature - {COOLEST}))] / 10000"
        )
        .transform_window(reached="sum(share)", sort=[alt.SortField("rank")], frame=[None, 0])
        # What stands before it has not yet been enough; where p is 1, nothing ever is, however it is rounded.
        .transform_calculate(
            left="datum.rank < top_k && (top_p == 1 || datum.reached - datum.share < top_p) ? datum.share : 0"
        )
        .transform_joinaggregate(all_left="sum(left)")
        .transform_calculate(chance="datum.left / datum.all_left")
    )
    across = alt.X(
        "rank:O", title=None, axis=alt.Axis(labelExpr="stored[given].piece[datum.value]", labelAngle=-45)
    )
    up = alt.Scale(domain=[0, 1])
    bars = cut.transform_filter(f"datum.rank < {SHOWN}")
    pale = bars.mark_bar(opacity=0.3).encode(x=across, y=alt.Y("share:Q", title="chance", scale=up))
    dark = bars.mark_bar(width={"band": 0.45}).encode(x=across, y=alt.Y("chance:Q", scale=up))
    summary = cut.transform_calculate(stays="datum.left > 0 ? 1 : 0").transform_aggregate(
        stays="sum(stays)", largest="max(chance)", kept="sum(left)"
    )
    told = summary.transform_calculate(
        readout="[format(datum.stays, 'd') + ' of 2,048 pieces stay',"
        " 'with ' + format(datum.kept, '.2f') + ' of the chances',"
        " 'largest ' + format(datum.largest, '.2f')]"
    )
    return (
        alt.layer(pale, dark, readout(told, "right", y=0, dy=4))
        .add_params(given, temperature, top_k, top_p, alt.param(name="stored", value=stored))
        .properties(width=480, height=210, description=CHOICE)
    )
