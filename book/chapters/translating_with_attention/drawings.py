"""The drawings of “Translating with attention”: which word stands for which, and who looks at what."""

from collections.abc import Mapping, Sequence

from torch import Tensor

from attnlab.corpora.grammar import Pair
from bookkit.pictures.drawings import (
    Arrow,
    Part,
    across,
    box,
    column,
    draw,
    grid,
    joined,
    note,
    over,
    panel,
    row,
    text,
)
from bookkit.pictures.svg import Anchor, label, line

SOURCE, TARGET = ("the", "cat", "sleeps"), ("la", "gata", "dorme")

# ---- which word stands for which ----


def _facing(
    english: Sequence[str], lingo: Sequence[str], links: Sequence[tuple[int, int, str]], narrow: bool
) -> Part:
    """English above Lingo, or on a phone beside it, with a line for each (i, j, colour)."""

    def place(position: int, count: int, length: float) -> float:
        return length * (position + 0.5) / count

    rows = max(len(english), len(lingo))
    width, height = (300.0, 30.0 * rows) if narrow else (min(720.0, 84.0 * rows), 150.0)
    marks = ""
    for i, j, colour in links:
        a, b = (
            place(i, len(english), height if narrow else width),
            place(j, len(lingo), height if narrow else width),
        )
        ends = (92, a, 208, b) if narrow else (a, 28, b, 122)
        marks += line(*ends, colour=colour, width=2.5, dashed=colour == "grey")
    for words, colour, side in ((english, "key", 0), (lingo, "output", 1)):
        for position, word in enumerate(words):
            along = place(position, len(words), height if narrow else width)
            if narrow:
                anchor: Anchor = "start" if side else "end"
                marks += label(214 if side else 86, along + 5, word, colour=colour, anchor=anchor)
            else:
                marks += label(along, 142 if side else 18, word, colour=colour)
    return over(width, height, marks)


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


