"""The drawings of the chapter's idea, “One vector for a whole sentence” and “A shortcut to every word”."""

from attnlab.corpora.grammar import Pair
from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    joined,
    note,
    over,
    panel,
    row,
    text,
)
from chapters.translating_with_attention.drawings.pieces import SOURCE, TARGET, _facing


def pair(both: Pair) -> None:
    """`pair(both)` joins each word with the word that stands for it."""
    crossing = sum(i < k and j > m for i, j in both.alignment for k, m in both.alignment)

    def arrange(narrow: bool) -> Part:
        return _facing(both.english, both.lingo, [(i, j, "ink") for i, j in both.alignment], narrow)

    links = ", ".join(f"{both.english[i]} and {both.lingo[j]}" for i, j in both.alignment)
    draw(
        arrange,
        alt=f"The English sentence “{' '.join(both.english)}” faces “{' '.join(both.lingo)}” in Lingo. Lines "
        f"join the words that stand for each other: {links}. Lines cross {crossing} times.",
    )


# ---- one vector, or a look at all ----
def _read(name: str, gap: float) -> Part:
    states = [
        column(
            text(word, colour="key"), box(f"h_{i}", name=f"{name} h{i}", colour="key", learned=True), gap=4
        )
        for i, word in enumerate(SOURCE, start=1)
    ]
    arrows = []
    for i in range(1, len(SOURCE)):
        arrows.append(Arrow(f"{name} h{i}", f"{name} h{i + 1}"))
    return joined(row(*states, gap=gap), *arrows)


def bottleneck() -> None:
    """`bottleneck()` has the last state alone, read again at each step."""

    def arrange(narrow: bool) -> Part:
        gap = 26 if narrow else 44
        steps = [
            column(
                box(f"s_{t}", name=f"s{t}", colour="query", learned=True), text(word, colour="output"), gap=4
            )
            for t, word in enumerate(TARGET, start=1)
        ]
        one = box("h", name="one", colour="key", learned=True, width=60)
        whole = column(_read("read", gap), one, row(*steps, gap=gap), gap=30)
        arrows = [Arrow(f"read h{i}", "one", colour="key", sides=("bottom", "top")) for i in (1, 3)]
        arrows += [Arrow(f"read h{i + 1}", f"read h{i}") for i in (1, 2)]  # and back: one reads from the end
        arrows += [Arrow("one", f"s{t}", colour="key", sides=("bottom", "top")) for t in (1, 2, 3)]
        arrows += [Arrow(f"s{t}", f"s{t + 1}") for t in (1, 2)]
        words = note(
            "h: the whole sentence in one vector, read again at every step", width=250 if narrow else 170
        )
        return across(narrow, joined(whole, *arrows), words, gap=14 if narrow else 34)

    draw(
        arrange,
        alt="The words “the cat sleeps” are read into three states, from both ends. One vector h holds the "
        "last state of each reading, and arrows lead from it to each of the three steps that write “la gata "
        "dorme”.",
    )


def decoders() -> None:
    """`decoders()` has one step of each decoder: Bahdanau's looks before it, Luong's after it."""

    def arrange(narrow: bool) -> Part:
        def one(name: str, looks: str) -> Part:
            states = [
                column(
                    text(word, colour="key"),
                    box(f"h_{i}", name=f"{name} h{i}", colour="key", learned=True),
                    gap=4,
                )
                for i, word in enumerate(SOURCE, start=1)
            ]
            context = column(text(" "), box("c_2", name=f"{name} context", colour="output"), gap=4)
            upper = row(row(*states, gap=14).named(f"{name} all"), context, gap=40)
            before = box("s_1", name=f"{name} before", colour="query", learned=True)
            after = box("s_2", name=f"{name} after", colour="query", learned=True)
            given = text("la").named(f"{name} given")
            word = text("gata", colour="output", bold=True).named(f"{name} word")
            lower = row(before, column(after, word, gap=26), gap=64, align="top")
            down = upper.height + 60
            whole = over(
                upper.width,
                down + lower.height,
                (upper, 0, 0),
                (lower, 34, down),
                (given, 92, down + lower.height - given.height),
            )
            weights = ((1, 0.08), (2, 0.8), (3, 0.12))
            arrows = [
                Arrow(
                    f"{name} {looks}", f"{name} h{i}", colour="query", weight=weight, sides=("top", "bottom")
                )
                for i, weight in weights
            ]
            arrows += [
                Arrow(f"{name} all", f"{name} context", "mix", colour="output", sides=("right", "left")),
                Arrow(f"{name} before", f"{name} after"),
                Arrow(f"{name} given", f"{name} after", sides=("top", "left")),
                Arrow(f"{name} after", f"{name} word", sides=("bottom", "top")),
            ]
            end = "after" if looks == "before" else "word"
            arrows.append(
                Arrow(f"{name} context", f"{name} {end}", colour="output", sides=("bottom", "right"))
            )
            return joined(whole, *arrows)

        first = panel(
            column(one("B", "before"), note("s_1 looks; the step reads what it found"), gap=8),
            "Bahdanau: look, then step",
        )
        second = panel(
            column(one("L", "after"), note("s_2 looks; only the word hears of it"), gap=8),
            "Luong: step, then look",
        )
        return across(narrow, first, second, gap=16)

    draw(
        arrange,
        alt="Twice the decoder is about to write “gata”, having written “la”. In Bahdanau's, lines "
        "lead from the "
        "old state s1 to all states of the source, the thickest to “cat”; the context c2, their mix, "
        "goes into "
        "the step to s2. In Luong's the step to s2 comes first and reads “la” alone; then s2 looks, and the "
        "context goes to the word that is written.",
    )