def counted(links: Sequence[tuple[int, int]], gold: Sequence[tuple[int, int]]) -> None:
    """`counted([(1, 0), (1, 1)], [(0, 0), (1, 1)])` has a translator's links and gold's."""
    missed = [link for link in gold if link not in links]
    wrong = [link for link in links if link not in gold]

    def arrange(narrow: bool) -> Part:
        ours = [(i, j, "ink" if (i, j) in gold else "query") for i, j in links]
        drawn = _facing(SOURCE, TARGET, [*ours, *((i, j, "grey") for i, j in missed)], narrow)
        words = note("blue: ours alone · dotted: gold alone")
        return column(drawn, words, gap=10)

    def told(pairs: Sequence[tuple[int, int]]) -> str:
        return ", ".join(f"{TARGET[j]} with {SOURCE[i]}" for i, j in pairs)

    draw(
        arrange,
        alt=f"“{' '.join(SOURCE)}” faces “{' '.join(TARGET)}”. The translator's links: "
        f"{told(links)}. Of them "
        f"{told(wrong)} is in no gold link, and the gold link {told(missed)} is missed.",
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


def circle() -> None:
    """`circle()` has two that wait for each other, and no first."""

    def arrange(narrow: bool) -> Part:
        turns = [
            box("c_t", name=f"{turn}", colour="output")
            if turn % 2 == 0
            else box("s_t", name=f"{turn}", colour="query", learned=True)
            for turn in range(3)
        ]
        needs = [Arrow(f"{turn}", f"{turn + 1}", "needs") for turn in range(3)]
        return joined(row(*turns, text("…").named("3"), gap=56), *needs)

    draw(arrange, alt="The context c needs the state s, which needs the context c, and so on.")


# ---- interventions ----


def interventions(shares: Mapping[str, Tensor], looks: Sequence[str]) -> None:
    """`interventions({"dot": shares}, ["own", "gold"])` has exact matches by translator and by weights."""
    names = list(shares)
    numbers = [shares[name].tolist() for name in names]

    def arrange(narrow: bool) -> Part:
        return grid(
            numbers,
            rows=names,
            columns=looks,
            colour="output",
            shaded=True,
            cell=(58, 34) if narrow else (96, 34),
        )

    told = "; ".join(
        f"{name}: " + ", ".join(f"{look} {share:.2f}" for look, share in zip(looks, row, strict=True))
        for name, row in zip(names, numbers, strict=True)
    )
    draw(
        arrange,
        alt=f"The share of sentences that are exactly right, by whose weights are looked with. {told}.",
    )


# ---- a beam ----


def tree(first: Mapping[str, float], then: Mapping[str, Mapping[str, float]], width: int) -> None:
    """`tree({"lo": 0.6, "la": 0.4}, {"lo": {…}, "la": {…}}, width=2)` has two words, and their odds."""
    rows = {f"{a} {b}": first[a] * odds for a in first for b, odds in then[a].items()}
    best = max(rows, key=lambda name: rows[name])
    likely = max(first, key=lambda name: first[name])
    greedy = f"{likely} {max(then[likely], key=lambda name: then[likely][name])}"

    def arrange(narrow: bool) -> Part:
        wide, high = (300.0, 40.0) if narrow else (560.0, 40.0)
        marks, count = "", len(rows)
        middle, tops = high * count / 2, {}
        place = 0
        for a, odds in then.items():
            tops[a] = high * (place + len(odds) / 2)
            for b in odds:
                y, name = high * (place + 0.5), f"{a} {b}"
                colour = "output" if name == best else "query" if name == greedy else "grey"
                thick = 2.5 if name in (best, greedy) else 1.5
                marks += line(wide * 0.36, tops[a], wide * 0.56, y, colour=colour, width=thick)
                marks += label(wide * 0.46, (tops[a] + y) / 2 - 5, f"{odds[b]:g}", size=13, colour="grey")
                share = f"{b}  {rows[name]:.2f}"
                said = {best: " likeliest", greedy: " greedy"}.get(name, "")
                marks += label(wide * 0.58, y + 5, share, colour=colour, anchor="start", bold=bool(said))
                marks += label(wide * 0.99, y + 5, said, size=13, colour=colour, anchor="end")
                place += 1
            colour = "output" if best.startswith(a) else "query"
            marks += line(wide * 0.1, middle, wide * 0.26, tops[a], colour=colour, width=2.5)
            marks += label(wide * 0.18, (middle + tops[a]) / 2 - 6, f"{first[a]:g}", size=13, colour="grey")
            marks += label(wide * 0.31, tops[a] + 5, a, colour=colour, bold=True)
        marks += label(wide * 0.05, middle + 5, "start")
        return over(wide, high * count, marks)

    told = "; ".join(f"{name} {share:.2f}" for name, share in rows.items())
    draw(
        arrange,
        alt=f"A tree of two words and what each is likely to be followed by. The rows and their "
        f"probabilities: {told}. "
        f"Greedy search takes “{greedy}”; the likeliest is “{best}”, which a beam of {width} finds.",
    )


# ---- exercises ----


def company() -> None:
    """`company()` has a short sentence beside a long one, with its padding."""

    def arrange(narrow: bool) -> Part:
        cell = (58.0, 28.0) if narrow else (72.0, 28.0)
        rows = [["the", "cat", "sleeps", "padding", "padding"], ["the", "cat", "will", "see", "dogs"]]
        words = grid(rows, colour="key", cell=cell, absent="padding")
        return column(words, note("the first must not look behind its end"), gap=8)

    draw(arrange, alt="Two sentences in one batch: “the cat sleeps” has two places of padding behind it.")


def decoder_parts() -> None:
    """`decoder_parts()` has the parts of the decoder that is to be written, by their names."""

    def arrange(narrow: bool) -> Part:
        gap = 22 if narrow else 40
        asks = box("s_{t−1}", name="before", colour="query", learned=True)
        keys = box("h_1 … h_S", name="memory", colour="key", learned=True)
        score = box("v · tanh(W s + U h)", name="score")
        context = box("c_t", name="context", colour="output")
        given = box("embedding", name="given", learned=True)
        step = box("gru", name="step", colour="query", learned=True)
        read = box("word", name="read", colour="output", learned=True)
        top = row(asks, keys, gap=gap)
        bottom = row(given, step, read, gap=gap)
        arrows = (
            Arrow("before", "score", colour="query", sides=("bottom", "top")),
            Arrow("memory", "score", colour="key", sides=("bottom", "top")),
            Arrow("score", "context", "softmax, mix", sides=("bottom", "top")),
            Arrow("context", "step", colour="output", sides=("bottom", "top")),
            Arrow("context", "read", colour="output", sides=("right", "top")),
            Arrow("given", "step", sides=("right", "left")),
            Arrow("step", "read", "s_t", colour="query", sides=("right", "left")),
        )
        return joined(column(top, score, context, bottom, gap=28), *arrows)

    draw(
        arrange,
        alt="The state before the step and the encoder's states meet in the score v · tanh(W s + U "
        "h). Its softmax "
        "mixes the context. Context and embedded word go into gru, which makes the new state; state and "
        "context go into word.",
    )


def reads() -> None:
    """`reads()` has a written word that looks at one word and reads another."""

    def arrange(narrow: bool) -> Part:
        gap = 30 if narrow else 60
        source = row(*(box(word, name=word, colour="key", learned=True) for word in SOURCE), gap=gap)
        target = row(*(box(word, name=word, colour="output", learned=True) for word in TARGET), gap=gap)
        looking = Arrow("la", "the", colour="query", weight=0.8, sides=("top", "bottom"))
        reading = Arrow("cat", "la", colour="ink", sides=("bottom", "top"))
        words = note("thick: where “la” looks. Arrow: what changes “la” when it is replaced.", width=270)
        return column(joined(column(source, target, gap=50), looking, reading), words, gap=10)

    draw(
        arrange,
        alt="“la” looks at “the”, by a thick line. But an arrow leads to it from “cat”: replace "
        "“cat”, and “la” "
        "changes.",
    )
